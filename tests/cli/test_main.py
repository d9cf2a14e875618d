"""The group: lazily found commands, one-line errors, exit statuses."""

import importlib.util
import json
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
        (
            ["reprot"],
            "no command 'reprot'; known: report, cliff, ",
        ),
        (["report"], "Missing argument 'PATH...'"),
        (["report", "nowhere.json"], "nowhere.json: no such file or folder"),
        (["report", ".", "--bucket", "0"], "wanted a whole number, at least 1, got '0'"),
        (["report", ".", "--bucket", "x"], "wanted a whole number, at least 1, got 'x'"),
        (["report", ".", "--seed", "-1"], "wanted a whole number, at least 0, got '-1'"),
        (["report", ".", "--level", "nan"], "wanted a finite number, got nan"),
        (["report", ".", "--level", "0.9999999999"], "0.9999999999 is not in the range"),
        (["report", ".", "--threshold", "nan"], "wanted a finite number, got nan"),
        (["report", ".", "--threshold", "inf"], "wanted a finite number, got inf"),
        (["report", ".", "--target", "nan"], "wanted a finite number, got nan"),
        (["report", ".", "--target", "-inf"], "wanted a finite number, got -inf"),
    ],
)
def test_a_users_mistake_is_one_line_and_status_2(arguments, said):
    """A usage error is one line on stderr that says what was wrong; the status is 2."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_command_gets_the_plain_help():
    """`turncurve` alone prints its help as it is, on stderr, and ends with status 2."""
    result = run()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == run("--help").stdout


def process(*arguments, stdout=subprocess.PIPE, **environment):
    return subprocess.run(
        [sys.executable, "-m", "turncurve", *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        check=False,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")  # noqa: PTH110
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("--help",), ("formats",)])
def test_full_disk_is_one_line_and_status_2(arguments, unbuffered):
    """Where standard output cannot be written, one line on stderr says why; the status is 2."""
    with Path("/dev/full").open("wb") as full:
        done = process(*arguments, stdout=full, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left on device" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_reader_that_leaves_half_way_is_status_141(tmp_path, unbuffered):
    """Output cut off after its first bytes ends with status 141, also without a buffer."""
    many = tmp_path / "many"
    many.mkdir()
    for number in range(600):
        (many / f"{number}.txt").write_text("no trace")
    with subprocess.Popen(
        [sys.executable, "-m", "turncurve", "formats", "--explain", many],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    ) as writer:
        writer.stdout.read(1)
        writer.stdout.close()
        assert writer.stderr.read() == b""
    assert writer.returncode == 141


def test_warnings_stay_off_stderr(tmp_path):
    """Numbers that overflow an estimate leave no warning, and no path of a source file, behind."""
    path = tmp_path / "huge.jsonl"
    rows = [
        {"run": str(r), "turn": t, "quality": (-1) ** t * 1e308} for r in (1, 2) for t in (1, 2, 3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = process("report", path)
    assert done.returncode == 0
    assert b"Warning" not in done.stderr
    assert b".py" not in done.stderr


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
    # A shell's background job ignores the signal, and its children inherit that.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = "import sys; from turncurve.cli.main import main; sys.argv[0] = 'turncurve'; main()"
    with subprocess.Popen(
        [sys.executable, "-c", f"{heed}; {code}", "report", "-"],
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
