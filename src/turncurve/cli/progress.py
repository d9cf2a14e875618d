"""A progress bar for work that takes more than a moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

PATIENCE_SECONDS = 1.0


class ProgressBar:
    """A bar on stderr that appears once the work has taken a second, and is gone when it is done.

    Args:
        label: What is being done.
        console: Where it is drawn; nothing is, unless that is a terminal.
        clock: Seconds that only grow.
    """

    def __init__(
        self, label: str, console: Console, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._since = clock()
        self._drawn = console.is_terminal
        self._shown = False
        self._progress = Progress(
            TextColumn(label),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task(label, note="")

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._progress.stop()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Say how much of the work is done, and what stands beside the bar."""
        self._progress.update(self._task, completed=done, total=total, note=note)
        if self._drawn and not self._shown and self._clock() - self._since > PATIENCE_SECONDS:
            self._progress.start()
            self._shown = True
