"""Whether a turn explores or acts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from signals.hand_made import calling, run_of, table_of, turn
from turncurve.model import ToolCall, Turn
from turncurve.signals.phase import call_phase
from turncurve.signals.shell import shell_phase


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py",
        "ls -la /x && grep -rn 'def f' src | head -20",
        "sed -n '1,40p' a.py",
        "find . -name '*.py' -exec grep -l x {} +",
        "cd /testbed && git log --oneline -5",
        "git --no-pager diff",
        "grep x y 2>/dev/null",
        "cat a 2>&1 | wc -l",
        "LANG=C sudo cat /etc/hosts",
        "timeout 10 cat a",
        "/bin/cat a",
        "bash -lc 'cat a; ls'",
        "grep 'a > b' file",
        "awk '$1 > 3 {print}' f",
        "curl https://example.org",
        "for f in *; do cat $f; done",
        'grep "->" a.c',
    ],
)
def test_commands_that_only_look(command: str) -> None:
    """Their heads only read, and nothing is written."""
    assert shell_phase(command) == "explore"


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/a/b/' a.py",
        "echo x > a.py",
        "cat <<'EOF' > a.py\nls\nEOF",
        "cat > a.py << EOF\ncat b\nEOF",
        "python repro.py",
        "python3.11 -c 'print(1)'",
        "cd /testbed && python -m pytest tests | tail -5",
        "git apply fix.patch",
        "git checkout -- a.py",
        "cat a.py; rm a.py",
        "./configure",
        "bin/test sympy",
        "find . -name '*.pyc' -delete",
        "find . -exec rm {} ;",
        "cat a | tee b",
        "curl -X POST https://example.org -d x",
        "pip install x",
        "bash run.sh",
        "bash -c 'python x.py'",
        "ls >> log.txt",
        "cat a &> b",
    ],
)
def test_commands_that_change_something(command: str) -> None:
    """One part that writes or runs code is enough."""
    assert shell_phase(command) == "act"


@pytest.mark.parametrize("command", ["", "cd /x", "frobnicate --now", "echo done", "export A=1"])
def test_commands_that_cannot_be_told(command: str) -> None:
    """They are unknown, neither of the two."""
    assert shell_phase(command) is None


def test_the_words_of_a_here_document_are_no_commands() -> None:
    """A script that is written down, not run, does not decide."""
    assert shell_phase("cat <<EOF\nrm -rf x\nEOF") == "explore"


@settings(deadline=None)
@given(st.text())
def test_any_text_has_a_phase_or_none(command: str) -> None:
    """No text makes the parser fail."""
    assert shell_phase(command) in ("explore", "act", None)


def test_a_long_command_takes_no_long_time() -> None:
    """A hundred thousand quotes and separators are cut off before they are parsed."""
    assert shell_phase("cat '" * 50_000 + ";|" * 50_000) in ("explore", "act", None)


@pytest.mark.parametrize(
    ("name", "arguments", "phase"),
    [
        ("Read", {"file_path": "x"}, "explore"),
        ("Bash", {"command": "ls"}, "explore"),
        ("Bash", {"command": "pytest"}, "act"),
        ("MultiEdit", {}, "act"),
        ("TodoWrite", {}, None),
        ("shell", {"command": ["bash", "-lc", "cat x"]}, "explore"),
        ("exec_command", {"cmd": "make"}, "act"),
        ("apply_patch", "*** Begin Patch", "act"),
        ("str_replace_editor", {"command": "view", "path": "x"}, "explore"),
        ("str_replace_editor", {"command": "create", "path": "x"}, "act"),
        ("search_dir", {}, "explore"),
        ("get_user_details", {"user_id": "x"}, "explore"),
        ("cancel_reservation", {}, "act"),
        ("listFiles", {}, "explore"),
        ("rm", {"command": "rm a.py"}, "act"),
        ("find", {"command": "find . -delete"}, "act"),
        ("edit", {"command": "edit 1:2\ncat x\nend_of_edit"}, "act"),
        ("frobnicate", {}, None),
        ("bash", {}, None),
    ],
)
def test_tools_of_known_frameworks(
    name: str, arguments: dict[str, object] | str, phase: str | None
) -> None:
    """A tool is told apart by its name, its command, or the verb its name starts with."""
    assert call_phase(ToolCall(name=name, arguments=arguments)) == phase


def test_a_turn_acts_if_any_of_its_actions_does() -> None:
    """Reading and writing in one turn is acting; an unknown action does not hide a look."""
    run = run_of(
        [calling(1, "Read", "Write"), calling(2, "Read", "Xyz"), calling(3, "Xyz"), turn(4)]
    )
    columns = table_of(run).columns
    assert_array_equal(columns["phase_explore"], [0, 1, np.nan, np.nan])
    assert_array_equal(columns["phase_known"], [1, 1, 0, np.nan])


def test_an_action_key_of_the_file_has_a_phase() -> None:
    """`search:q3` explores by its verb, `edit a.py` acts."""
    run = run_of([Turn(index=1, action="search:q3"), Turn(index=2, action="edit a.py")])
    assert_array_equal(table_of(run).columns["phase_explore"], [1, 0])
