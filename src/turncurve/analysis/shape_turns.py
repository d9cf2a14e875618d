"""Shapes of curves whose points are buckets, told in turns."""

from __future__ import annotations

from dataclasses import replace

from turncurve.stats.mean import Mean
from turncurve.stats.shape import Departure, Shape


def in_turns(shape: Shape, bucket: int) -> Shape:
    """A shape that was found over buckets, with its places and slopes by turn.

    The place of a step and of a lone bucket is its first turn; a kink lies after the last turn of
    the last bucket with the old slope. A step's size stays; slopes are by turn.

    Args:
        shape: With positions that count buckets from 1.
        bucket: Turns in a bucket.
    """
    if bucket == 1:
        return shape

    def first(position: int) -> int:
        return (position - 1) * bucket + 1

    def last(position: int) -> int:
        return position * bucket

    place = last if shape.verdict == "knee" else first
    return replace(
        shape,
        turn=None if shape.turn is None else place(shape.turn),
        turns_confidence_set=tuple(place(turn) for turn in shape.turns_confidence_set),
        slope=_by_turn(shape.slope, bucket),
        step=replace(shape.step, turn=first(shape.step.turn)),
        kink=_slower(replace(shape.kink, turn=last(shape.kink.turn)), bucket),
        lone_turn=replace(shape.lone_turn, turn=first(shape.lone_turn.turn)),
        n_turns=shape.n_turns * bucket,
    )


def _slower(kink: Departure, bucket: int) -> Departure:
    return replace(kink, size=_by_turn(kink.size, bucket))


def _by_turn(slope: Mean, bucket: int) -> Mean:
    def each(value: float | None) -> float | None:
        return None if value is None else value / bucket

    return replace(
        slope,
        value=slope.value / bucket,
        std_error=each(slope.std_error),
        low=each(slope.low),
        high=each(slope.high),
    )
