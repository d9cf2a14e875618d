"""Cohen's kappa: published values, a second opinion, what it reduces to, and its edges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from stats.known_ratings import RATINGS
from turncurve.errors import NotEnoughDataError
from turncurve.stats.agreement_weights import agreement_weights
from turncurve.stats.cohen_kappa import cohen_kappa, kappas
from turncurve.stats.confusion import confusion_counts

tables = arrays(np.float64, (3, 3), elements=st.integers(0, 30).map(float)).filter(
    lambda t: t.sum() > 1
)


def table_of_ratings() -> np.ndarray:
    return confusion_counts(RATINGS[:, 0], RATINGS[:, 1], n_categories=3)[0]


@pytest.mark.parametrize(
    ("weighting", "value"),
    [("identity", 0.693878), ("linear", 0.754098), ("quadratic", 0.823529)],
)
def test_values_of_scikit_learn(weighting: str, value: float) -> None:
    """The fixture's first two raters give scikit-learn's kappa, plain and weighted."""
    assert cohen_kappa(table_of_ratings(), weighting).value == pytest.approx(value, abs=5e-7)


def test_standard_error_of_statsmodels() -> None:
    """The fixture gives statsmodels' standard error."""
    assert cohen_kappa(table_of_ratings()).std_error == pytest.approx(0.158629, abs=5e-7)


@settings(deadline=None)
@given(tables, st.sampled_from(["identity", "linear", "quadratic"]))
def test_is_statsmodels(table: np.ndarray, weighting: str) -> None:
    """Value and standard error are those of statsmodels for any table."""
    from statsmodels.stats.inter_rater import cohens_kappa  # noqa: PLC0415 - slow to load

    ours = cohen_kappa(table, weighting)
    if ours.value is None:
        return
    weights = None if weighting == "identity" else 1 - agreement_weights(3, weighting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cohens_kappa(table, weights=weights)
    assert ours.value == pytest.approx(theirs.kappa, rel=1e-9, abs=1e-12)
    variance = theirs.var_kappa
    assert ours.std_error**2 == pytest.approx(max(variance, 0.0), rel=1e-6, abs=1e-12)


@given(tables, st.integers(2, 9))
def test_copies_change_the_error_alone(table: np.ndarray, times: int) -> None:
    """Each item counted several times leaves kappa and shrinks the variance by so much."""
    once, often = cohen_kappa(table), cohen_kappa(times * table)
    if once.value is None:
        assert often.value is None
        return
    assert often.value == pytest.approx(once.value, abs=1e-12)
    assert often.std_error**2 * times == pytest.approx(once.std_error**2, abs=1e-12)


@given(tables)
def test_many_at_once(table: np.ndarray) -> None:
    """A stack of tables gives each its own kappa, and swapping the raters changes none."""
    weights = agreement_weights(3, "linear")
    stack = kappas(np.stack([table, table.T, 2 * table]), weights)
    assert_allclose(stack, np.full(3, kappas(table, weights)), atol=1e-12)


def test_constant_rates_and_falling_kappa() -> None:
    """With sensitivity .80 and specificity .97 kappa falls from .797 to .475 with prevalence."""
    shares = np.array([0.35, 0.15, 0.05, 0.02])
    table = np.array(
        [[shares * 0.8, (1 - shares) * 0.03], [shares * 0.2, (1 - shares) * 0.97]]
    ).transpose(2, 0, 1)
    found = kappas(table, agreement_weights(2))
    assert_allclose(found[[0, -1]], [0.797, 0.475], atol=5e-4)
    assert (np.diff(found) < 0).all()


def test_one_category_has_no_kappa() -> None:
    """Where both use one category throughout, nothing is left to measure: no value, no error."""
    found = cohen_kappa([[0, 0], [0, 9]])
    assert (found.value, found.std_error) == (None, None)
    assert (found.observed, found.expected) == (1.0, 1.0)


def test_one_rater_without_variation_is_zero() -> None:
    """Where one rater never says the category that the other uses, kappa is 0, not absent."""
    assert cohen_kappa([[0, 0], [3, 7]]).value == pytest.approx(0.0)


def test_needs_two_items() -> None:
    """One shared item says nothing."""
    with pytest.raises(NotEnoughDataError, match="at least 2; got 1"):
        cohen_kappa([[1, 0], [0, 0]])


def test_weights_by_hand() -> None:
    """Neighbours of three categories have half the credit, or three quarters of it."""
    assert_allclose(agreement_weights(3, "linear"), [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    assert_allclose(agreement_weights(3, "quadratic")[0], [1, 0.75, 0])


def test_weights_need_two_categories() -> None:
    """One category has no distance."""
    with pytest.raises(ValueError, match="at least 2 categories"):
        agreement_weights(1)
