"""Paths and standard input on the command line."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from turncurve.cli.paths import as_given, given_paths
from turncurve.errors import ReadError
from turncurve.ingest.discover import discover


def test_paths_and_patterns_pass_as_they_stand():
    """What names files is left to the reading of files."""
    with given_paths(["a.jsonl", "b/*.json"]) as paths:
        assert paths == ("a.jsonl", "b/*.json")


def test_dash_is_standard_input(monkeypatch):
    """`-` holds the bytes of standard input while the context lasts, and is gone after it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"turn": 1}\n')))
    with given_paths(["-", "other"]) as (path, other):
        assert Path(path).read_bytes() == b'{"turn": 1}\n'
        assert other == "other"
    assert not Path(path).exists()


def test_what_a_shell_pipes_in_is_kept_in_a_file():
    """`/dev/fd/N`, as of `<(command)`, holds what was written, and is named as it was given."""
    reading, writing = os.pipe()
    os.write(writing, b'{"turn": 1}\n')
    os.close(writing)
    with given_paths([f"/dev/fd/{reading}", "other"]) as (path, other):
        assert Path(path).read_bytes() == b'{"turn": 1}\n'
        assert (as_given(path), other) == (f"/dev/fd/{reading}", "other")
    os.close(reading)


def test_a_report_of_a_process_substitution():
    """The command line reads `<(command)` as it reads the file."""
    rows = "".join(f'{{"turn": {n}, "quality": 0.5}}\\n' for n in (1, 2, 3))
    command = f"exec {sys.executable} -m turncurve report <(printf '{rows}')"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "quality" in done.stdout.lower()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_a_named_pipe_and_a_device_are_refused(make, tmp_path):
    """Nobody may ever write to it, so it is not opened; a folder that holds one is read over it."""
    (tmp_path / "a.jsonl").write_text("x")
    make(tmp_path / "pipe.jsonl")
    arguments = (str(tmp_path / "pipe.jsonl"),)
    with given_paths(arguments) as paths:
        assert paths == arguments
    with pytest.raises(ReadError, match="wanted a file or a folder, got a pipe or a device"):
        discover(arguments)
    for several in (tmp_path, tmp_path / "*"):
        assert [found.path.name for found in discover([several])] == ["a.jsonl"]
