"""AC1 and AC2, Fleiss' and Conger's kappa, Krippendorff's alpha: any raters, some missing."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from stats.known_ratings import ANSWERS, MADE_UP, RATINGS
from turncurve.errors import NotEnoughDataError
from turncurve.stats.agreement_weights import agreement_weights
from turncurve.stats.cohen_kappa import kappas
from turncurve.stats.confusion import confusion_counts
from turncurve.stats.conger_kappa import conger_kappas, rater_counts
from turncurve.stats.fleiss_kappa import fleiss_kappas
from turncurve.stats.gwet import gwet_ac, gwet_acs
from turncurve.stats.krippendorff import coincidences, krippendorff_alphas
from turncurve.stats.rating_sums import category_counts, pair_sums, rating_sums

WEIGHTINGS = ("identity", "linear", "quadratic")
METRICS = ("nominal", "ordinal", "interval")
some_ratings = arrays(
    np.int64, st.tuples(st.integers(2, 12), st.integers(2, 4)), elements=st.integers(-1, 3)
)


def sums_of(ratings: np.ndarray, q: int, weighting: str = "identity") -> np.ndarray:
    return rating_sums(category_counts(ratings, q), agreement_weights(q, weighting)).sum(axis=0)


def alpha(ratings: np.ndarray, q: int, metric: str) -> float:
    pairs = coincidences(category_counts(ratings, q)).sum(axis=0)
    return float(krippendorff_alphas(pairs, metric))


def conger(ratings: np.ndarray, q: int, weighting: str = "identity") -> float:
    habits = rater_counts(ratings, q).sum(axis=0)
    weights = agreement_weights(q, weighting)
    return float(conger_kappas(sums_of(ratings, q, weighting), habits, weights))


def fleiss(ratings: np.ndarray, q: int, weighting: str = "identity") -> float:
    return float(fleiss_kappas(sums_of(ratings, q, weighting), agreement_weights(q, weighting)))


class TestPublished:
    def test_gwet(self) -> None:
        """AC1 .60382 (.13082) and quadratic AC2 .71113 (.13884), as irrCAC prints them."""
        ac1, ac2 = gwet_ac(RATINGS, 3), gwet_ac(RATINGS, 3, "quadratic")
        assert (ac1.value, ac1.std_error) == pytest.approx((0.60382, 0.13082), abs=5e-6)
        assert (ac2.value, ac2.std_error) == pytest.approx((0.71113, 0.13884), abs=5e-6)

    def test_fleiss_and_conger(self) -> None:
        """Fleiss .59215 and Conger .59538, as irrCAC prints them."""
        assert fleiss(RATINGS, 3) == pytest.approx(0.59215, abs=5e-6)
        assert conger(RATINGS, 3) == pytest.approx(0.59538, abs=5e-6)

    def test_alpha(self) -> None:
        """Alpha .59434, .663593 and .660526, as krippendorff prints them."""
        found = [alpha(RATINGS, 3, metric) for metric in METRICS]
        assert found == pytest.approx([0.59434, 0.663593, 0.660526], abs=1e-6)

    def test_krippendorffs_own_example(self) -> None:
        """Krippendorff (2011), example C: alpha .743, .815 and .849 with missing ratings."""
        given = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ]
        ratings = np.array(given).T - 1
        found = [alpha(ratings, 5, metric) for metric in METRICS]
        assert found == pytest.approx([0.743, 0.815, 0.849], abs=5e-4)


class TestOtherPrograms:
    @pytest.mark.parametrize("weighting", WEIGHTINGS)
    def test_irrcac(self, weighting: str) -> None:
        """All three coefficients of made-up ratings, a fifth missing, are irrCAC's."""
        value, std_error = ANSWERS[f"gwet {weighting}"]
        ours = gwet_ac(MADE_UP, 4, weighting)
        assert (ours.value, ours.std_error) == pytest.approx((value, std_error), abs=1e-7)
        assert fleiss(MADE_UP, 4, weighting) == pytest.approx(
            ANSWERS[f"fleiss {weighting}"][0], abs=1e-7
        )
        assert conger(MADE_UP, 4, weighting) == pytest.approx(
            ANSWERS[f"conger {weighting}"][0], abs=1e-7
        )

    @pytest.mark.parametrize("metric", METRICS)
    def test_krippendorff(self, metric: str) -> None:
        """Alpha of the same ratings is that of the package krippendorff."""
        assert alpha(MADE_UP, 4, metric) == pytest.approx(ANSWERS[f"alpha {metric}"], rel=1e-9)

    @settings(deadline=None)
    @given(some_ratings, st.sampled_from(METRICS))
    def test_krippendorff_on_any_ratings(self, ratings: np.ndarray, metric: str) -> None:
        """Alpha is that of the package krippendorff for any ratings that have one."""
        theirs = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
        ours = alpha(ratings, 4, metric)
        if np.isnan(ours):
            return
        data = np.where(ratings < 0, np.nan, ratings.astype(float)).T
        wanted = theirs.alpha(data, level_of_measurement=metric, value_domain=[0, 1, 2, 3])
        assert ours == pytest.approx(wanted, rel=1e-9, abs=1e-12)

    @settings(deadline=None)
    @given(arrays(np.int64, (9, 3), elements=st.integers(0, 2)))
    def test_fleiss_is_statsmodels(self, ratings: np.ndarray) -> None:
        """Fleiss' kappa without missing ratings is statsmodels'."""
        from statsmodels.stats.inter_rater import fleiss_kappa  # noqa: PLC0415 - slow to load

        ours = fleiss(ratings, 3)
        if not np.isnan(ours):
            theirs = fleiss_kappa(category_counts(ratings, 3), method="fleiss")
            assert ours == pytest.approx(theirs, abs=1e-12)


class TestPlainPairs:
    @settings(deadline=None)
    @given(some_ratings)
    def test_alpha_is_a_loop_over_pairs(self, ratings: np.ndarray) -> None:
        """Nominal and interval alpha are those of a plain loop over pairs of values."""
        for metric, apart in (
            ("nominal", lambda a, b: a != b),
            ("interval", lambda a, b: (a - b) ** 2),
        ):
            values, observed = [], 0.0
            for row in ratings:
                known = row[row >= 0].tolist()
                if len(known) > 1:
                    values += known
                    pairs = permutations(known, 2)
                    observed += sum(apart(a, b) for a, b in pairs) / (len(known) - 1)
            n = len(values)
            expected = sum(apart(a, b) for a, b in permutations(values, 2))
            found = alpha(ratings, 4, metric)
            if not expected:
                assert np.isnan(found)
            else:
                assert found == pytest.approx(1 - (n - 1) * observed / expected, abs=1e-9)

    @given(arrays(np.float64, (4, 4), elements=st.integers(0, 9).map(float)))
    def test_two_raters_from_their_table(self, table: np.ndarray) -> None:
        """Sums from a confusion matrix are those from its items; Conger is Cohen's kappa."""
        pairs = [(i, j) for i in range(4) for j in range(4) for _ in range(int(table[i, j]))]
        if len(pairs) < 2:
            return
        ratings = np.array(pairs)
        weights = agreement_weights(4, "linear")
        assert_allclose(pair_sums(table, weights), sums_of(ratings, 4, "linear"), atol=1e-9)
        cells = coincidences(category_counts(ratings, 4)).sum(axis=0)
        assert_allclose(table + table.T, cells, atol=1e-9)
        counted = confusion_counts(ratings[:, 0], ratings[:, 1], n_categories=4)[0]
        assert_allclose(conger(ratings, 4, "linear"), kappas(counted, weights), atol=1e-9)


class TestEdges:
    def test_one_category(self) -> None:
        """All raters in one category: AC1 is 1, alpha and both kappas are undefined."""
        ratings = np.ones((5, 3), dtype=int)
        assert gwet_ac(ratings, 2).value == 1.0
        assert np.isnan(
            [alpha(ratings, 2, "nominal"), fleiss(ratings, 2), conger(ratings, 2)]
        ).all()

    def test_constant_rates_and_rising_ac1(self) -> None:
        """With sensitivity .80 and specificity .97 AC1 rises from .84 to .96 as errors get rare."""
        shares = np.array([0.35, 0.02])
        table = np.array(
            [[shares * 0.8, (1 - shares) * 0.03], [shares * 0.2, (1 - shares) * 0.97]]
        ).transpose(2, 0, 1)
        weights = agreement_weights(2)
        found = gwet_acs(pair_sums(table, weights), weights)
        assert found == pytest.approx([0.84, 0.96], abs=0.005)

    def test_a_rater_of_nothing(self) -> None:
        """A rater without a judgement changes no coefficient."""
        more = np.concatenate([RATINGS, np.full((len(RATINGS), 1), -1)], axis=1)
        assert conger(more, 3) == pytest.approx(conger(RATINGS, 3))
        assert fleiss(more, 3) == pytest.approx(fleiss(RATINGS, 3))
        assert gwet_ac(more, 3) == gwet_ac(RATINGS, 3)

    def test_too_few_items(self) -> None:
        """One item with two ratings is not enough, however many have one."""
        with pytest.raises(NotEnoughDataError, match="items with two ratings"):
            gwet_ac([[1, 1], [0, -1], [1, -1]], 2)

    def test_nothing_rated(self) -> None:
        """No item with two ratings: no coefficient."""
        ratings = np.array([[1, -1], [-1, 0]])
        values = [alpha(ratings, 2, "ordinal"), fleiss(ratings, 2), conger(ratings, 2)]
        assert np.isnan(values).all()

    def test_unknown_category(self) -> None:
        """A category beyond those that there are is refused."""
        with pytest.raises(ValueError, match="below 2, got 2"):
            category_counts([[0, 2]], 2)
