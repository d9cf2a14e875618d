"""Errors that come and go: how often one begins, and how often one ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile
from turncurve.stats.ratio import Ratio, ratio_of_sums

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoState:
    """A chain of two states, in error and not.

    Attributes:
        start: Chance that a turn after one without error has one.
        recover: Chance that a turn after one with error has none; None where no error was followed
            by a turn.
        share: Share of turns in error that the two lead to in the end, start / (start + recover);
            None where `recover` is, or both are 0.
        n_turns: Pairs of neighbouring turns.
        n_clusters: Independent units.
    """

    start: Ratio
    recover: Ratio | None
    share: Ratio | None
    n_turns: int
    n_clusters: int


def two_state(
    in_error: ArrayLike, run: ArrayLike, cluster: ArrayLike, *, level: float = 0.95
) -> TwoState:
    """Estimate the chain from the states of neighbouring turns.

    All errors of a run count, not only its first. Turns of unknown state are passed over: their
    neighbours are taken for neighbours of each other. The intervals are t over clusters and within
    0 to 1.

    Args:
        in_error: 1 with an error, 0 without, NaN unknown; shape (n_turns,).
        run: Which run a turn belongs to; each run's turns together and in order.
        cluster: Which independent unit, any labels; shape (n_turns,).
        level: Confidence level.

    Raises:
        NotEnoughDataError: No turn without an error is followed by another.

    References:
        Billingsley (1961), Annals of Mathematical Statistics 32:12-40.
    """
    given, owner = np.asarray(in_error, dtype=np.float64), np.asarray(run)
    unit = np.unique(np.asarray(cluster), return_inverse=True)[1].reshape(-1)
    known = ~np.isnan(given)
    state, owner, unit = given[known] > 0, owner[known], unit[known]
    same = owner[1:] == owner[:-1]
    before, after, unit = state[:-1][same], state[1:][same], unit[1:][same]
    if before.all():
        raise NotEnoughDataError("a chain of errors: turns after one without", need=1, got=0)
    n_units = int(unit.max()) + 1

    def tally(which: NDArray[np.bool_]) -> FloatArray:
        found = np.bincount(unit, weights=which, minlength=n_units)
        return np.asarray(found[np.bincount(unit, minlength=n_units) > 0], dtype=np.float64)

    began, ok = tally(~before & after), tally(~before)
    ended, bad = tally(before & ~after), tally(before)
    recover = ratio_of_sums(ended, bad, level=level) if bad.any() else None
    start = ratio_of_sums(began, ok, level=level)
    return TwoState(
        start=_within(start),
        recover=None if recover is None else _within(recover),
        share=None if recover is None else _share((began, ok, start), (ended, bad, recover), level),
        n_turns=len(before),
        n_clusters=len(ok),
    )


def _share(
    start: tuple[FloatArray, FloatArray, Ratio],
    recover: tuple[FloatArray, FloatArray, Ratio],
    level: float,
) -> Ratio | None:
    """The share start / (start + recover), by the delta method over the units."""
    (began, ok, h), (ended, bad, r) = start, recover
    total = h.value + r.value
    if total == 0:
        return None
    of_start = (began - h.value * ok) / ok.sum()
    of_recover = (ended - r.value * bad) / bad.sum()
    influence = (r.value * of_start - h.value * of_recover) / total**2
    n, value = len(ok), h.value / total
    error = float(np.sqrt((influence**2).sum() * n / (n - 1))) if n > 1 else 0.0
    if error < 1e-12:
        return Ratio(value=value, std_error=None, low=None, high=None, df=None, n=n)
    half = float(t_quantile(level, n - 1)) * error
    return _within(
        Ratio(value=value, std_error=error, low=value - half, high=value + half, df=n - 1, n=n)
    )


def _within(ratio: Ratio) -> Ratio:
    """A share's limits, kept within 0 to 1."""
    if ratio.low is None or ratio.high is None:
        return ratio
    return replace(ratio, low=max(ratio.low, 0.0), high=min(ratio.high, 1.0))
