"""First errors under every rule: when, as runs end how often, and whether they get likelier."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.error_hazard import ErrorHazard, error_hazard
from turncurve.analysis.error_rules import RULES, Rule
from turncurve.analysis.first_error import available_rules
from turncurve.analysis.first_error_groups import (
    GroupFirstErrors,
    group_first_errors,
    horizon_of,
)
from turncurve.analysis.first_error_settings import FirstErrorSettings
from turncurve.analysis.first_error_times import (
    FirstErrorTimes,
    error_states,
    first_error_times,
)
from turncurve.analysis.own_runs import own_runs, scenario_codes
from turncurve.analysis.runs_alike import scenario_clusters
from turncurve.errors import NotEnoughDataError, UnknownNameError
from turncurve.stats.hazard_ratio import HazardRatio, hazard_ratio
from turncurve.stats.log_rank import LogRank, log_rank
from turncurve.stats.two_state import TwoState, two_state
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRatio:
    """How often one condition has its first error, at a turn, over another.

    Attributes:
        condition: The one.
        control: The other.
        ratio: Within scenarios, where some scenario has runs of both, else over all runs.
        within_scenarios: Which of the two.
    """

    condition: str
    control: str
    ratio: HazardRatio
    within_scenarios: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionTests:
    """Do conditions differ in when their runs first go wrong?

    Attributes:
        by_turn: Log-rank test over all runs, taken as independent.
        within_scenarios: Log-rank test of runs of the same scenario; its statistic is None where
            no scenario has runs of two conditions.
        ratios: Each condition over the first.
    """

    by_turn: LogRank
    within_scenarios: LogRank
    ratios: tuple[ConditionRatio, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFirstErrors:
    """First errors under one rule.

    Attributes:
        rule: The rule.
        groups: By condition.
        tests: Between conditions; None with `no_tests`.
        no_tests: Why there are none.
        hazard: State accuracy, pooled hazard, hazard among runs alike, and the verdict.
        recurrence: All errors as a chain of two states; None with `no_recurrence`.
        no_recurrence: Why there is none.
    """

    rule: Rule
    groups: tuple[GroupFirstErrors, ...]
    tests: ConditionTests | None
    no_tests: str | None
    hazard: ErrorHazard
    recurrence: TwoState | None
    no_recurrence: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstErrorStudy:
    """First errors under every rule that was asked for."""

    rules: tuple[RuleFirstErrors, ...]
    n_runs: int
    """Runs in all."""
    settings: FirstErrorSettings


_DEFAULTS = FirstErrorSettings()


def first_error_study(
    table: TurnTable, settings: FirstErrorSettings = _DEFAULTS
) -> FirstErrorStudy:
    """When runs first go wrong, by rule and condition, and whether it gets likelier as they go on.

    Args:
        table: Runs of any number of conditions.
        settings: Rules, levels, what makes runs alike, what competes.

    Raises:
        NotEnoughDataError: No rule was named, and no run has values for any.
        UnknownNameError: There is no such rule.
    """
    for rule in settings.rules:
        if rule not in RULES:
            raise UnknownNameError("rule", rule, RULES)
    rules = settings.rules or available_rules(table)
    if not rules:
        what = "first errors: runs with scores, grades, checked rules or tool results"
        raise NotEnoughDataError(what, need=1, got=0)
    return FirstErrorStudy(
        rules=tuple(_of_rule(table, rule, settings) for rule in rules),
        n_runs=table.n_runs,
        settings=settings,
    )


def _of_rule(table: TurnTable, rule: Rule, settings: FirstErrorSettings) -> RuleFirstErrors:
    times = first_error_times(table, rule, settings.reading)
    parts = {name: times.of_runs(which) for name, which in _conditions(table).items()}
    horizon = horizon_of(list(parts.values()), settings.horizon)
    tests, no_tests = _tests(table, times, settings.reading.level)
    recurrence, no_recurrence = _recurrence(table, times, settings.reading.level)
    return RuleFirstErrors(
        rule=rule,
        groups=tuple(
            group_first_errors(table, name, part, settings, horizon=horizon)
            for name, part in parts.items()
        ),
        tests=tests,
        no_tests=no_tests,
        hazard=error_hazard(table, times, settings),
        recurrence=recurrence,
        no_recurrence=no_recurrence,
    )


def _conditions(table: TurnTable) -> dict[str | None, NDArray[np.bool_]]:
    """The runs of each condition, in the order in which they come; shape (n_runs,) each.

    Sub-agents' runs alone make no condition.
    """
    own = own_runs(table)
    names = dict.fromkeys(table.runs.condition[own].tolist()) or {None: None}
    every = table.runs.condition.tolist()
    found = {name: np.array([each == name for each in every], dtype=np.bool_) for name in names}
    first = next(iter(found))
    found[first] |= ~np.any(list(found.values()), axis=0)
    return found


def _tests(
    table: TurnTable, times: FirstErrorTimes, level: float
) -> tuple[ConditionTests | None, str | None]:
    condition = table.runs.condition[times.run]
    named = np.array([name is not None for name in condition], dtype=np.bool_)
    names = list(dict.fromkeys(condition[named].tolist()))
    if len(names) < 2:
        n = len(names)
        return None, f"{n} condition{'s' * (n != 1)} with runs that count: two are needed"
    time, event = times.time[named], times.event[named]
    group = np.array([names.index(name) for name in condition[named]])
    scenario = scenario_codes(table)[times.run][named]
    entry = np.full(len(time), times.entry)
    within = log_rank(time, event, group, stratum=scenario, entry=entry)
    by_turn = log_rank(time, event, group, entry=entry)
    ratios = []
    for code, name in enumerate(names[1:], start=1):
        two = (group == 0) | (group == code)
        shared = np.intersect1d(scenario[group == 0], scenario[group == code])
        ratio = hazard_ratio(
            time[two],
            event[two],
            group[two] == code,
            stratum=scenario[two] if len(shared) else None,
            entry=entry[two],
            level=level,
        )
        ratios.append(
            ConditionRatio(
                condition=name, control=names[0], ratio=ratio, within_scenarios=bool(len(shared))
            )
        )
    return (
        ConditionTests(
            by_turn=replace(by_turn, groups=tuple(names)),
            within_scenarios=replace(within, groups=tuple(names)),
            ratios=tuple(ratios),
        ),
        None,
    )


def _recurrence(
    table: TurnTable, times: FirstErrorTimes, level: float
) -> tuple[TwoState | None, str | None]:
    if times.test.window > 1:
        return None, "windows that overlap make a chain of themselves"
    state, cluster = error_states(table, times), scenario_clusters(table, times)
    unit = np.arange(table.n_runs) + table.n_runs
    if cluster is not None:
        unit[times.run] = cluster
    try:
        return two_state(state, table.run, unit[table.run], level=level), None
    except NotEnoughDataError as problem:
        return None, str(problem)
