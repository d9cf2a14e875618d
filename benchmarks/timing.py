"""Timing and memory for benchmarks: medians over several runs, as a ratio to a limit or a peer."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


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


def peak_megabytes() -> float:
    """The most memory that this process has held, in MB.

    On Linux not `ru_maxrss`, in which a process also gets its parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        words = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(words.split()[1]) / 1024
    in_bytes = sys.platform == "darwin"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024**2 if in_bytes else peak / 1024


def printed_by(*arguments: str | Path) -> str:
    """What Python prints in a process of its own, which can import this folder's modules."""
    here = {"PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), *sys.path[1:]))}
    done = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True,
        env={**os.environ, **here},
    )  # fmt: skip
    return done.stdout
