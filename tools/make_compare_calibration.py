"""Measure how often `compare` errs on made-up pairs of suites, and write the table of docs.

Run with `make calibrate`; a minute or two. The truth of each pair is known; the Monte-Carlo error
of each figure stands beside it.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.event_free_turns import UnitTimes, mean_ratio, unit_times
from turncurve.stats.moved_place import moved_place
from turncurve.stats.paired_curve import paired_curve
from turncurve.stats.shape_contrasts import kinks_at, steps_at

PAGE = Path(__file__).resolve().parents[1] / "docs/methods/compare-calibration.md"
PAIRS = 400
PAIRS_WITH_ERRORS = 1_000
"""For the first error, which is quick."""
DRAWS = 999
SCENARIOS = (8, 12, 24, 48)
TURNS = (12, 30)
FALL = 0.5
NOISE = 0.5
FloatArray = NDArray[np.float64]


def curves(
    rng: np.random.Generator, scenarios: int, turns: int, at: NDArray[np.int64]
) -> FloatArray:
    """Each scenario's mean of 3 runs of a version: its level, runs of its own, a fall, noise."""
    turn = np.arange(1, turns + 1)
    own = rng.normal(0, 0.2, (3, scenarios, 1))
    noise = rng.normal(0, NOISE, (3, scenarios, turns))
    values: FloatArray = (own + noise - FALL * (turn >= at[:, None])).mean(axis=0)
    return values


def share(n: float, of: int) -> str:
    """A share with its Monte-Carlo error."""
    p = n / of
    return f"{p:.3f} ± {math.sqrt(p * (1 - p) / of):.3f}"


def band_row(scenarios: int, turns: int) -> list[str]:
    """How often something is said of equal versions, and how often the band holds a true fall."""
    rng = np.random.default_rng([scenarios, turns])
    never = np.full(scenarios, turns + 1)
    early, late = np.full(scenarios, turns // 2), np.full(scenarios, 2 * turns // 3)
    truth = -FALL * (np.arange(1, turns + 1) >= early[0]) * (np.arange(1, turns + 1) < late[0])
    truth = np.append(truth, truth.mean())
    said = naive = held = found = 0
    for _ in range(PAIRS):
        level = rng.normal(0, 0.1, (scenarios, 1))  # how a scenario takes to the new version
        drift = np.cumsum(rng.normal(0, 0.05, (scenarios, turns)), axis=1)
        quiet = curves(rng, scenarios, turns, never) - curves(rng, scenarios, turns, never)
        moved = curves(rng, scenarios, turns, early) - curves(rng, scenarios, turns, late)
        nothing, fall = (with_mean(d + level + drift) for d in (quiet, moved))
        same = paired_curve(nothing, rng=rng, resamples=DRAWS)
        said += bool((same.p_adjusted <= 0.05).any())
        naive += bool((same.p[:-1] <= 0.05).any())
        other = paired_curve(fall, rng=rng, resamples=DRAWS)
        held += bool(((other.band_low <= truth) & (truth <= other.band_high)).all())
        found += bool((other.band_high < 0).any())
    counts = (said, naive, held, found)
    return [str(scenarios), str(turns), *(share(n, PAIRS) for n in counts)]


def with_mean(differences: FloatArray) -> FloatArray:
    """The differences by turn, and their mean over turns, as the family of the verdict."""
    return np.column_stack([differences, differences.mean(axis=1)])


def movement_row(scenarios: int, spread: int, what: str) -> list[str]:
    """How often the interval of a movement by 6 turns holds it."""
    rng = np.random.default_rng([scenarios, spread, len(what)])
    form, turns = (steps_at if what == "cliff" else kinks_at), 30
    held, width = 0, 0.0
    for _ in range(PAIRS):
        sides = []
        for at in (12, 18):
            own = at + rng.integers(-spread, spread + 1, scenarios)
            shape = np.array([form(np.arange(1, turns + 1), np.array([p]))[:, 0] for p in own])
            size = 0.6 if what == "cliff" else 0.1
            sides.append(rng.normal(0, 0.4, shape.shape) - size * shape)
        found = moved_place(*sides, form, rng=rng, resamples=DRAWS)
        if found.low is not None and found.high is not None:
            held += found.low <= 6 <= found.high
            width += found.high - found.low
    return [what, str(scenarios), f"± {spread}", share(held, PAIRS), f"{width / PAIRS:.1f}"]


def error_row(scenarios: int, hazard: float) -> list[str]:
    """How often the interval of the ratio of mean turns of the first error holds it."""
    rng = np.random.default_rng([scenarios, round(1000 * hazard)])
    truth = mean_ratio(
        times(rng, 100_000, 0.05), times(rng, 100_000, hazard), horizon=15, rng=rng, resamples=2
    ).ratio
    held = said = 0
    for _ in range(PAIRS_WITH_ERRORS):
        a, b = times(rng, scenarios, 0.05), times(rng, scenarios, hazard)
        found = mean_ratio(a, b, horizon=15, rng=rng, resamples=DRAWS)
        if found.low is not None and found.high is not None:
            held += found.low <= truth <= found.high
            said += not found.low <= 1 <= found.high
    return [
        str(scenarios),
        f"{truth:.2f}",
        share(held, PAIRS_WITH_ERRORS),
        share(said, PAIRS_WITH_ERRORS),
    ]


def times(rng: np.random.Generator, scenarios: int, hazard: float) -> UnitTimes:
    """Three runs a scenario with hazards of scenarios' own, censored from turn 10 on."""
    unit = np.repeat(np.arange(scenarios), 3)
    own = np.clip(hazard * rng.gamma(4, 0.25, scenarios), 0.001, 0.9)[unit]
    time, last = rng.geometric(own), rng.integers(10, 31, len(unit))
    return unit_times(
        np.minimum(time, last), time <= last, unit, n_units=scenarios, n_turns=15, entry=0
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """Rows as Markdown."""
    lines = [header, ["--:"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Measure, and write the page."""
    start = time.perf_counter()
    bands = [band_row(scenarios, turns) for scenarios in SCENARIOS for turns in TURNS]
    moves = [
        movement_row(scenarios, spread, what)
        for what in ("cliff", "knee")
        for scenarios in (12, 24)
        for spread in (0, 3)
    ]
    errors = [error_row(scenarios, hazard) for scenarios in (12, 24, 48) for hazard in (0.05, 0.1)]
    page = [
        "# Calibration of `compare`\n",
        f"Measured by `make calibrate` on {PAIRS} made-up pairs of versions a row; 95 % limits.",
        "± is the Monte-Carlo error of the figure.\n",
        "## The verdict and the band\n",
        f"Three runs a scenario, noise of {NOISE:g} a turn, scenarios that take differently to the "
        "new version and drift.",
        "*Called different*: equal versions called worse or better; nominal .05.",
        "*Alone*: some turn's own interval leaves 0 out where versions are equal: what looking for "
        "a turn with these would cost.",
        f"Then B falls by {FALL:g} at half of the turns and A at two thirds: how often the band "
        "holds the truth at all turns and for their mean, nominal .95, and how often B is called "
        "worse.\n",
        table(
            ["scenarios", "turns", "called different", "alone", "band holds", "called worse"], bands
        )
        + "\n",
        "## How far a place moved\n",
        "A cliff of .6, or a knee of .1 a turn, at turn 12 of 30 in A and at 18 in B; scenarios "
        "have theirs that many turns about it.",
        "The interval is wider than it need be: places are whole turns.\n",
        table(["what", "scenarios", "spread", "interval holds 6", "mean width"], moves) + "\n",
        "## First error\n",
        f"Three runs a scenario, hazards that differ between scenarios, up to turn 15; "
        f"{PAIRS_WITH_ERRORS:,} pairs a row.\n",
        table(["scenarios", "true ratio", "interval holds it", "leaves 1 out"], errors) + "\n",
    ]
    PAGE.write_text("\n".join(page), encoding="utf-8")
    print(f"wrote {PAGE.name} in {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
