"""The group: lazily found commands, one-line errors, exit statuses."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from turncurve import __version__
from turncurve.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def test_help_lists_every_command_with_its_summary():
    """`turncurve --help` names each command."""
    result = run("--help")
    assert result.exit_code == 0
    for name, command in COMMANDS.items():
        assert name in result.output
        assert command.summary.split(":")[0].split(",")[0] in " ".join(result.output.split())


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_has_help(name):
    """Every named command can be imported, and its help starts as its summary does."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: cli {name}" in result.output


def test_version():
    """`--version` prints the package's version."""
    assert run("--version").output == f"turncurve, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reprot"], "no command 'reprot'; known: report, formats"),
        (["report"], "Missing argument 'PATH...'"),
        (["report", "nowhere.json"], "nowhere.json: no such file or folder"),
        (["report", ".", "--bucket", "0"], "0 is not in the range x>=1"),
    ],
)
def test_a_users_mistake_is_one_line_and_status_2(arguments, said):
    """A usage error is one line on stderr that says what was wrong; the status is 2."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_module_runs_as_the_command():
    """`python -m turncurve` is the command."""
    done = subprocess.run(
        [sys.executable, "-m", "turncurve", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"turncurve, version {__version__}\n"


def test_reference_page_is_fresh():
    """The page of the command line is what the commands' help says today."""
    spec = importlib.util.spec_from_file_location("t", ROOT / "tools/make_cli_docs.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text("utf-8") == tool.page(), "run: make docs"
    for name in COMMANDS:
        assert f"## turncurve {name}\n" in tool.page()


@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
def test_interrupt_ends_cleanly():
    """Ctrl-C ends the command with status 130 and no traceback."""
    code = "import sys; from turncurve.cli.main import main; sys.argv[0] = 'turncurve'; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "report", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        # The command has begun to read its input once a pipe's worth of it is gone.
        process.stdin.write("\n" * 200_000)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
