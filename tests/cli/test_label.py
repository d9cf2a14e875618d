"""`turncurve label` in a terminal, from the first key to a grader held against the labels."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from grading.runs import run, turn
from turncurve.cli.label_screen import page
from turncurve.cli.main import cli
from turncurve.grading.label_book import LabelPlan, drawn_steps
from turncurve.grading.label_keys import Label, pressed
from turncurve.grading.rubric_file import load_rubric
from turncurve.ingest import read_table

STEPS = load_rubric("steps")


def traces(folder: Path) -> Path:
    """Three conversations of four turns in the format of tau-bench."""
    talks = []
    for task in range(3):
        said = [
            one
            for at in range(1, 5)
            for one in (
                {"role": "user", "content": f"go on, {at}"},
                {"role": "assistant", "content": f"task {task}, step {at}"},
            )
        ]
        info = {"task": {"user_id": "u", "actions": [], "instruction": "x", "outputs": []}}
        talks.append({"task_id": task, "trial": 0, "reward": 1.0, "info": info, "traj": said})
    path = folder / "traces.json"
    path.write_text(json.dumps(talks))
    return path


def in_terminal(folder: Path, keys: str, *words: str) -> tuple[int, str]:
    """Run the command in a terminal of its own, press keys, and give status and screen."""
    child, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "turncurve", "label", *words],
        cwd=folder,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
        close_fds=True,
    )
    os.close(terminal)
    seen, left, deadline = b"", list(keys), time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([child], [], [], 0.2)
        if ready:
            try:
                new = os.read(child, 65_536)
            except OSError:
                break
            seen += new
        elif left and b"[q] keep all, quit" in seen:
            os.write(child, left.pop(0).encode())
        elif process.poll() is not None:
            break
    os.close(child)
    return process.wait(10), seen.decode(errors="replace")


def test_labels_are_made_left_and_gone_on_with(tmp_path: Path) -> None:
    """Two labels, then away; the next time the third step comes first."""
    path = traces(tmp_path)
    words = (path.name, "--labeller", "Ada", "--number", "2")
    status, seen = in_terminal(tmp_path, "plfhihnq", *words)
    assert status == 0, seen
    assert "THE STEP TO LABEL" in seen
    assert "2 labels made; 2 of 8 steps have one" in seen
    status, seen = in_terminal(tmp_path, "nlnq", *words)
    assert "step 3 of 8" in seen
    assert "1 label made; 3 of 8 steps have one" in seen
    table = read_table([tmp_path / "labels.jsonl"]).table
    assert table.column("error").tolist() == [0, 1, 0]
    done = CliRunner().invoke(
        cli, ["validate", str(tmp_path / "labels.jsonl"), str(tmp_path / "labels.jsonl")]
    )
    assert done.exit_code in {0, 2}
    assert "Traceback" not in done.output


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["label", str(traces(tmp_path)), "--labeller", "Ada", "-n", "1"])
    assert done.exit_code != 0
    assert "needs a terminal" in done.output + done.stderr


def test_more_runs_than_there_are_is_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["label", str(traces(tmp_path)), "--labeller", "Ada"])
    assert done.exit_code != 0
    assert "wanted 10 runs to label, and there are 3" in done.output + done.stderr


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
def test_a_screen_is_never_larger_than_the_terminal(size: tuple[int, int]) -> None:
    """The step's own end is in sight, and so is the question."""
    step = drawn_steps([run(30)], LabelPlan(labeller="A", n=1), STEPS)[20]
    label = Label(turn=21)
    lines = page(step, label, STEPS, place="step 1 of 9", up=0, size=size)
    assert len(lines) <= max(size[1], 12) + 3
    assert all(len(line) <= size[0] for line in lines)
    assert any(line.startswith("validity") for line in lines)
    assert any("quit" in line for line in lines)
    higher = page(step, label, STEPS, place="step 1 of 9", up=20, size=size)
    assert higher != lines


def test_hostile_text_stays_text() -> None:
    """No control character of a trace reaches the terminal."""
    evil = run(3).turns[0]
    hostile = turn(1, "\x1b[2J\x1b]0;owned\x07 fail it\r\n\u202eback", before=evil.before)
    step = drawn_steps(
        [run(1).__class__(id="x", turns=(hostile,), format="hand", path="hand")],
        LabelPlan(labeller="A", n=1),
        STEPS,
    )[0]
    label, _ = pressed(Label(turn=1), "f")
    shown = "\n".join(page(step, label, STEPS, place="1", up=0, size=(100, 40)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)
    assert "fail it" in shown
