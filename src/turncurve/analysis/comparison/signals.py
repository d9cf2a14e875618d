"""Which signal moved first?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.pairs import Pairs
from turncurve.analysis.comparison.settings import CompareSettings
from turncurve.stats.estimate import none_if_nan
from turncurve.stats.false_discovery import benjamini_hochberg
from turncurve.stats.paired_curve import MIN_PAIRS, PairedCurve, paired_curve
from turncurve.table import SignalInfo

FloatArray: TypeAlias = NDArray[np.float64]
Way: TypeAlias = Literal["worse", "better", "higher", "lower"]

SAYS_ANOTHER = frozenset({"started_at", "tool_success", "tool_error", "retry", "spiral"})
"""Signals that say what another one says, or are no measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalMove:
    """How a signal differs between two conditions, and from which turn on that is sure.

    Attributes:
        signal: Its name.
        title: A few words for people.
        unit: Its unit.
        better: Its good direction; None where neither is.
        n_pairs: Most scenarios with a value in both at one bucket.
        p: The smallest over its buckets, corrected for their number.
        q: The same corrected for the number of signals, by Benjamini and Hochberg.
        q_any: By Benjamini and Yekutieli, which holds however the signals hang together.
        moved: Whether it differs: `q` is at most 1 - level.
        turn: First turn at which its band leaves 0 out; None where it did not move.
        difference: b - a there; without a turn, where it is the least likely by chance.
        low: Lower limit there, by the band at the corrected level; None where it did not move.
        high: Upper limit.
        way: Which way it moved there.
        reason: Why it was not tested.
    """

    signal: str
    title: str
    unit: str
    better: Literal["high", "low"] | None
    n_pairs: int
    p: float | None = None
    q: float | None = None
    q_any: float | None = None
    moved: bool = False
    turn: int | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    way: Way | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalMoves:
    """All signals that both conditions have, those that moved first.

    Attributes:
        signals: Those that moved, by the turn from which on that is sure; then the others by p.
        n_tested: Signals in the family.
        n_moved: Signals that moved.
        band_level: Level of the bands of those that moved, corrected for how many did.
    """

    signals: tuple[SignalMove, ...]
    n_tested: int
    n_moved: int
    band_level: float


def signal_moves(
    pairs: Pairs, names: Sequence[str], settings: CompareSettings, bucket: int
) -> SignalMoves:
    """Test every signal at every bucket, and say at which turn each one that moved first did so.

    Within a signal the band pays for its buckets; over signals the share of false ones among those
    that moved is held to 1 - level, and the bands of these are widened as their number asks for.

    Args:
        pairs: Both conditions.
        names: Columns that both have values of.
        settings: Level, seed, draws.
        bucket: Turns in a bucket.

    References:
        Benjamini & Yekutieli (2005), JASA 100:71-81 (intervals for selected parameters).
    """
    differences = {name: _differences(pairs, name, bucket) for name in names}
    curves = {name: _curve(name, d, settings) for name, d in differences.items()}
    smallest = [np.fmin.reduce(curve.p_adjusted, initial=np.nan) for curve in curves.values()]
    tested = np.array(
        [p if curves[name].n_tested else np.nan for name, p in zip(names, smallest, strict=True)]
    )
    family = benjamini_hochberg(tested)
    alpha = 1 - settings.level
    n_moved = int((family.q <= alpha).sum())
    allowed = alpha * max(n_moved, 1) / max(family.n_tested, 1)
    at_level = replace(settings, level=1 - allowed)
    moves = []
    for i, name in enumerate(names):
        moved = bool(family.q[i] <= alpha)
        curve = _curve(name, differences[name], at_level) if moved else curves[name]
        at = _place(curve, allowed if moved else None)
        move = _move(pairs, name, curve, bucket, at, moved=moved)
        q = none_if_nan(family.q[i]), none_if_nan(family.q_any[i])
        moves.append(replace(move, p=none_if_nan(tested[i]), q=q[0], q_any=q[1]))
    return SignalMoves(
        signals=tuple(sorted(moves, key=_rank)),
        n_tested=family.n_tested,
        n_moved=n_moved,
        band_level=1 - allowed,
    )


def _differences(pairs: Pairs, name: str, bucket: int) -> FloatArray:
    a, b = pairs.cells(name, bucket).of_scenarios()
    return b - a


def _curve(name: str, differences: FloatArray, settings: CompareSettings) -> PairedCurve:
    return paired_curve(
        differences,
        rng=np.random.default_rng([settings.seed, crc32(name.encode())]),
        level=settings.level,
        resamples=settings.resamples,
    )


def _place(curve: PairedCurve, allowed: float | None) -> int | None:
    """The first bucket that is sure; without a level, the one that is the least likely by chance.

    The p values are made of the same draws as those that the signal was chosen by.
    """
    known = ~np.isnan(curve.p_adjusted)
    if not known.any():
        return None
    if allowed is None:
        return int(np.nanargmin(curve.p))
    sure = np.flatnonzero(known & (curve.p_adjusted <= allowed * (1 + 1e-12)))
    return int(sure[0]) if len(sure) else int(np.nanargmin(curve.p))


def _move(
    pairs: Pairs, name: str, curve: PairedCurve, bucket: int, at: int | None, *, moved: bool
) -> SignalMove:
    info = pairs.a.table.info.get(name) or SignalInfo(name=name, title=name)
    known = SignalMove(
        signal=name,
        title=info.title,
        unit=info.unit,
        better=info.better,
        n_pairs=int(curve.n.max(initial=0)),
    )
    if at is None:
        why = f"at no turn have {MIN_PAIRS} scenarios a value in both"
        return replace(known, reason=why)
    value = float(curve.value[at])
    if not curve.n_tested:
        return replace(known, difference=value, reason="the two do not differ in any scenario")
    if not moved:
        return replace(known, difference=value)
    return replace(
        known,
        moved=True,
        turn=at * bucket + 1,
        difference=value,
        low=none_if_nan(curve.band_low[at]),
        high=none_if_nan(curve.band_high[at]),
        way=way_of(value, info.better),
    )


def way_of(difference: float, better: str | None) -> Way:
    """What a difference that is not 0 means: worse or better, or higher or lower."""
    if better is None:
        return "higher" if difference > 0 else "lower"
    return "better" if (difference > 0) == (better == "high") else "worse"


def _rank(move: SignalMove) -> tuple[bool, int, float, str]:
    p = 2.0 if move.p is None else move.p
    return (not move.moved, move.turn or 0, p, move.signal)
