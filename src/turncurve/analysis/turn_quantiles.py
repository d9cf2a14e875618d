"""Quantiles of a survival curve whose times are turns."""

from __future__ import annotations

from collections.abc import Sequence

from turncurve.analysis.first_error import Quantile
from turncurve.stats.survival import SurvivalCurve, quantiles


def turn_quantiles(curve: SurvivalCurve, p: Sequence[float]) -> tuple[Quantile, ...]:
    """The turn by which a share of the runs has had the event, for each share of `p`."""
    return tuple(
        Quantile(p=q.p, turn=_turn(q.time), low=_turn(q.low), high=_turn(q.high))
        for q in quantiles(curve, p)
    )


def _turn(time: float | None) -> int | None:
    return None if time is None else int(time)
