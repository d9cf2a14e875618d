"""Agreement among all raters at once, and of each with each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.agreement import ONE_CATEGORY, TOO_FEW, agreement_of
from turncurve.analysis.judgements import FAILING, VALIDITIES, Judgements
from turncurve.analysis.matching import rating_matrix
from turncurve.analysis.over_clusters import Resampling, Sized, estimate_over_runs
from turncurve.stats.agreement_weights import agreement_weights
from turncurve.stats.conger_kappa import conger_kappas, rater_counts
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.fleiss_kappa import fleiss_kappas
from turncurve.stats.gwet import gwet_acs
from turncurve.stats.krippendorff import Metric, coincidences, krippendorff_alphas
from turncurve.stats.rating_sums import category_counts, rating_sums

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

MOST_PAIRS = 45
"""Pairs of raters that are looked at one by one: those of ten raters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllRaters:
    """Agreement of all raters together; missing judgements are left out one by one.

    Attributes:
        raters: Their names, each after its set's.
        categories: What could be said of a turn.
        n_turns: Turns with two judgements or more.
        n_runs: Runs that they are of.
        alpha: Krippendorff's, nominal.
        alpha_ordinal: None for two categories.
        alpha_interval: None for two categories.
        ac1: Gwet's.
        ac2: Gwet's with quadratic weights; None for two categories.
        fleiss: Fleiss' kappa.
        conger: Conger's kappa, which is Cohen's for two raters.
    """

    raters: tuple[str, ...]
    categories: tuple[str, ...]
    n_turns: int
    n_runs: int
    alpha: Estimate
    alpha_ordinal: Estimate | None
    alpha_interval: Estimate | None
    ac1: Estimate
    ac2: Estimate | None
    fleiss: Estimate
    conger: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Agreement of two raters on fail against the rest."""

    raters: tuple[str, str]
    n_turns: int
    n_runs: int
    agreement: Estimate
    kappa: Estimate
    ac1: Estimate


def all_raters(sets: Sequence[Judgements], resampling: Resampling) -> tuple[AllRaters, ...]:
    """All raters of all sets together, on fail against the rest and on validity where all give it.

    Args:
        sets: Each rater's judgement of a turn once.
        resampling: How intervals are found.
    """
    run, ratings, names = rating_matrix(sets)
    found = [_together(run, _failing(ratings), names, FAILING, resampling)]
    if all(one.scale == "validity" for one in sets):
        found.append(_together(run, ratings, names, VALIDITIES, resampling))
    return tuple(found)


def pairs_of_raters(sets: Sequence[Judgements], resampling: Resampling) -> tuple[Pair, ...]:
    """Each rater with each, where there are three or more; at most `MOST_PAIRS` pairs."""
    run, ratings, names = rating_matrix(sets)
    if len(names) < 3:
        return ()
    fails = _failing(ratings)
    pairs = list(combinations(range(len(names)), 2))[:MOST_PAIRS]
    return tuple(_pair(run, fails, names, pair, resampling) for pair in pairs)


def _failing(ratings: IntArray) -> IntArray:
    return np.where(ratings > 0, 1, ratings)


def _pair(
    run: IntArray,
    fails: IntArray,
    names: Sequence[str],
    pair: tuple[int, int],
    resampling: Resampling,
) -> Pair:
    a, b = pair
    both = (fails[:, a] >= 0) & (fails[:, b] >= 0)
    found = agreement_of(run[both], fails[both, a], fails[both, b], FAILING, resampling)
    return Pair(
        raters=(names[a], names[b]),
        n_turns=found.n_turns,
        n_runs=found.n_runs,
        agreement=found.agreement,
        kappa=found.kappa,
        ac1=found.ac1,
    )


class _Layout:
    """Where each coefficient finds its sums among the cells that a run adds."""

    def __init__(self, n_raters: int, n_categories: int) -> None:
        self._q, self._raters = n_categories, n_raters
        self._plain = 3 + n_categories
        self._habits = n_raters * n_categories
        self.identity = agreement_weights(n_categories)
        self.quadratic = agreement_weights(n_categories, "quadratic")

    def cells(self, ratings: IntArray) -> FloatArray:
        """What each item adds; shape (n_items, n_cells)."""
        counts = category_counts(ratings, self._q)
        parts = (
            rating_sums(counts, self.identity),
            rating_sums(counts, self.quadratic),
            rater_counts(ratings, self._q).reshape(len(ratings), -1),
            coincidences(counts).reshape(len(ratings), -1),
        )
        return np.concatenate(parts, axis=1)

    def ac(self, sums: FloatArray) -> FloatArray:
        return gwet_acs(sums[..., : self._plain], self.identity)

    def ac_quadratic(self, sums: FloatArray) -> FloatArray:
        return gwet_acs(sums[..., self._plain : 2 * self._plain], self.quadratic)

    def fleiss(self, sums: FloatArray) -> FloatArray:
        return fleiss_kappas(sums[..., : self._plain], self.identity)

    def conger(self, sums: FloatArray) -> FloatArray:
        start = 2 * self._plain
        habits = sums[..., start : start + self._habits]
        shaped = habits.reshape(*sums.shape[:-1], self._raters, self._q)
        return conger_kappas(sums[..., : self._plain], shaped, self.identity)

    def alpha(self, metric: Metric) -> Callable[[FloatArray], FloatArray]:
        start = 2 * self._plain + self._habits

        def of(sums: FloatArray) -> FloatArray:
            pairs = sums[..., start:].reshape(*sums.shape[:-1], self._q, self._q)
            return krippendorff_alphas(pairs, metric)

        return of


def _together(
    run: IntArray,
    ratings: IntArray,
    names: tuple[str, ...],
    categories: tuple[str, ...],
    resampling: Resampling,
) -> AllRaters:
    several_judged = (ratings >= 0).sum(axis=1) >= 2
    run, ratings = run[several_judged], ratings[several_judged]
    layout = _Layout(len(names), len(categories))
    entries: dict[str, tuple[str, Callable[[FloatArray], FloatArray], str]] = {
        "alpha": ("Krippendorff's alpha, nominal", layout.alpha("nominal"), ONE_CATEGORY),
        "alpha_ordinal": ("Krippendorff's alpha, ordinal", layout.alpha("ordinal"), ONE_CATEGORY),
        "alpha_interval": (
            "Krippendorff's alpha, interval",
            layout.alpha("interval"),
            ONE_CATEGORY,
        ),
        "ac1": ("Gwet's AC1", layout.ac, TOO_FEW),
        "ac2": ("Gwet's AC2, quadratic weights", layout.ac_quadratic, TOO_FEW),
        "fleiss": ("Fleiss' kappa", layout.fleiss, ONE_CATEGORY),
        "conger": ("Conger's kappa", layout.conger, ONE_CATEGORY),
    }
    n_turns, n_runs = len(run), len(np.unique(run))
    found: dict[str, Estimate] = {}
    if n_turns < 2:
        for name, (estimand, _, _) in entries.items():
            found[name] = absent(estimand, TOO_FEW, level=resampling.level)
    else:
        clusters, cluster = np.unique(run, return_inverse=True)
        cells = layout.cells(ratings)
        sums = np.zeros((len(clusters), cells.shape[1]))
        np.add.at(sums, cluster.ravel(), cells)
        sized = {
            name: (Sized(estimand=estimand, n_turns=n_turns, n_runs=n_runs), statistic, why)
            for name, (estimand, statistic, why) in entries.items()
        }
        found = estimate_over_runs(sums, sized, resampling)
    several = found if len(categories) > 2 else {}
    return AllRaters(
        raters=names,
        categories=categories,
        n_turns=n_turns,
        n_runs=n_runs,
        alpha=found["alpha"],
        alpha_ordinal=several.get("alpha_ordinal"),
        alpha_interval=several.get("alpha_interval"),
        ac1=found["ac1"],
        ac2=several.get("ac2"),
        fleiss=found["fleiss"],
        conger=found["conger"],
    )
