"""Sign flips and bands over all turns, beside the plain loops that they stand for.

Run with `python benchmarks/bench_flips.py`. Targets: 10,000 flips of 50 units at 76 turns, and
2,000 draws of a curve of 50 runs at 76 turns, each under 0.2 s of CPU and 100 times faster than a
loop over flips, units and turns. The loops do a part of the work, which is then scaled up.
"""

from __future__ import annotations

import random
import statistics

import numpy as np
from timing import Timing, cpu_seconds

from turncurve.stats.curve import cell_means, simultaneous_band
from turncurve.stats.sign_flips import sign_flips

UNITS, TURNS = 50, 76
FLIPS, PART = 10_000, 100
DRAWS = 2_000


def loop_of_flips(rows: list[list[float]], times: int) -> float:
    """The largest |t| over turns for each random choice of signs, one number at a time."""
    rng, largest = random.Random(1), 0.0
    for _ in range(times):
        signs = [rng.choice((-1, 1)) for _ in rows]
        for turn in range(len(rows[0])):
            values = [sign * row[turn] for sign, row in zip(signs, rows, strict=True)]
            error = statistics.stdev(values) / len(values) ** 0.5
            largest = max(largest, abs(statistics.fmean(values)) / error)
    return largest


def loop_of_draws(rows: list[list[float]], times: int) -> float:
    """The mean curve of each resample of runs, one number at a time."""
    rng, total = random.Random(1), 0.0
    for _ in range(times):
        drawn = [rng.choice(rows) for _ in rows]
        total += sum(statistics.fmean(row[turn] for row in drawn) for turn in range(len(rows[0])))
    return total


def main() -> None:
    """Print both ratios."""
    values = np.random.default_rng(0).normal(size=(UNITS, TURNS))
    rows = values.tolist()
    steps = np.diff(values, axis=1)
    ours = cpu_seconds(
        "10,000 sign flips", lambda: sign_flips(steps, rng=np.random.default_rng(1), n_flips=FLIPS)
    )
    part = cpu_seconds("loop", lambda: loop_of_flips(steps.tolist(), PART))
    print_factor(ours, part, FLIPS / PART)
    run = np.repeat(np.arange(UNITS), TURNS)
    cells = cell_means(values.ravel(), run, np.tile(np.arange(TURNS), UNITS))
    ours = cpu_seconds(
        "2,000 draws of a curve",
        lambda: simultaneous_band(cells, rng=np.random.default_rng(1), resamples=DRAWS),
    )
    part = cpu_seconds("loop", lambda: loop_of_draws(rows, PART))
    print_factor(ours, part, DRAWS / PART)


def print_factor(ours: Timing, part: Timing, times: float) -> None:
    """One line: what we take, what the loop would, and how many times as much that is."""
    loop = part.median * times
    print(
        f"{ours.name}: {ours.median:.3f} s CPU; loop: {loop:.1f} s; {loop / ours.median:,.0f} "
        f"times as fast (medians of {len(ours.seconds)})"
    )


if __name__ == "__main__":
    main()
