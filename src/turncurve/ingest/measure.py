"""One run to its columns: every observed signal, and what its file gives by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import InvariantError, ReadError
from turncurve.model import Run
from turncurve.readers import OnProblem
from turncurve.signals import SIGNALS, Signal
from turncurve.signals.base import Together

FloatArray: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = dict[str, FloatArray]

Addition: TypeAlias = Callable[[Run, Columns, OnProblem], dict[str, str]]
"""Fills columns of a run beyond the observed signals; gives reasons for what stays absent."""


_READ_BACK = frozenset({"tool_error"})
"""Derived signals that a file may give: the observed ones behind them are read from it."""


class Measure:
    """Maps a run to its columns.

    Args:
        on_problem: Told of each signal that fails on a run; the run's column is then NaN.
        additions: What to work out beyond the registered signals: rules, a schema, prices.
    """

    def __init__(self, on_problem: OnProblem, additions: Sequence[Addition] = ()) -> None:
        self._on_problem = on_problem
        self._additions = additions
        signals = {name: SIGNALS[name] for name in SIGNALS}
        self.signals: dict[str, Signal] = {n: s for n, s in signals.items() if s.observe}
        together = dict.fromkeys(signal.together for signal in self.signals.values())
        self._together: list[Together] = [one for one in together if one is not None]
        self._derived = frozenset(signals) - frozenset(self.signals) - _READ_BACK
        self._told: set[tuple[str, str]] = set()

    def __call__(self, run: Run) -> tuple[Columns, Mapping[str, str]]:
        """The run's columns, each of shape (n_turns,), and why what is absent is absent."""
        columns = self._observed(run)
        if any(turn.values for turn in run.turns):
            _add_given(run, columns)
            for name in self._derived.intersection(columns):
                del columns[name]
                self._tell_once(run, name)
        absent = dict(run.absent)
        for addition in self._additions:
            absent.update(addition(run, columns, self._on_problem))
        return columns, _without_given(absent, columns)

    def _observed(self, run: Run) -> Columns:
        found: dict[str, Any] = {}
        for together in self._together:
            # A pass that fails is made once more for each of its signals, which say what is wrong.
            with suppress(Exception):
                found |= together(run)
        return {
            name: self._observe(name, signal, run, found.get(name))
            for name, signal in self.signals.items()
        }

    def _tell_once(self, run: Run, name: str) -> None:
        if (run.path, name) not in self._told:
            self._told.add((run.path, name))
            reason = f"the file's own `{name}` was left out: turncurve works that out by itself"
            fix = "under another name it is a signal of its own"
            self._on_problem(ReadError(run.path, reason, fix=fix, kept=True))

    def _observe(self, name: str, signal: Signal, run: Run, found: Any) -> FloatArray:
        assert signal.observe is not None
        try:
            values = signal.observe(run) if found is None else found
            return _one_per_turn(values, len(run.turns))
        except Exception as problem:  # noqa: BLE001 - one signal of one run fails as a whole
            reason = f"signal {name!r} failed: {type(problem).__name__}: {problem}"
            self._on_problem(ReadError(run.path, reason, record=run.record or run.id, kept=True))
            return np.full(len(run.turns), np.nan)


def _without_given(absent: Mapping[str, str], columns: Columns) -> dict[str, str]:
    """The reasons whose column has no value, or not in each turn."""
    known: dict[int, bool] = {}  # signals of one pass may share an array
    kept = {}
    for name, reason in absent.items():
        column = columns.get(name)
        if column is not None:
            if id(column) not in known:
                known[id(column)] = len(column) > 0 and not np.isnan(column).any()
            if known[id(column)]:
                continue
        kept[name] = reason
    return kept


def _one_per_turn(values: ArrayLike, n_turns: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n_turns,):
        raise InvariantError(f"wanted shape ({n_turns},), got {array.shape}")
    return array


def _add_given(run: Run, columns: Columns) -> None:
    """Numbers that the file gives: they fill unknown values and make columns of their own."""
    given: Columns = {}
    for row, turn in enumerate(run.turns):
        for name, value in turn.values.items():
            if name not in given:
                given[name] = np.full(len(run.turns), np.nan)
            given[name][row] = value
    for name, values in given.items():
        observed = columns.get(name)
        if observed is None:
            columns[name] = values
        else:
            columns[name] = np.where(np.isnan(observed), values, observed)
