"""Paths and standard input on the command line."""

import io
import sys
from pathlib import Path

from turncurve.cli.paths import given_paths


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
