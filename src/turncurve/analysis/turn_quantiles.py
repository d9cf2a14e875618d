"""Quantiles of a survival curve whose times are turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turncurve.stats.survival import SurvivalCurve, Tie, quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """The turn by which a share `p` of runs has had the event.

    `turn` is None where fewer have had it as far as can be known. `low` is the first turn at which
    the event can happen where so few runs set no lower limit, if such a turn is known; `high` is
    None where they set no upper.
    """

    p: float
    turn: float | None
    low: float | None
    high: float | None


def turn_quantiles(
    curve: SurvivalCurve,
    p: Sequence[float],
    *,
    tie: Tie = "first",
    first_possible: float | None = None,
) -> tuple[Quantile, ...]:
    """The turn by which a share of the runs has had the event, for each share of `p`.

    Args:
        curve: The share of runs still free of the event.
        p: Shares, above 0 and below 1.
        tie: Which turn a quantile is where the curve runs flat at exactly 1 - p.
        first_possible: The lower limit where the data set none.
    """
    return tuple(
        Quantile(
            p=q.p,
            turn=_whole(q.time),
            low=_whole(first_possible if q.low is None else q.low),
            high=_whole(q.high),
        )
        for q in quantiles(curve, p, tie=tie)
    )


def _whole(turn: float | None) -> float | None:
    """Turns are whole numbers; only the midpoint rule gives halves."""
    return int(turn) if turn is not None and turn == int(turn) else turn
