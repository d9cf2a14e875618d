"""Cliff, knee, slope or nothing: the shape of a set of curves, judged net of each unit's line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from turncurve.errors import NotEnoughDataError
from turncurve.stats.mean import Mean, mean_with_interval
from turncurve.stats.shape_contrasts import (
    MIN_SIDE,
    MIN_UNITS,
    Contrasts,
    Form,
    contrasts,
    freed_of,
    kinks_at,
    lone_turns_at,
    net_of_line,
    often_followed,
    places_of,
    same_turns,
    slopes,
    steps_at,
)
from turncurve.stats.sign_flips import SignFlips, sign_flips

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Verdict: TypeAlias = Literal[
    "flat", "slope", "knee", "cliff", "cliff on a slope", "lone turn", "ambiguous", "underpowered"
]

MIN_TURNS = 2 * MIN_SIDE + 2
"""Fewest turns on which a step can be told from a line."""
CLOSE = 2.0
"""Two forms whose fit differs by less, in units of BIC, are not told apart."""
POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """The best place for one form of departure from straight lines.

    Attributes:
        turn: First turn of the new level; last turn of the old slope, for a kink; the lone turn.
        size: Mean over units of their own sizes there: of the jump, or of the change of slope.
        p: Two-sided, of the largest |t| among all turns and all forms, so that it holds for a
            place that was looked for; None where none can be tested.
        fit: How much of the curves' misfit to their lines the form takes away there, as twice a
            log likelihood. Forms have the same number of parameters, so that differences of `fit`
            are those of BIC.
    """

    turn: int
    size: Mean
    p: float | None
    fit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the curves look like, and how sure that is.

    Attributes:
        verdict: The form that passes its test and fits best.
        turn: First turn of the worse regime, for a cliff; the last turn before the new slope, for
            a knee; the turn itself for a lone one; None for other verdicts.
        turns_confidence_set: Turns at which the cliff or knee may be; empty where there is none.
        slope: Change per turn over units: beside the cliff; before the knee; else of the whole.
        slope_p: Two-sided p of that slope; None where the units agree.
        step: The best step.
        kink: The best kink.
        lone_turn: The best lone turn.
        smallest_visible_step: The step that would be found with a chance of 80 %, at the middle
            position; None where no step could be.
        n_units: Independent curves.
        n_turns: Turns looked at.
        alpha: Level of each test.
        exact: Whether all flips of signs were tried.
    """

    verdict: Verdict
    turn: int | None
    turns_confidence_set: tuple[int, ...]
    slope: Mean
    slope_p: float | None
    step: Departure
    kink: Departure
    lone_turn: Departure
    smallest_visible_step: float | None
    n_units: int
    n_turns: int
    alpha: float
    exact: bool


def shape_of(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    n_flips: int = 2_000,
    wanted_step: float | None = None,
) -> Shape:
    """Tell a cliff from a slope, a knee, a lone bad turn, and from nothing.

    Each unit's curve is first freed of its own straight line, so that a decline, however steep and
    however different from unit to unit, is no step. The largest |t| of the units' own steps, kinks
    and lone turns over all turns is tested by flipping the signs of whole units, in one family:
    the chance that straight lines are called anything else is `alpha`. Of the forms that pass, the
    one that takes away most of the common misfit is chosen; forms within 2 units of BIC are
    ambiguous. The turns at which it may be are those whose fit is as near to the best as the best
    one's own is in resamples of the units' residuals with random signs.

    Adding a constant to all values changes nothing but the level; a factor scales sizes alone.

    Args:
        values: One curve an independent unit (a scenario, or a run); shape (n_units, n_turns), NaN
            where a unit has no value.
        rng: Source of random flips.
        alpha: Level of each test.
        n_flips: Flips drawn where there are too many units to try all.
        wanted_step: A step of this size must be visible for "flat" and "slope" to be said;
            otherwise the verdict is "underpowered". So it is, too, where no step could be found at
            all: fewer than 6 units cannot give a p below .05.

    Raises:
        NotEnoughDataError: Fewer than 3 units, or 6 turns, that have a value.

    References:
        Andrews (1993), Econometrica 61:821-856 (largest statistic over positions); Westfall &
        Young (1993), Resampling-Based Multiple Testing; Siegmund (1988), International Statistical
        Review 56:31-48 (confidence sets for a change point by likelihood).
    """
    y = np.atleast_2d(np.asarray(values, dtype=np.float64))
    y = y[(~np.isnan(y)).sum(axis=1) >= MIN_TURNS]
    n_units, n_turns = y.shape
    if n_turns < MIN_TURNS:
        raise NotEnoughDataError("shape_of: turns", need=MIN_TURNS, got=n_turns)
    if n_units < MIN_UNITS:
        raise NotEnoughDataError(
            f"shape_of: units with {MIN_TURNS} turns", need=MIN_UNITS, got=n_units
        )
    forms: tuple[Form, ...] = (steps_at, kinks_at, lone_turns_at)
    places = {form: places_of(form, n_turns) for form in forms}
    tests = _Tests(y, places, rng=rng, alpha=alpha, n_flips=n_flips)
    step, kink, lone = (tests.best(form) for form in places)
    whole = slopes(y)
    verdict = _verdict(step.found, kink.found, lone.found, alpha)
    beside = freed_of(y, steps_at, step.found.turn)[1]
    if verdict == "cliff" and _passes(_p(beside), alpha):
        verdict = "cliff on a slope"
    if verdict == "flat" and _passes(_p(whole), alpha):
        verdict = "slope"
    visible = _visible_step(step.contrasts, tests.flips)
    if verdict in ("flat", "slope") and (visible is None or visible > (wanted_step or np.inf)):
        verdict = "underpowered"
    chosen = {"cliff": step, "cliff on a slope": step, "knee": kink}.get(verdict)
    slope = beside if chosen is step else whole
    if chosen is kink:
        slope = freed_of(y, kinks_at, kink.found.turn)[1]
    return Shape(
        verdict=verdict,
        turn=chosen.found.turn if chosen else lone.found.turn if verdict == "lone turn" else None,
        turns_confidence_set=() if chosen is None else tests.where(chosen),
        slope=mean_with_interval(slope, level=1 - alpha),
        slope_p=_p(slope),
        step=step.found,
        kink=kink.found,
        lone_turn=lone.found,
        smallest_visible_step=visible,
        n_units=n_units,
        n_turns=n_turns,
        alpha=alpha,
        exact=tests.flips.exact,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Best:
    """The best place of a form, with what it was chosen from."""

    form: Form
    found: Departure
    contrasts: Contrasts


class _Tests:
    """Tests of all forms at all their places on the same curves: one family of flips."""

    def __init__(
        self,
        y: FloatArray,
        places: dict[Form, IntArray],
        *,
        rng: np.random.Generator,
        alpha: float,
        n_flips: int,
    ) -> None:
        self._y, self._rng, self._alpha, self._n_flips = y, rng, alpha, n_flips
        self._found = {form: _usable(y, form, at) for form, at in places.items()}
        sizes = np.hstack([found.size for found in self._found.values()])
        self.flips = sign_flips(sizes, rng=rng, n_flips=n_flips, alpha=alpha)
        ends = np.cumsum([found.size.shape[1] for found in self._found.values()])
        self._p = dict(zip(places, np.split(self.flips.p_adjusted, ends[:-1]), strict=True))

    def best(self, form: Form) -> _Best:
        """The place where a form fits best, and how likely it is where no form is true."""
        found = self._found[form]
        at = int(np.argmax(found.explained))
        turn = int(found.position[at])
        smallest = np.fmin.reduce(self._p[form])
        departure = Departure(
            turn=turn,
            size=mean_with_interval(found.size[:, at], level=1 - self._alpha),
            p=None if np.isnan(smallest) else float(smallest),
            fit=float(found.explained[at] / self._noise(form, turn)),
        )
        return _Best(form=form, found=departure, contrasts=found)

    def _noise(self, form: Form, turn: int) -> float:
        """Variance of a turn about its unit's own line and departure, for correlated neighbours."""
        left, _ = freed_of(self._y, form, turn)
        df = max(int((~np.isnan(left)).sum()) - 3 * int((~np.isnan(left)).any(axis=1).sum()), 1)
        total = float(np.nansum(left**2))
        together = float(np.nansum(left[:, 1:] * left[:, :-1]))
        rho = min(max(together / total, 0.0), 0.95) if total > 0 else 0.0
        floor = np.finfo(np.float64).tiny + 1e-24 * float(np.nanmax(np.abs(self._y))) ** 2
        return max(total / df * (1 + rho) / (1 - rho), floor)

    def where(self, best: _Best) -> tuple[int, ...]:
        """Turns whose fit is as near to the best as that of the true turn may be."""
        left, _ = freed_of(self._y, best.form, best.found.turn)
        followed = ~np.isnan(left).all(axis=1)
        curves = np.where(np.isnan(left), np.nan, self._y)[followed]
        left = left[followed]
        steady, moving, weight = self._sums(curves - left, left, best)
        noise = self._noise(best.form, best.found.turn)
        signs = 1.0 - 2.0 * self._rng.integers(0, 2, size=(self._n_flips, len(left)))
        fits = (steady + signs @ moving) ** 2 / weight / noise
        at = int(np.searchsorted(best.contrasts.position, best.found.turn))
        behind = fits.max(axis=1) - fits[:, at]
        most = float(np.quantile(behind, 1 - self._alpha))
        own = best.contrasts.explained / noise
        near = own >= own[at] - most
        return tuple(int(turn) for turn in best.contrasts.position[near])

    @staticmethod
    def _sums(
        fitted: FloatArray, left: FloatArray, best: _Best
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the common size at each position sums: of the fit, of each unit's rest, weights."""
        positions = best.contrasts.position
        steady, weight = np.zeros(len(positions)), np.zeros(len(positions))
        moving = np.zeros((len(left), len(positions)))
        for units, turns in same_turns(left):
            own, norm = net_of_line(turns, best.form, positions)
            own = np.where(norm > 0, own, 0.0)
            spare = np.sqrt(len(turns) / (len(turns) - 3)) if len(turns) > 3 else 1.0
            steady += (fitted[np.ix_(units, turns - 1)] @ own).sum(axis=0)
            moving[units] = spare * (left[np.ix_(units, turns - 1)] @ own)
            weight += norm * len(units)
        return steady, moving, np.where(weight > 0, weight, np.inf)


def _usable(y: FloatArray, form: Form, positions: IntArray) -> Contrasts:
    found = often_followed(contrasts(y, form, positions))
    if not len(found.position):
        raise NotEnoughDataError("shape_of: turns with a value in 3 units", need=MIN_TURNS, got=0)
    return found


def _verdict(step: Departure, kink: Departure, lone: Departure, alpha: float) -> Verdict:
    """The form that fits best of those that pass, if it is clearly the best of all."""
    forms: dict[Verdict, Departure] = {"cliff": step, "knee": kink, "lone turn": lone}
    passed = [name for name, found in forms.items() if _passes(found.p, alpha)]
    if not passed:
        return "flat"
    first, *others = sorted(passed, key=lambda name: forms[name].fit, reverse=True)
    near = any(forms[first].fit - forms[name].fit < CLOSE for name in others)
    return "ambiguous" if near else first


def _passes(p: float | None, alpha: float) -> bool:
    return p is not None and p <= alpha


def _p(values: FloatArray) -> float | None:
    """Two-sided p of a t test that the mean of the units is 0."""
    mean = mean_with_interval(values)
    if mean.std_error is None or mean.df is None:
        return None
    return 2 * float(stdtr(mean.df, -abs(mean.value / mean.std_error)))


def _visible_step(found: Contrasts, flips: SignFlips) -> float | None:
    """The step that is found with a chance of 80 %, at the middle of the positions."""
    known = ~np.isnan(found.size)
    n = known.sum(axis=0)
    error = np.nanstd(found.size, axis=0, ddof=1) / np.sqrt(n)
    middle = len(error) // 2
    df = max(int(n[middle]) - 1, 1)
    visible = float(error[middle] * (flips.critical + stdtrit(df, POWER)))
    return visible if np.isfinite(visible) else None
