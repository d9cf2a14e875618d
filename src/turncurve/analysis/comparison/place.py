"""Did the cliff or knee move?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.settings import CompareSettings
from turncurve.analysis.shape_turns import in_turns
from turncurve.errors import NotEnoughDataError
from turncurve.stats.bootstrap import MIN_UNITS
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.moved_place import Movement, moved_place
from turncurve.stats.shape import MIN_TURNS, Shape, Verdict, shape_of
from turncurve.stats.shape_contrasts import Form, kinks_at, steps_at

FloatArray: TypeAlias = NDArray[np.float64]

_FORMS: dict[Verdict, tuple[str, Form]] = {
    "cliff": ("cliff", steps_at),
    "cliff on a slope": ("cliff", steps_at),
    "knee": ("knee", kinks_at),
}
_MOVED = "Turn of the {what} of b less that of a."


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The shape of one condition's curve, over the scenarios that both have.

    Attributes:
        verdict: As `cliff` says it; None with `reason`.
        turn: First turn of a cliff's new level; last turn before a knee's new slope; None else.
        turns_confidence_set: Turns at which the cliff or knee may be.
        size: Of the jump, or of the change of slope by turn; None where there is neither.
        low: Lower limit of the size.
        high: Upper limit.
        p: Of the best place among all turns and forms.
        n_scenarios: Scenarios looked at.
        reason: Why there is no shape.
    """

    verdict: Verdict | None
    turn: int | None = None
    turns_confidence_set: tuple[int, ...] = ()
    size: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    n_scenarios: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceChange:
    """Where either curve breaks, and how far that moved.

    Attributes:
        a: The shape of a.
        b: The shape of b.
        what: "cliff" or "knee", where both have the same; None else.
        moved: Turns by which b's is later than a's, with an interval of the difference itself.
    """

    a: Place
    b: Place
    what: str | None
    moved: Estimate


def place_change(
    a: FloatArray, b: FloatArray, bucket: int, settings: CompareSettings
) -> PlaceChange:
    """The shapes of both conditions' curves, and how far the cliff or knee moved.

    Args:
        a: Each scenario's curve; shape (S, B), NaN where it has no pair.
        b: Likewise.
        bucket: Turns in a bucket.
        settings: Level, seed, draws.
    """
    rng = np.random.default_rng([settings.seed, 2])
    shapes = [_shape(values, bucket, settings) for values in (a, b)]
    places = [_place(shape, reason) for shape, reason in shapes]
    kinds = [_FORMS.get(place.verdict) if place.verdict else None for place in places]
    if kinds[0] is None or kinds[1] is None or kinds[0] != kinds[1]:
        said = (_said(name, place) for name, place in zip("AB", places, strict=True))
        why = f"there is no one place to follow: {', '.join(said)}"
        moved = absent(_MOVED.format(what="cliff or knee"), why, level=settings.level)
        return PlaceChange(a=places[0], b=places[1], what=None, moved=moved)
    what, form = kinds[0]
    # The units that the shapes are of: the two curves of a scenario have the same turns.
    units = (~np.isnan(a)).sum(axis=1) >= MIN_TURNS
    found = moved_place(
        a[units],
        b[units],
        form,
        rng=rng,
        level=settings.level,
        resamples=min(settings.resamples, 2_000),
    )
    ends = [None if end is None else end * bucket for end in (found.low, found.high)]
    return PlaceChange(
        a=places[0],
        b=places[1],
        what=what,
        moved=Estimate(
            estimand=_MOVED.format(what=what),
            value=float((found.new - found.old) * bucket),
            low=ends[0],
            high=ends[1],
            level=settings.level,
            method="bootstrap of the difference, whole scenarios with both curves",
            n_clusters=found.n_units,
            assumptions=(f"both curves have a {what}",),
            warnings=_warnings(found),
            seed=settings.seed,
            n_resamples=found.n_resamples,
        ),
    )


def _warnings(found: Movement) -> tuple[str, ...]:
    if found.low is None:
        return (f"with fewer than {MIN_UNITS} scenarios there is no interval by resampling",)
    if found.low == found.high:
        return ("the same in the middle of all resamples: turns are whole, so it may be one off",)
    return ()


def _shape(values: FloatArray, bucket: int, settings: CompareSettings) -> tuple[Shape | None, str]:
    try:
        shape = shape_of(
            values,
            rng=np.random.default_rng([settings.seed, 3]),
            alpha=1 - settings.level,
            n_flips=min(settings.resamples, 2_000),
        )
    except NotEnoughDataError as problem:
        return None, str(problem).removeprefix("shape_of: ")
    return in_turns(shape, bucket), ""


def _place(shape: Shape | None, reason: str) -> Place:
    if shape is None:
        return Place(verdict=None, reason=reason)
    kind = _FORMS.get(shape.verdict)
    if kind is None:
        return Place(verdict=shape.verdict, n_scenarios=shape.n_units)
    best = shape.kink if kind[0] == "knee" else shape.step
    return Place(
        verdict=shape.verdict,
        turn=best.turn,
        turns_confidence_set=shape.turns_confidence_set,
        size=best.size.value,
        low=best.size.low,
        high=best.size.high,
        p=best.p,
        n_scenarios=shape.n_units,
    )


def _said(name: str, place: Place) -> str:
    if place.verdict is None:
        return f"the shape of {name} cannot be told ({place.reason})"
    if place.verdict == "underpowered":
        return f"{name} has too few scenarios to tell a cliff from a line"
    if place.turn is not None:
        return f"{name} has a {_FORMS[place.verdict][0]} at turn {place.turn:,}"
    return f"{name} has neither cliff nor knee ({place.verdict})"
