"""What a pilot says of runs to come: what changes vary by, and what a run costs and takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from turncurve.analysis.cost import cost
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.quality import chosen_signal, scale_of
from turncurve.analysis.run_times import run_seconds
from turncurve.analysis.settings import Settings
from turncurve.analysis.steps import by_unit, enough_have
from turncurve.analysis.suite import suite_of
from turncurve.errors import NotEnoughDataError
from turncurve.stats.paired_step import std_dev_interval
from turncurve.stats.two_way import Components, components_of
from turncurve.table import TurnTable

ONE_TRIAL = "one trial: what running the suite again varies by is not estimable"
ONE_OF_EITHER = "one trial or one scenario: scenarios, trials and runs cannot be told apart"
NO_WHOLE = (
    "no two scenarios have the change in every trial: scenarios, trials and runs cannot be told "
    "apart"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What changes vary by, as standard deviations; None with a reason in `not_estimable`.

    Attributes:
        paired_sd: Of the trials' mean changes: what a step is measured by.
        paired_sd_low: Lower limit, by the chi-square distribution.
        paired_sd_high: Upper limit.
        population_factor_low: Lower limit of the error for other scenarios, as a multiple of the
            one seen; by Satterthwaite's degrees of freedom.
        population_factor_high: Upper limit.
        one_trial_sd: Of the scenarios' changes, where the pilot has one trial.
        source: Where it comes from.
        scenario_sd: Between scenarios, whichever trial.
        trial_sd: Between trials, shared by all scenarios of a trial.
        rest_sd: Of the single run.
        n_positions: Changes that were pooled.
        n_pairs: Runs with a value at both turns, over the positions.
        n_incomplete: Those that scenario, trial and rest leave out, as another trial of their
            scenario has none.
        share_present: Share of the runs that have the change, on average over the positions.
        not_estimable: Name to reason.
    """

    paired_sd: float | None
    paired_sd_low: float | None = None
    paired_sd_high: float | None = None
    population_factor_low: float | None = None
    population_factor_high: float | None = None
    one_trial_sd: float | None = None
    source: str
    scenario_sd: float | None = None
    trial_sd: float | None = None
    rest_sd: float | None = None
    n_positions: int = 0
    n_pairs: int = 0
    n_incomplete: int = 0
    share_present: float | None = None
    not_estimable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a run costs and takes, on average over the runs that say; None where none does."""

    usd_per_run: float | None = None
    seconds_per_run: float | None = None
    n_runs: int = 0
    n_runs_with_cost: int = 0
    n_runs_with_time: int = 0

    def usd(self, n_runs: int | None) -> float | None:
        """Cost of so many runs."""
        return _times(self.usd_per_run, n_runs)

    def hours(self, n_runs: int | None) -> float | None:
        """Time of so many runs, one after another."""
        return _times(self.seconds_per_run, None if n_runs is None else n_runs / 3_600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """Runs that were made to see what more of them would show.

    Attributes:
        signal: Column that was looked at.
        why_signal: Why that one.
        scale: Its lowest and highest value; None where it is not known.
        n_trials: Most trials of a scenario.
        n_scenarios: Scenarios.
        n_positions: Changes from one turn to the next that a fifth of its units have, as `cliff`
            counts them.
        excluded: Reason to number of runs left out.
        components: What changes vary by, as variances.
        spread: The same in standard deviations, with what is not estimable.
        price: What a run costs and takes.
    """

    signal: str
    why_signal: str
    scale: tuple[float, float] | None
    n_trials: int
    n_scenarios: int
    n_positions: int
    excluded: Mapping[str, int]
    components: Components
    spread: Spread
    price: Price


def pilot_of(
    table: TurnTable,
    *,
    signal: str | None = None,
    turn: int | None = None,
    quality_scale: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Pilot:
    """Measure what the changes of a pilot vary by, and what its runs cost and take.

    Args:
        table: Runs of one condition.
        signal: Column; None for the one that stands for quality.
        turn: Later turn of the change, from 2; None pools all changes that a fifth of the units
            have.
        quality_scale: Lowest and highest score, where the files do not say.
        level: Confidence level of the standard deviation's interval.

    Raises:
        NotEnoughDataError: Nothing can stand for quality, or no run has the turn and the one
            before.
        UnknownNameError: There is no such signal.
    """
    settings = Settings(quality_scale=quality_scale, level=level)
    name, why = chosen_signal(table, signal, settings)
    suite = suite_of(table, name)
    changes = np.diff(suite.values, axis=2)
    tested = enough_have(by_unit(suite, changes))
    looked_at = changes[:, :, tested] if turn is None else changes[:, :, turn - 2 : turn - 1]
    if np.isnan(looked_at).all():
        what = "two turns in a row" if turn is None else f"turn {turn} and the one before"
        raise NotEnoughDataError(f"pilot: runs with a value at {what}", need=1, got=0)
    components = components_of(looked_at)
    low, high = scale_of(table, name, settings)
    return Pilot(
        signal=name,
        why_signal=why,
        scale=None if low is None or high is None else (low, high),
        n_trials=suite.values.shape[0],
        n_scenarios=suite.values.shape[1],
        n_positions=max(1, int(tested.sum())),
        excluded=suite.excluded,
        components=components,
        spread=_spread(components, turn, level, n_runs=suite.n_runs),
        price=_price(table, settings),
    )


def _spread(components: Components, turn: int | None, level: float, *, n_runs: int) -> Spread:
    paired = _root(components.of_trials)
    low, high = _factors(components.df_trials, level) if paired else (None, None)
    factors = _factors(components.df_population, level)
    where = "all changes of the pilot" if turn is None else f"the pilot's change at turn {turn}"
    return Spread(
        paired_sd=paired,
        paired_sd_low=_times(low, paired),
        paired_sd_high=_times(high, paired),
        population_factor_low=factors[0],
        population_factor_high=factors[1],
        one_trial_sd=_root(components.of_scenarios),
        source=where,
        scenario_sd=_root(components.scenario),
        trial_sd=_root(components.trial),
        rest_sd=_root(components.rest),
        n_positions=components.n_positions,
        n_pairs=components.n_pairs,
        n_incomplete=components.n_incomplete,
        share_present=components.n_pairs / (n_runs * components.n_positions),
        not_estimable=_not_estimable(components),
    )


def _not_estimable(components: Components) -> dict[str, str]:
    missing = {}
    if components.of_trials is None:
        missing["paired_sd"] = ONE_TRIAL
    if components.rest is None:
        missing |= dict.fromkeys(("scenario_sd", "trial_sd", "rest_sd"), not_apart(components))
    return missing


def not_apart(components: Components) -> str:
    """Why scenarios, trials and runs cannot be told apart."""
    few = min(components.n_trials, components.n_scenarios) < 2
    return ONE_OF_EITHER if few else NO_WHOLE


def _factors(df: float | None, level: float) -> tuple[float | None, float | None]:
    """Limits of a standard deviation over the one seen; None with less than a degree of freedom.

    For a whole number of values, the next lower one where turns are pooled.
    """
    if df is None or df < 1:
        return None, None
    return std_dev_interval(1.0, 1 + math.floor(df), level=level)


def _price(table: TurnTable, settings: Settings) -> Price:
    spent = cost(table, settings)
    seconds = run_seconds(table)[own_runs(table)]
    known = seconds[~np.isnan(seconds)]
    return Price(
        usd_per_run=spent.per_run.value,
        seconds_per_run=float(known.mean()) if len(known) else None,
        n_runs=spent.n_runs,
        n_runs_with_cost=spent.n_runs_with_cost,
        n_runs_with_time=len(known),
    )


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)


def _times(each: float | None, number: float | None) -> float | None:
    return None if each is None or number is None else each * number
