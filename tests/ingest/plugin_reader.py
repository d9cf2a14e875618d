"""Installs a small reader as a third party would: a module and its entry point, on the path."""

from __future__ import annotations

from pathlib import Path

import pytest

_SOURCE = '''
from turncurve.errors import ReadError
from turncurve.model import Run, Turn
from turncurve.readers import Reader


def read(path, on_problem):
    """One run a line: `run ID`, `bad`, `kept`, `crash`, `raise`."""
    for number, line in enumerate(path.read_text().splitlines()[1:], start=2):
        word, _, name = line.partition(" ")
        if word == "run":
            yield Run(id=name, turns=(Turn(index=1, text=name),), format=FORMAT, path=str(path),
                      record=number, scenario="s")
        elif word == "bad":
            on_problem(ReadError(path, "a bad line", record=number))
        elif word == "crash":
            raise ZeroDivisionError("by chance")
        elif word == "raise":
            raise ReadError(path, "the file breaks off", record=number)


FORMAT = "lines"
READER = Reader(
    name=FORMAT,
    title="Lines for tests",
    recognised_by="its first line is LINES",
    looks_like=lambda head, path: head.startswith(b"LINES"),
    read=read,
    companions=("*.outcome",),
)
'''


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *, name: str = "lines") -> None:
    """Make the reader `lines` known through its entry point for the length of a test."""
    module = f"installed_reader_{name}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(_SOURCE.replace('FORMAT = "lines"', f"FORMAT = {name!r}"))
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[turncurve.readers]\n{name} = {module}:READER\n")
    monkeypatch.syspath_prepend(str(folder))


def lines(path: Path, *words: str) -> Path:
    """Write a file that the reader `lines` takes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["LINES", *words]) + "\n")
    return path
