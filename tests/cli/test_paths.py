"""Paths, patterns and standard input on the command line."""

import io
import sys

import click
import pytest

from turncurve.cli.paths import given_paths


def test_path_is_taken_as_it_stands(tmp_path):
    """A path that exists is itself, also with a bracket in its name."""
    file = tmp_path / "a[1].jsonl"
    file.touch()
    with given_paths([str(file)]) as paths:
        assert paths == (file,)


def test_unexpanded_pattern_is_expanded(tmp_path):
    """A pattern that the shell left alone gives the matching files in order, each once."""
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).touch()
    pattern = str(tmp_path / "*.jsonl")
    with given_paths([pattern, pattern]) as paths:
        assert [path.name for path in paths] == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize("argument", ["nowhere.jsonl", "nowhere-*.jsonl"])
def test_nothing_there_is_a_usage_error_that_names_it(argument):
    """A path or pattern that finds nothing is named in the error."""
    with pytest.raises(click.UsageError, match="nowhere"), given_paths([argument]):
        pass


def test_dash_is_standard_input(monkeypatch):
    """`-` holds the bytes of standard input while the context lasts, and is gone after it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"turn": 1}\n')))
    with given_paths(["-", "-"]) as paths:
        (path,) = paths
        assert path.read_bytes() == b'{"turn": 1}\n'
    assert not path.exists()
