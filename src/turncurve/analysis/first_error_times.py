"""When each run first does something wrong: what every analysis of first errors starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.error_rules import RULES, Rule, RuleTest
from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import NO_TURN, SUBAGENT, own_runs
from turncurve.analysis.settings import Settings
from turncurve.errors import UnknownNameError
from turncurve.stats.onset import window_onset
from turncurve.stats.window_rule import is_below, rolling_mean, rule_times
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstErrorTimes:
    """Runs under one rule; the arrays are of the runs that count, shape (n_used,).

    Attributes:
        rule: The rule's name.
        test: The rule made concrete.
        run: Positions in the run table.
        time: Turn of the event (the alarm, under the rolling rule), or the last turn with a value.
        event: Whether the run had the event.
        entry: Turns before the first at which the rule can fire, the same for all runs.
        left_out: Reason to a mask of the runs left out for it; shape (n_runs,).
    """

    rule: Rule
    test: RuleTest
    run: IntArray
    time: FloatArray
    event: NDArray[np.bool_]
    entry: float
    left_out: Mapping[str, NDArray[np.bool_]]

    @property
    def n_excluded(self) -> dict[str, int]:
        """Reason to number of runs left out."""
        return excluded_counts(self.left_out)

    def of_runs(self, which: NDArray[np.bool_]) -> FirstErrorTimes:
        """Those of the runs where `which`, of shape (n_runs,), is True, under the same test."""
        mine = which[self.run]
        return replace(
            self,
            run=self.run[mine],
            time=self.time[mine],
            event=self.event[mine],
            left_out={reason: runs & which for reason, runs in self.left_out.items()},
        )


def first_error_times(table: TurnTable, rule: Rule, settings: Settings) -> FirstErrorTimes:
    """The turn of each run's first error, or how far it was followed without one.

    Args:
        table: The runs.
        rule: See `time_to_first_error`.
        settings: Window, threshold, scale.

    Raises:
        UnknownNameError: There is no such rule.
    """
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    test = RULES[rule](table, settings)
    times = rule_times(
        test.values,
        table.run,
        table.turn,
        n_runs=table.n_runs,
        window=test.window,
        threshold=-np.inf if test.threshold is None else test.threshold,
    )
    own, some_turn = own_runs(table), table.runs.n_turns > 0
    some_value = times.n_values > 0
    used = own & times.at_risk
    left_out = {
        SUBAGENT: ~own,
        NO_TURN: own & ~some_turn,
        "run without a value for the rule": own & some_turn & ~some_value,
        f"run with fewer than {test.window} turns that have a value": own
        & some_value
        & ~times.at_risk,
    }
    if test.threshold is None:
        left_out["no threshold to go by"] = used
        used = np.zeros(len(used), dtype=np.bool_)
    return FirstErrorTimes(
        rule=rule,
        test=test,
        run=np.flatnonzero(used),
        time=times.time[used],
        event=times.event[used],
        entry=times.entry,
        left_out=left_out,
    )


def error_states(table: TurnTable, times: FirstErrorTimes) -> FloatArray:
    """1 where the rule finds a turn in error, 0 where not, NaN where it has no value to go by.

    Turns of runs that do not count have NaN. A run in error once may be so again, or not.
    """
    test = times.test
    used = np.zeros(table.n_runs, dtype=np.bool_)
    used[times.run] = True
    if test.threshold is None:
        return np.full(len(table.turn), np.nan)
    means = rolling_mean(test.values, table.run, test.window)
    state = np.where(np.isnan(means), np.nan, is_below(means, test.threshold).astype(np.float64))
    return np.where(used[table.run], state, np.nan)


def onsets(table: TurnTable, times: FirstErrorTimes) -> FloatArray:
    """The turn at which each run's alarm window turns bad; NaN without an alarm; (n_used,).

    See `window_onset`; under a rule of single turns it is the event itself.
    """
    alarm = np.full(table.n_runs, np.nan)
    alarm[times.run] = np.where(times.event, times.time, np.nan)
    if times.test.threshold is None:
        return alarm[times.run]
    found = window_onset(
        times.test.values,
        table.run,
        table.turn,
        alarm,
        window=times.test.window,
        threshold=times.test.threshold,
    )
    return found[times.run]
