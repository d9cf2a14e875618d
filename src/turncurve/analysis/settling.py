"""What would settle a step that is to be watched: more runs, or a statement of what is large."""

from __future__ import annotations

import math
from dataclasses import dataclass

from turncurve.stats.step_power import Rule, trials_needed

POWER = 0.8
MOST_TIMES = 100
"""Runs, as a multiple of those there are, beyond which the number is not worth saying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """What would settle a step.

    Attributes:
        more_runs: Runs to add so that the step, if it is as large as it looks, passes the adjusted
            test with a chance of 80 %; None where more runs are not the answer, or too many.
        words: The same in words.
    """

    more_runs: int | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedTest:
    """The adjusted test of a step: |t| over `n_units`, against `critical`.

    Where so few units cannot reach any critical value it is infinite, and Bonferroni's part of
    `alpha` for `n_positions` stands for that of more units.
    """

    t: float
    n_units: int
    critical: float
    alpha: float
    n_positions: int


def settled_by_runs(
    test: AdjustedTest, *, n_trials: int, n_scenarios: int, by_scenario: bool
) -> Settling:
    """The runs that a large step which its test has not settled still needs.

    Runs are added as whole trials where runs are the units of the test, and as whole scenarios
    where scenarios are. A step is looked at because it looks large, so it is smaller on average
    than it looks: the number is a lower bound rather than a promise.

    Args:
        test: Its outcome so far.
        n_trials: Trials of the suite.
        n_scenarios: Its scenarios.
        by_scenario: Whether scenarios are the units.
    """
    size = abs(test.t) / math.sqrt(test.n_units)
    rule = (
        Rule(alpha=test.alpha, critical=test.critical)
        if math.isfinite(test.critical)
        else Rule(alpha=test.alpha, n_positions=test.n_positions)
    )
    needed = trials_needed(
        size, lambda n: (1 / math.sqrt(n), n - 1), rule, power=POWER, fewest=test.n_units
    )
    if needed is None or needed > MOST_TIMES * test.n_units:
        return Settling(more_runs=None, words="no number of runs worth making would settle it")
    share = (needed - test.n_units) / test.n_units
    if by_scenario:
        added = max(1, math.ceil(share * n_scenarios))
        runs, what = added * n_trials, _counted(added, "scenario")
    else:
        added = max(1, math.ceil(share * n_trials))
        runs, what = added * n_scenarios, _counted(added, "trial")
    return Settling(
        more_runs=runs,
        words=f"{_counted(runs, 'run')} more ({what}) would settle it with a chance of 80 %, if it "
        "is as large as it looks; steps that are picked for their size are smaller on average",
    )


def settled_by_a_trial(n_scenarios: int) -> Settling:
    """With one trial, nothing says how much running the suite again varies."""
    return Settling(
        more_runs=n_scenarios,
        words=f"a second trial ({_counted(n_scenarios, 'run')}) says how large it is against what "
        "running the suite again varies by; or state a size that matters",
    )


def settled_by_a_size() -> Settling:
    """It is real: what is open is whether it matters."""
    return Settling(
        more_runs=None,
        words="more runs would not make it larger; state the size that matters to settle it",
    )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
