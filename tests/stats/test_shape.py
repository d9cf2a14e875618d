"""The shape of curves: what is called a cliff, where it is, and what is not called one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.errors import NotEnoughDataError
from turncurve.stats.shape import shape_of
from turncurve.stats.shape_contrasts import contrasts, freed_of, kinks_at, slopes, steps_at

CLIFFS = {"cliff", "cliff on a slope"}


def curves(
    rng: np.random.Generator,
    *,
    n: int = 36,
    n_turns: int = 12,
    slope: float = 0.0,
    step: float = 0.0,
    disagree: float = 0.0,
    kink: float = 0.0,
    lone: float = 0.0,
    at: int = 8,
) -> np.ndarray:
    """Curves of units with levels, slopes and noise of their own, and one departure at a turn."""
    turn = np.arange(1, n_turns + 1)
    own_step = step + disagree * rng.normal(size=(n, 1))
    return (
        3.5
        + rng.normal(0, 0.8, (n, 1))
        + (slope + rng.normal(0, 0.03, (n, 1))) * turn
        + own_step * (turn >= at)
        + kink * np.maximum(turn - at, 0)
        + lone * (turn == at)
        + rng.normal(0, 0.55, (n, n_turns))
    )


def verdicts(times: int, **truth: Any) -> tuple[Counter[str], list[Any]]:
    """What is said of so many data sets of one truth."""
    rng = np.random.default_rng(7)
    found = [
        shape_of(curves(rng, **truth), rng=np.random.default_rng(i), n_flips=299)
        for i in range(times)
    ]
    return Counter(one.verdict for one in found), found


@pytest.mark.parametrize("slope", [0.0, -0.06, -0.5])
def test_a_slope_is_no_cliff(slope: float) -> None:
    """However steep, straight lines are called anything else in about 5 % (200 data sets)."""
    said, _ = verdicts(200, slope=slope)
    n_other = 200 - said["flat"] - said["slope"]
    assert n_other <= 0.05 * 200 + 3 * np.sqrt(200 * 0.05 * 0.95)
    if slope:
        assert said["slope"] >= 170


def test_a_true_cliff_is_found_at_its_turn() -> None:
    """A step of -.5 on a slope of -.06 is a cliff in 9 of 10, and its turn is right in 9 of 10."""
    said, found = verdicts(100, slope=-0.06, step=-0.5)
    cliffs = [one for one in found if one.verdict in CLIFFS]
    assert len(cliffs) >= 85
    assert said["cliff on a slope"] > said["cliff"]
    assert sum(one.turn == 8 for one in cliffs) >= 0.9 * len(cliffs)
    assert sum(8 in one.turns_confidence_set for one in cliffs) >= 0.93 * len(cliffs)
    assert np.mean([one.step.size.value for one in cliffs]) == pytest.approx(-0.5, abs=0.06)
    covered = [one.step.size.low <= -0.5 <= one.step.size.high for one in found]
    assert np.mean(covered) >= 0.88
    assert np.mean([one.slope.value for one in cliffs]) == pytest.approx(-0.06, abs=0.02)


def test_units_that_disagree_on_the_step_do_not_blur_its_turn() -> None:
    """Steps of -.66 give or take .55 between units: still a cliff at 8, not a knee."""
    said, found = verdicts(60, step=-0.66, disagree=0.55, n=40)
    assert sum(said[name] for name in CLIFFS) >= 54
    assert np.mean([one.turn == 8 for one in found if one.verdict in CLIFFS]) >= 0.9


def test_a_small_step_has_more_than_one_place() -> None:
    """Where the turn is hard to tell the set is wide, and still holds it in 93 %."""
    _, found = verdicts(250, step=-0.33, n=30)
    sets = [one.turns_confidence_set for one in found if one.verdict in CLIFFS]
    assert len(sets) > 60
    assert np.mean([8 in each for each in sets]) >= 0.93 - 3 * np.sqrt(0.05 * 0.95 / len(sets))
    assert np.mean([len(each) for each in sets]) > 1.2


def test_a_knee_is_a_knee() -> None:
    """Flat to turn 6, then -.25 a turn: a knee, with the slope before it."""
    said, found = verdicts(60, kink=-0.25, at=6)
    assert said["knee"] >= 54
    knees = [one for one in found if one.verdict == "knee"]
    assert np.mean([6 in one.turns_confidence_set for one in knees]) >= 0.88
    assert np.mean([one.slope.value for one in knees]) == pytest.approx(0, abs=0.03)
    assert np.mean([one.kink.size.value for one in knees]) == pytest.approx(-0.25, abs=0.03)


@pytest.mark.parametrize("at", [1, 5, 12])
def test_a_lone_bad_turn_is_no_cliff(at: int) -> None:
    """One turn that is .9 lower, at either end or within, is called that."""
    said, found = verdicts(30, lone=-0.9, at=at)
    assert said["lone turn"] >= 28
    assert {one.turn for one in found if one.verdict == "lone turn"} == {at}


def test_many_turns() -> None:
    """60 turns: the false alarms stay at 5 %, a step of -.5 at turn 40 is found."""
    said, _ = verdicts(100, n_turns=60, slope=-0.01, n=20)
    assert 100 - said["flat"] - said["slope"] <= 5 + 3 * np.sqrt(5 * 0.95)
    said, found = verdicts(20, n_turns=60, step=-0.5, at=40, n=20)
    assert sum(said[name] for name in CLIFFS) >= 18
    assert np.mean([abs(one.turn - 40) <= 1 for one in found if one.verdict in CLIFFS]) >= 0.9


def test_runs_of_different_length() -> None:
    """Units that end early take part as far as they go; composition is no cliff."""
    rng = np.random.default_rng(3)
    n_other = n_found = 0
    for _ in range(40):
        y = curves(rng, n=50)
        easy = np.argsort(-y[:, :3].mean(axis=1))[:25]
        y[easy, 8:] = np.nan  # the better half ends after turn 8: the mean curve falls there
        n_other += shape_of(y, rng=rng, n_flips=199).verdict not in ("flat", "slope")
        y[:, 6:] -= 0.8
        n_found += shape_of(y, rng=rng, n_flips=199).turn == 7
    assert n_other <= 6
    assert n_found >= 36


def test_few_units_are_told_to_be_few() -> None:
    """With 5 units no flips give a p below .0625: nothing can be found, however large."""
    rng = np.random.default_rng(0)
    said = shape_of(curves(rng, n=5, step=-9), rng=rng)
    assert said.verdict == "underpowered"
    assert said.exact
    assert said.step.p == pytest.approx(1 / 16)
    assert said.smallest_visible_step is None


def test_a_step_that_could_not_be_seen() -> None:
    """ "Flat" is only said where the wanted step would have been found."""
    y = curves(np.random.default_rng(1), n=12)
    free = shape_of(y, rng=np.random.default_rng(0))
    assert free.verdict == "flat"
    assert free.smallest_visible_step > 0.3
    small = shape_of(y, rng=np.random.default_rng(0), wanted_step=0.1)
    large = shape_of(y, rng=np.random.default_rng(0), wanted_step=5)
    assert (small.verdict, large.verdict) == ("underpowered", "flat")


def test_the_visible_step_is_found_in_four_of_five() -> None:
    """A step of the size that is said to be visible passes its test in 80 %, give or take."""
    rng = np.random.default_rng(5)
    visible = np.median(
        [shape_of(curves(rng, n=24), rng=rng, n_flips=199).smallest_visible_step for _ in range(30)]
    )
    found = [
        shape_of(curves(rng, n=24, step=-visible, at=7), rng=rng, n_flips=199).step.p <= 0.05
        for _ in range(150)
    ]
    assert 0.68 <= np.mean(found) <= 0.92


@given(st.floats(-1e3, 1e3), st.sampled_from([0.01, 0.25, 25.0, 1e6]), st.integers(0, 50))
@settings(deadline=None, max_examples=25)
def test_invariance(constant: float, factor: float, seed: int) -> None:
    """A constant changes no step; a factor scales sizes and leaves p, turns and verdict."""
    y = curves(np.random.default_rng(seed), n=10, step=-0.6)
    plain = shape_of(y, rng=np.random.default_rng(0), n_flips=99)
    other = shape_of(factor * (y + constant), rng=np.random.default_rng(0), n_flips=99)
    assert (other.verdict, other.turn) == (plain.verdict, plain.turn)
    assert other.turns_confidence_set == plain.turns_confidence_set
    assert other.step.p == plain.step.p
    assert other.step.size.value == pytest.approx(factor * plain.step.size.value, rel=1e-6)
    assert other.slope.value == pytest.approx(factor * plain.slope.value, rel=1e-5, abs=1e-9)


def test_contrasts_by_hand() -> None:
    """A clean step of -2 at turn 4 is -2 there, whatever line lies under it."""
    turn = np.arange(1, 9)
    y = np.stack([5 - 0.3 * turn - 2.0 * (turn >= 4), 1 + 0.7 * turn - 2.0 * (turn >= 4)])
    found = contrasts(y, steps_at, np.arange(3, 8))
    assert found.size[:, 1] == pytest.approx([-2, -2])
    assert found.common[1] == pytest.approx(-2)
    assert np.argmax(found.explained) == 1
    left, slope = freed_of(y, steps_at, 4)
    assert np.abs(left).max() < 1e-12
    assert slope == pytest.approx([-0.3, 0.7])
    assert slopes(y[:, :3]) == pytest.approx([-0.3, 0.7])


def test_contrasts_agree_with_least_squares() -> None:
    """Each size is the coefficient of the form in a regression on a line and the form."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=(3, 9))
    y[1, [2, 5]] = np.nan
    for form in (steps_at, kinks_at):
        sizes = contrasts(y, form, np.array([4, 5])).size
        for unit, curve in enumerate(y):
            turn = np.flatnonzero(~np.isnan(curve)) + 1
            for column, position in enumerate((4, 5)):
                model = np.column_stack(
                    [np.ones(len(turn)), turn, form(turn, np.array([position]))]
                )
                fit = np.linalg.lstsq(model, curve[turn - 1], rcond=None)[0]
                assert sizes[unit, column] == pytest.approx(fit[2])


@pytest.mark.parametrize(
    "values", [np.zeros((2, 12)), np.zeros((9, 5)), np.full((9, 12), np.nan), np.zeros((0, 12))]
)
def test_too_little(values: np.ndarray) -> None:
    """Fewer than 3 units or 6 turns are refused."""
    with pytest.raises(NotEnoughDataError):
        shape_of(values, rng=np.random.default_rng(0))


def test_curves_without_noise() -> None:
    """Units that are all alike have no spread: nothing is tested, nothing warns."""
    y = np.tile(np.linspace(4, 3, 12), (8, 1))
    assert shape_of(y, rng=np.random.default_rng(0)).verdict in ("flat", "underpowered")
    level = shape_of(np.ones((8, 12)), rng=np.random.default_rng(0))
    assert level.step.size.value == pytest.approx(0, abs=1e-12)


def test_a_step_needs_two_turns_on_either_side() -> None:
    """What differs in one turn alone, the first or the last, is no level."""
    sizes = contrasts(np.random.default_rng(0).normal(size=(4, 8)), steps_at, np.arange(1, 9)).size
    assert np.isnan(sizes).all(axis=0).tolist() == [True, True, *[False] * 5, True]


def test_a_ramp_is_ambiguous() -> None:
    """A fall over three turns is a step to some and two kinks to others: often neither is said."""
    rng = np.random.default_rng(4)
    said = Counter[str]()
    for _ in range(60):
        y = curves(rng, n=20) - 0.35 * np.clip(np.arange(1, 13) - 5, 0, 3)
        said[shape_of(y, rng=rng, n_flips=199).verdict] += 1
    assert said["ambiguous"] >= 3


def test_noise_that_lasts_explains_no_form() -> None:
    """Neighbouring turns that are alike make the fit of any form look better: it is drawn back."""
    rng = np.random.default_rng(6)
    fits = {}
    for lasting in (0.0, 0.7):
        noise = rng.normal(size=(80, 20, 24))
        for turn in range(1, 24):
            noise[:, :, turn] += lasting * noise[:, :, turn - 1]
        found = [shape_of(y, rng=rng, n_flips=19).step.fit for y in noise]
        fits[lasting] = np.median(found)
    assert fits[0.7] < 1.6 * fits[0.0]
