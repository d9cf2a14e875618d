"""The progress bar."""

import io

from rich.console import Console

from turncurve.cli.progress import ProgressBar


def drawn(seconds_each, *, terminal=True):
    """What three steps that take so long each leave on the stream."""
    stream, now = io.StringIO(), iter(range(100))
    console = Console(file=stream, force_terminal=terminal, width=80, color_system=None)
    with ProgressBar("reading", console, clock=lambda: next(now) * seconds_each) as bar:
        for done in (1, 2, 3):
            bar(done, 3)
    return stream.getvalue()


def test_short_work_draws_nothing():
    """Work of less than a second shows no bar."""
    assert drawn(0.1) == ""


def test_long_work_draws_a_bar():
    """Work of more than a second shows how many files are done."""
    assert "reading" in drawn(0.9)
    assert "3/3" in drawn(0.9)


def test_nothing_is_drawn_off_a_terminal():
    """A log file or a pipe gets no bar, however long it takes."""
    assert drawn(60, terminal=False) == ""
