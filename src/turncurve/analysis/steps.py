"""Is a change from one turn to the next a finding, worth watching, or noise?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.settling import (
    AdjustedTest,
    Settling,
    settled_by_a_size,
    settled_by_a_trial,
    settled_by_runs,
)
from turncurve.analysis.suite import Suite
from turncurve.stats.paired_step import PairedStep, paired_step, std_dev_interval
from turncurve.stats.sign_flips import SignFlips, sign_flips

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
State: TypeAlias = Literal["finding", "watch", "noise"]
Units: TypeAlias = Literal["scenarios", "runs"]

BAR = 3.0
"""Paired standard deviations that a step must pass to be large."""
MIN_SCENARIOS = 20
"""With fewer, runs are flipped in place of scenarios: few units see little among many turns."""


MIN_UNITS = 5
LEAST_SHARE = 0.2
"""Units, and share of all units, that must have a step for it to be tested."""
FEW_TRIALS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The change of the mean from one bucket to the next.

    Numbers without a prefix are about the suite (would running it again agree?); those of
    `scenario_` have scenarios as units, those of `population_` carry both spreads (would other
    scenarios agree?). None where there is no such number.

    Attributes:
        turn: First turn of the later bucket.
        delta: Mean over trials of each trial's mean change, in the signal's unit.
        paired_sd: Standard deviation of the trials' changes; None with one trial.
        paired_sd_low: Lower limit of it, by the chi-square distribution.
        paired_sd_high: Upper limit.
        std_error: `paired_sd` over the root of the number of trials.
        low: Lower limit of the change for the suite.
        high: Upper limit.
        ratio: |delta| over `paired_sd`: an effect size, no test. Infinite values are None in JSON.
        t: `delta` over its standard error.
        df: Its degrees of freedom.
        p: Two-sided p of t, as if this turn had been chosen beforehand.
        p_adjusted: Two-sided p of the largest |t| over all turns, by sign flips.
        p_adjusted_error: Standard error that random flips add to it; 0 where all were tried.
        state: finding, watch or noise.
        why: What the state rests on, in words.
        to_settle: What would settle a step that is to be watched; None for the others.
        n_trials: Trials with a pair.
        n_agree: Trials whose mean change has the sign of `delta`.
        n_pairs: Runs with a value on both sides.
        n_before_only: Runs with a value before alone.
        n_after_only: Runs with a value after alone.
        scenario_delta: Mean over scenarios of each one's mean change over trials.
        scenario_std_error: Its standard error over scenarios.
        scenario_p: Two-sided p of the scenarios' t by sign flips, as if chosen beforehand.
        population_delta: Mean over scenarios that have a pair in every trial.
        population_std_error: Its error for other scenarios.
        population_low: Lower limit for other scenarios.
        population_high: Upper limit.
        between_scenario_sd: How far scenarios' levels lie apart before the step. It says nothing
            of the step, and nothing is divided by it.
    """

    turn: int
    delta: float
    paired_sd: float | None
    paired_sd_low: float | None
    paired_sd_high: float | None
    std_error: float | None
    low: float | None
    high: float | None
    ratio: float | None
    t: float | None
    df: float | None
    p: float | None
    p_adjusted: float | None
    p_adjusted_error: float | None
    state: State
    why: str
    to_settle: Settling | None
    n_trials: int
    n_agree: int
    n_pairs: int
    n_before_only: int
    n_after_only: int
    scenario_delta: float
    scenario_std_error: float | None
    scenario_p: float | None
    population_delta: float | None
    population_std_error: float | None
    population_low: float | None
    population_high: float | None
    between_scenario_sd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """All steps of a suite, and the family that their p values are adjusted for.

    Attributes:
        steps: In the order of turns; those with fewer than two pairs are left out.
        units: What is flipped as a whole: scenarios (their mean over trials), which speaks for
            others like them; or runs, which speaks for these scenarios alone.
        n_units: How many there are.
        n_positions: Steps in the family: those that a fifth of the units have, and at least five.
        n_flips: Choices of signs that were tried.
        exact: Whether these were all.
        smallest_p: The smallest p that so few units, or flips, can give.
        n_trials: Trials.
        n_scenarios: Scenarios.
        alpha: Level of the adjusted test.
        bar: Paired standard deviations that a step must pass, where no size was stated.
        size: The stated size that a step must pass in place of the bar.
        notes: What limits these tests, in sentences.
    """

    steps: tuple[Step, ...]
    units: Units
    n_units: int
    n_positions: int
    n_flips: int
    exact: bool
    smallest_p: float
    n_trials: int
    n_scenarios: int
    alpha: float
    bar: float
    size: float | None
    notes: tuple[str, ...]


def steps_of(
    suite: Suite,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    bar: float = BAR,
    size: float | None = None,
    n_flips: int = 10_000,
) -> Steps:
    """Judge the change at every turn by the spread of paired runs of the same scenarios.

    A step is a finding where its adjusted p is below `alpha` and it is large: over `bar` paired
    standard deviations, or over a stated `size`. It is to be watched where it is one of the two.
    The bar alone is an effect size: it lets through more by chance the fewer trials there are, and
    with many it never finds what is real and small.

    The adjusted p is that of the largest |t| over all turns. Few trials flipped whole cannot give a
    small p (five none below .0625), so scenarios are flipped; with fewer than 20 of these, runs,
    which asks no more than whether these scenarios would do it again.

    Args:
        suite: Runs by trial and scenario.
        rng: Source of random flips.
        alpha: Level of the adjusted test, and 1 - `alpha` that of the intervals.
        bar: Paired standard deviations.
        size: A change, in the signal's unit, that is large; None to go by the bar.
        n_flips: Flips drawn where there are too many units to try all.
    """
    pairs = _pairs(suite, 1 - alpha)
    n_trials, n_scenarios, _ = suite.values.shape
    units = units_of(suite)
    changes = np.diff(suite.values, axis=2)[:, :, [index - 1 for index, _ in pairs]]
    flips = sign_flips(_family(by_unit(suite, changes)), rng=rng, n_flips=n_flips, alpha=alpha)
    return Steps(
        steps=tuple(
            _step(suite, pair, flips, (position, alpha, bar, size))
            for position, pair in enumerate(pairs)
        ),
        units=units,
        n_units=flips.n_units,
        n_positions=int((~np.isnan(flips.p_adjusted)).sum()),
        n_flips=flips.n_flips,
        exact=flips.exact,
        smallest_p=flips.smallest_p,
        n_trials=n_trials,
        n_scenarios=n_scenarios,
        alpha=alpha,
        bar=bar,
        size=size,
        notes=tuple(_notes(suite, units, flips)),
    )


def _pairs(suite: Suite, level: float) -> list[tuple[int, PairedStep]]:
    """Later bucket and change of each step that has two pairs or more."""
    known = ~np.isnan(suite.values)
    n = (known[:, :, 1:] & known[:, :, :-1]).sum(axis=(0, 1))
    return [
        (int(i) + 1, paired_step(suite.values[:, :, i], suite.values[:, :, i + 1], level=level))
        for i in np.flatnonzero(n > 1)
    ]


def units_of(suite: Suite) -> Units:
    """What can be flipped as a whole: scenarios where there are many, else runs."""
    n_trials, n_scenarios, _ = suite.values.shape
    return units_for(n_trials, n_scenarios)


def units_for(n_trials: int, n_scenarios: int) -> Units:
    """What `units_of` says of so many trials and scenarios."""
    return "scenarios" if n_scenarios >= MIN_SCENARIOS or n_trials == 1 else "runs"


def by_unit(suite: Suite, values: FloatArray) -> FloatArray:
    """Values by trial and scenario as one row a unit: (n_units, ...), NaN where there is none."""
    if units_of(suite) == "scenarios":
        return mean_of(values, axis=0)
    return values[suite.run >= 0]


def mean_of(values: FloatArray, *, axis: int) -> FloatArray:
    """The mean of what is known along an axis; NaN where nothing is."""
    known = ~np.isnan(values)
    n = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(n > 0, total / np.where(n > 0, n, 1), np.nan))


def _family(changes: FloatArray) -> FloatArray:
    """The changes that are tested: a few units have wild t, which would hide all others."""
    n = (~np.isnan(changes)).sum(axis=0)
    return np.where(enough_have(changes) & (n >= MIN_UNITS), changes, np.nan)


def enough_have(changes: FloatArray) -> BoolArray:
    """Positions that a fifth of the units have; from shape (n_units, n_positions)."""
    n = (~np.isnan(changes)).sum(axis=0)
    return np.asarray(n >= max(1, LEAST_SHARE * len(changes)))


def _notes(suite: Suite, units: Units, flips: SignFlips) -> list[str]:
    notes = []
    n_trials, n_scenarios, _ = suite.values.shape
    if n_trials == 1:
        notes.append(
            "one trial: whether running the suite again would agree is not estimable; the test "
            "over scenarios stands alone"
        )
    else:
        smallest = 2.0 ** (1 - n_trials)
        notes.append(
            f"{n_trials} trials flipped whole cannot give a p below {smallest:.3g}, so {units} are "
            "flipped"
        )
    if 1 < n_trials < FEW_TRIALS:
        low, high = std_dev_interval(1.0, n_trials, level=1 - flips.alpha)
        notes.append(
            f"a standard deviation of {n_trials} trials is known to a factor of {low:.2g} to "
            f"{high:.2g}, and so is the bar"
        )
    if units == "runs":
        notes.append(
            f"{n_scenarios} scenarios are few: the adjusted p speaks for these, not for others"
        )
    if flips.n_units > 1 and flips.smallest_p > flips.alpha:
        notes.append(
            f"{flips.n_units} {units} cannot give a p below {flips.smallest_p:.3g}: no step can be "
            "a finding"
        )
    return notes


def _step(
    suite: Suite,
    pair: tuple[int, PairedStep],
    flips: SignFlips,
    rule: tuple[int, float, float, float | None],
) -> Step:
    index, step = pair
    position, alpha, bar, size = rule
    whole, other = step.suite, step.population
    limits: tuple[float | None, float | None] = (None, None)
    if whole.std_dev:
        limits = std_dev_interval(whole.std_dev, whole.n, level=1 - alpha)
    adjusted = _known(flips.p_adjusted[position])
    state, why = _state(step, adjusted, alpha, bar=bar, size=size)
    of_trials = mean_of(np.diff(suite.values[:, :, index - 1 : index + 1], axis=2), axis=1)
    levels = mean_of(suite.values[:, :, index - 1], axis=0)
    levels = levels[~np.isnan(levels)]
    return Step(
        turn=int(suite.starts[index]),
        delta=whole.delta,
        paired_sd=whole.std_dev,
        paired_sd_low=limits[0],
        paired_sd_high=limits[1],
        std_error=whole.std_error,
        low=whole.low,
        high=whole.high,
        ratio=step.ratio,
        t=whole.t,
        df=whole.df,
        p=whole.p,
        p_adjusted=adjusted,
        p_adjusted_error=None if adjusted is None else flips.monte_carlo_error(adjusted),
        state=state,
        why=why,
        to_settle=_to_settle(suite, step, flips, position) if state == "watch" else None,
        n_trials=whole.n,
        n_agree=int((np.sign(of_trials[:, 0]) == np.sign(whole.delta)).sum()),
        n_pairs=step.n_pairs,
        n_before_only=step.n_before_only,
        n_after_only=step.n_after_only,
        scenario_delta=step.scenarios.delta,
        scenario_std_error=step.scenarios.std_error,
        scenario_p=_known(flips.p[position]),
        population_delta=None if other is None else other.delta,
        population_std_error=None if other is None else other.std_error,
        population_low=None if other is None else other.low,
        population_high=None if other is None else other.high,
        between_scenario_sd=float(levels.std(ddof=1)) if len(levels) > 1 else None,
    )


def _state(
    step: PairedStep, adjusted: float | None, alpha: float, *, bar: float, size: float | None
) -> tuple[State, str]:
    """What a step is, and on what that rests."""
    if adjusted is None:
        return "noise", "not tested: too few units have it, or all agree"
    settled = adjusted <= alpha
    large = _is_large(step, bar, size)
    said = f"over {size:g}" if size is not None else f"over {bar:g} paired SDs"
    if settled and large:
        return "finding", f"adjusted p at most {alpha:g}, and {said}"
    if settled and large is None:
        return "watch", "adjusted p small; how large it is against other trials is not known"
    if settled:
        return "watch", f"real but small: not {said}"
    if large:
        return "watch", f"{said}, and not settled: adjusted p above {alpha:g}"
    return "noise", f"adjusted p above {alpha:g}, and not {said}"


def _to_settle(suite: Suite, step: PairedStep, flips: SignFlips, position: int) -> Settling:
    n_trials, n_scenarios, _ = suite.values.shape
    if flips.p_adjusted[position] <= flips.alpha:
        one_trial = step.suite.std_dev is None
        return settled_by_a_trial(n_scenarios) if one_trial else settled_by_a_size()
    by_scenario = units_of(suite) == "scenarios"
    test = AdjustedTest(
        t=float(flips.t[position]),
        n_units=step.scenarios.n if by_scenario else step.n_pairs,
        critical=flips.critical,
        alpha=flips.alpha,
        n_positions=int((~np.isnan(flips.p_adjusted)).sum()),
    )
    return settled_by_runs(
        test, n_trials=n_trials, n_scenarios=n_scenarios, by_scenario=by_scenario
    )


def _is_large(step: PairedStep, bar: float, size: float | None) -> bool | None:
    if size is not None:
        return abs(step.suite.delta) >= size
    if step.suite.std_dev is None:
        return None
    ratio = step.ratio
    return ratio is not None and ratio >= bar


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
