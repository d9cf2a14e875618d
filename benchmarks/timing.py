"""Timing for benchmarks: medians over several runs, printed as a ratio to a limit or a peer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """CPU seconds of one thing done several times."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def cpu_seconds(name: str, work: Callable[[], object], *, times: int = 5) -> Timing:
    """Process CPU time of `work`, done once to warm up and then `times` times."""
    work()
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return Timing(name=name, seconds=tuple(seconds))


def print_ratio(ours: Timing, limit: Timing) -> None:
    """One line: what we take, what the limit takes, the ratio of the medians."""
    print(
        f"{ours.name}: {ours.median:.3f} s CPU; {limit.name}: {limit.median:.3f} s; "
        f"ratio {ours.median / limit.median:.2f} (medians of {len(ours.seconds)})"
    )
