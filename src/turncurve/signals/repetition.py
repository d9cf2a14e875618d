"""Repeated actions: by the whole run so far, by a trailing window, in a row, and in circles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from turncurve.signals.base import FloatArray, Signal, of_family
from turncurve.signals.spiral import SpiralMarks
from turncurve.signals.twins import (
    WINDOW,
    Actions,
    BoolArray,
    IntArray,
    Twins,
    blocks,
    twins,
    window_repeats,
    window_sizes,
)
from turncurve.table import SignalInfo, TurnTable

RETRY_TURNS = 2
"""A repeat is a retry if the transient failure lies at most this many turns back."""


def repetition_signals(table: TurnTable) -> Mapping[str, FloatArray]:
    """Every signal of repetition; NaN in a turn without actions of the kind.

    - `n_actions`: actions in each turn, retries among them; `n_actions_counted`: those that are no
      retry; `n_actions_with_result`: those of the latter that have a result.
    - `retry`: share of a turn's actions that retry a transient failure. All others leave these out.
    - `repeated_action`: share of a turn's actions that the run had done before. A healthy agent's
      share grows by itself, because ever more of what there is to do has been done once: compare it
      with the window's.
    - `repeated_action_consecutive`: share of a turn's actions that equal the action right before.
    - `repeated_result`: as `repeated_action`, where an action is the same only if its result is
      too, so polling that returns something new is no repeat.
    - `repeated_action_window`: share of the run's last 10 actions that equal an earlier one among
      these 10, taken at the turn's last action; fewer than 10 where the run has had fewer.
    - `spiral`: see `SpiralMarks`.

    All rest on one question, where an action was done before in its run; it is answered once, in
    time linear in actions.

    Returns:
        By name, one number a turn, each of shape (n_turns,).
    """
    n_turns = len(table.turn)
    found = {name: np.full(n_turns, np.nan) for name in _NAMES}
    spirals = SpiralMarks(n_turns)
    for everything in blocks(table):
        kinds = twins(everything, everything.key)
        retried = _retries(table, everything, kinds)
        _count_retries(everything, retried, found)
        if retried.any():
            _compare(everything.where(~retried), kinds.where(~retried), found, spirals)
        else:
            _compare(everything, kinds, found, spirals)
    return {**found, "spiral": spirals.marks()}


_NAMES = (
    *("n_actions", "n_actions_counted", "n_actions_with_result", "retry"),
    *("repeated_action", "repeated_action_window", "repeated_action_consecutive"),
    "repeated_result",
)


def retries(table: TurnTable) -> BoolArray:
    """True for each action that repeats one that failed transiently up to 2 turns before.

    The failure is the last time that the run did the same. Shape (n_actions,).
    """
    if not table.calls.transient.any():
        return np.zeros(len(table.calls.row), dtype=np.bool_)
    parts = [_retries(table, actions, twins(actions, actions.key)) for actions in blocks(table)]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *parts])


def _retries(table: TurnTable, actions: Actions, kinds: Twins) -> BoolArray:
    if not actions.failed_transiently.any():
        return np.zeros(len(actions), dtype=np.bool_)
    before = kinds.before()
    turn = table.turn[actions.rows][actions.row]
    near = turn - turn[before] <= RETRY_TURNS
    return np.asarray((before >= 0) & actions.failed_transiently[before] & near)


def _count_retries(actions: Actions, retried: BoolArray, columns: Mapping[str, FloatArray]) -> None:
    n = _denominator(actions, None)
    columns["n_actions"][actions.rows] = n
    columns["retry"][actions.rows] = _counts(actions, retried) / n


def _compare(
    actions: Actions, kinds: Twins, columns: Mapping[str, FloatArray], spirals: SpiralMarks
) -> None:
    """Fill in what a block's actions give, retries left out; `kinds` says which are the same."""
    rows, n = actions.rows, _denominator(actions, None)
    before, sizes = kinds.before(), window_sizes(actions)
    done_before = before >= 0
    in_a_row = done_before & (before == np.arange(len(actions)) - 1)
    last = np.flatnonzero(np.diff(actions.row, append=actions.n_rows))
    columns["n_actions_counted"][rows] = n
    columns["repeated_action"][rows] = _counts(actions, done_before) / n
    columns["repeated_action_consecutive"][rows] = _counts(actions, in_a_row) / n
    window = columns["repeated_action_window"][rows]
    window[actions.row[last]] = window_repeats(actions, before)[last] / sizes[last]

    answered = actions.result_key != 0
    results = twins(actions, np.where(answered, actions.result_key, actions.key))
    n = _denominator(actions, answered)
    columns["n_actions_with_result"][rows] = n
    repeated = np.zeros(len(actions), dtype=np.bool_)
    repeated[answered] = results.where(answered).before() >= 0
    columns["repeated_result"][rows] = _counts(actions, repeated) / n
    repeats = window_repeats(actions, results.before())
    spirals.add(actions, results, last, sizes[last], repeats[last])


def _counts(actions: Actions, chosen: BoolArray) -> IntArray:
    """Chosen actions of each turn of the block; shape (n_rows,)."""
    counts: IntArray = np.bincount(actions.row[chosen], minlength=actions.n_rows)
    return counts


def _denominator(actions: Actions, chosen: BoolArray | None) -> FloatArray:
    """Actions of each turn, or the chosen ones; NaN without any; shape (n_rows,)."""
    row = actions.row if chosen is None else actions.row[chosen]
    n = np.bincount(row, minlength=actions.n_rows)
    return np.where(n > 0, n, np.nan)


def _info(
    name: str, title: str, *, denominator: str, weight: str | None = None, curve: bool = True
) -> SignalInfo:
    return SignalInfo(
        name=name,
        title=title,
        unit="share",
        better="low",
        denominator=denominator,
        weight=weight,
        low=0.0,
        high=1.0,
        curve=curve,
    )


def _count(name: str, title: str) -> Signal:
    info = SignalInfo(
        name=name,
        title=title,
        unit="count",
        denominator="turns with an action of the kind",
        low=0.0,
        curve=False,
    )
    return of_family(repetition_signals, info)


N_ACTIONS = _count("n_actions", "Actions")
N_ACTIONS_COUNTED = _count("n_actions_counted", "Actions that are no retry of a transient failure")
N_ACTIONS_WITH_RESULT = _count("n_actions_with_result", "Actions with a result that are no retry")
_ACTIONS = "actions, retries of a transient failure left out"
REPEATED_ACTION = of_family(
    repetition_signals,
    _info("repeated_action", "Repeated actions", denominator=_ACTIONS, weight="n_actions_counted"),
)
REPEATED_ACTION_WINDOW = of_family(
    repetition_signals,
    _info(
        "repeated_action_window",
        "Repeated actions among the last 10",
        denominator=f"the last {WINDOW} {_ACTIONS}",
    ),
)
REPEATED_ACTION_CONSECUTIVE = of_family(
    repetition_signals,
    _info(
        "repeated_action_consecutive",
        "Actions that repeat the one before",
        denominator=_ACTIONS,
        weight="n_actions_counted",
    ),
)
REPEATED_RESULT = of_family(
    repetition_signals,
    _info(
        "repeated_result",
        "Repeated actions with the same result",
        denominator="actions with a result, retries of a transient failure left out",
        weight="n_actions_with_result",
    ),
)
RETRY = of_family(
    repetition_signals,
    _info(
        "retry",
        "Retries of a transient failure",
        denominator="actions",
        weight="n_actions",
        curve=False,
    ),
)
SPIRAL = of_family(
    repetition_signals,
    _info(
        "spiral",
        "Turns in a spiral",
        denominator="turns with an action, from the run's tenth action on",
        curve=False,
    ),
)
