"""Time to first error: the turn at which a run first does something wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.error_rules import RULES, Rule
from turncurve.analysis.first_error_times import FirstErrorTimes, first_error_times
from turncurve.analysis.own_runs import repeats_scenarios
from turncurve.analysis.settings import Settings
from turncurve.analysis.turn_quantiles import Quantile, turn_quantiles
from turncurve.errors import NotEnoughDataError
from turncurve.stats.estimate import Estimate, absent, none_if_nan
from turncurve.stats.proportion import wilson
from turncurve.stats.survival import SurvivalCurve, Tie, kaplan_meier
from turncurve.stats.window_rule import FalseAlarm, false_alarm_chance
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
SHARES = (0.1, 0.25, 0.5, 0.75)
"""The shares of runs whose times are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalPoints:
    """The share of runs still free of the event just after each turn with an event."""

    turn: tuple[float, ...]
    survival: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    n_at_risk: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstError:
    """When runs first go wrong under one rule.

    Attributes:
        rule: The rule's name.
        signal: The column that it reads.
        estimand: What is estimated, in a sentence.
        window: Graded turns in the rolling mean; None for the other rules.
        threshold: The value below which quality is bad; None where the rule has none.
        n_runs: Runs at risk: `n_events` had the event, `n_censored` had not when last seen.
        n_excluded: Reason to number of runs left out; with `n_runs` they add up to all runs.
        quantiles: Kaplan-Meier quantiles with Brookmeyer-Crowley limits.
        survival: The Kaplan-Meier curve.
        first_turn: The one run's own turn, where there is one run and it had the event.
        false_alarm: For the rolling rule, the chance that it fires in a run that stays as it began.
        why: What the rule went by, or why there is no result.
        warnings: What to know before reading the result, in sentences.
    """

    rule: Rule
    signal: str | None
    estimand: str
    window: int | None = None
    threshold: float | None = None
    level: float
    n_runs: int = 0
    n_events: int = 0
    n_censored: int = 0
    n_excluded: Mapping[str, int]
    quantiles: tuple[Quantile, ...] = ()
    survival: SurvivalPoints
    first_turn: int | None = None
    false_alarm: Estimate | None = None
    why: str
    warnings: tuple[str, ...] = ()


def time_to_first_error(
    table: TurnTable, rule: Rule, *, settings: Settings | None = None, tie: Tie = "first"
) -> FirstError:
    """Estimate by which turn runs first go wrong, with runs that never did counted as censored.

    A run is followed to its last turn with a value. Runs of sub-agents are left out, and so are
    runs without any value for the rule and, for the rolling rule, with fewer graded turns than the
    window. Runs are at risk from turn 1, under the rolling rule from the turn of its window's
    width, before which it fires in no run; a run with its first value later has had no event that
    the rule could see until then.

    Args:
        table: The runs.
        rule: "rolling_quality" (the mean of the last `window` graded turns is below the threshold),
            "low_quality" (one score is), "failing_grade", "schema_violation", "rule_breach" (some
            applicable rule is not kept), "tool_error" (some tool call failed).
        settings: Window, threshold, level; seed and number of draws for the false-alarm chance.
        tie: Which turn a quantile is where the curve runs flat at exactly 1 - p.

    Raises:
        UnknownNameError: There is no such rule.
    """
    settings = settings or Settings()
    return first_error_of(table, first_error_times(table, rule, settings), settings, tie=tie)


def first_error_of(
    table: TurnTable, times: FirstErrorTimes, settings: Settings, *, tie: Tie = "first"
) -> FirstError:
    """As `time_to_first_error`, of runs whose first errors are known.

    Args:
        table: The runs.
        times: Their first errors, or those of some of them.
        settings: Level; seed and number of draws for the false-alarm chance.
        tie: Which turn a quantile is where the curve runs flat at exactly 1 - p.
    """
    rule, test = times.rule, times.test
    if not len(times.run):
        return _nothing(times, settings)
    entry = np.full(len(times.run), times.entry)
    curve = kaplan_meier(times.time, times.event, entry=entry, level=settings.level)
    alone = len(times.run) == 1 and bool(times.event[0])
    rolling = rule == "rolling_quality"
    return FirstError(
        rule=rule,
        signal=test.signal,
        estimand=f"Turn by which a share of runs has had its first {test.words}.",
        window=test.window if rolling else None,
        threshold=test.threshold if rule in {"rolling_quality", "low_quality"} else None,
        level=settings.level,
        n_runs=curve.n_runs,
        n_events=curve.n_events,
        n_censored=curve.n_censored,
        n_excluded=times.n_excluded,
        quantiles=turn_quantiles(curve, SHARES, tie=tie, first_possible=times.entry + 1),
        survival=survival_points(curve),
        first_turn=int(times.time[0]) if alone else None,
        false_alarm=_false_alarm(table, times, settings) if rolling else None,
        why=test.why,
        warnings=_warnings(table, times, curve),
    )


def first_bad_turn(table: TurnTable, *, settings: Settings | None = None) -> int | None:
    """The turn at which quality goes bad by the rolling rule.

    For one run its own alarm turn; for several the Kaplan-Meier median. None where the run never
    alarms, or fewer than half of the runs do.
    """
    result = time_to_first_error(table, "rolling_quality", settings=settings)
    if result.n_runs == 1:
        return result.first_turn
    median = next((quantile.turn for quantile in result.quantiles if quantile.p == 0.5), None)
    return None if median is None else int(median)


def available_rules(table: TurnTable) -> tuple[Rule, ...]:
    """The rules that some run of the table has values for; the rolling rule comes first."""
    settings = Settings()
    return tuple(
        rule for rule, make in RULES.items() if not np.isnan(make(table, settings).values).all()
    )


def survival_points(curve: SurvivalCurve) -> SurvivalPoints:
    """The curve as a result holds it."""
    return SurvivalPoints(
        turn=tuple(int(turn) for turn in curve.time),
        survival=tuple(curve.survival.tolist()),
        low=tuple(map(none_if_nan, curve.low)),
        high=tuple(map(none_if_nan, curve.high)),
        n_at_risk=tuple(curve.n_at_risk.tolist()),
    )


def _false_alarm(table: TurnTable, times: FirstErrorTimes, settings: Settings) -> Estimate:
    estimand = (
        "Chance that the rolling rule fires in a run of these lengths whose quality stays as it "
        "began, with the noise of these runs."
    )
    test = times.test
    rows = np.isin(table.run, times.run)
    threshold = test.threshold if test.threshold is not None else -np.inf
    try:
        found = false_alarm_chance(
            test.values[rows],
            table.run[rows],
            window=test.window,
            threshold=threshold,
            rng=np.random.default_rng(settings.seed),
            n_draws=settings.resamples,
        )
    except NotEnoughDataError as problem:
        return absent(estimand, str(problem), level=settings.level)
    limits = wilson(found.n_fired, found.n_draws, level=settings.level)
    return Estimate(
        estimand=estimand,
        value=found.chance,
        std_error=found.std_error,
        low=limits.low,
        high=limits.high,
        level=settings.level,
        method=(
            f"simulated runs: the level of a run's first {found.level_turns} graded turns and "
            f"{_noise_in_words(found)}; the interval is the simulation's own"
        ),
        n_turns=found.n_turns,
        n_runs=found.n_runs,
        n_clusters=found.n_runs,
        assumptions=(
            f"a run's quality has not changed within its first {found.level_turns} graded turns",
            "turns of runs resemble their neighbours alike"
            if found.two_valued
            else "runs have the same noise",
        ),
        seed=settings.seed,
        n_resamples=found.n_draws,
    )


def _noise_in_words(found: FalseAlarm) -> str:
    if found.two_valued:
        return f"a two-state Markov chain about it (lag-1 correlation {found.correlation:.2f})"
    return (
        f"autoregressive noise (SD {found.noise_sd:.3g}, lag-1 correlation {found.correlation:.2f})"
    )


def _warnings(table: TurnTable, times: FirstErrorTimes, curve: SurvivalCurve) -> tuple[str, ...]:
    warnings = []
    if curve.n_runs > 1 and not curve.n_events:
        warnings.append("No run had the event: the limits say how late it is at least.")
    used = np.zeros(table.n_runs, dtype=np.bool_)
    used[times.run] = True
    if repeats_scenarios(table, used):
        warnings.append(
            "Scenarios repeat: the limits take runs as independent, which is right for re-running "
            "this suite and too narrow for other scenarios of the kind."
        )
    return tuple(warnings)


def _nothing(times: FirstErrorTimes, settings: Settings) -> FirstError:
    rule, test = times.rule, times.test
    return FirstError(
        rule=rule,
        signal=test.signal,
        estimand=f"Turn by which a share of runs has had its first {test.words}.",
        window=test.window if rule == "rolling_quality" else None,
        threshold=test.threshold if rule in {"rolling_quality", "low_quality"} else None,
        level=settings.level,
        n_excluded=times.n_excluded,
        survival=SurvivalPoints(turn=(), survival=(), low=(), high=(), n_at_risk=()),
        why=test.why,
    )
