"""How far a grader and a reference agree, by every coefficient that is needed to read another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.over_clusters import (
    Resampling,
    Sized,
    estimate_over_runs,
    share_over_runs,
)
from turncurve.stats.agreement_weights import Weighting, agreement_weights
from turncurve.stats.cohen_kappa import kappas
from turncurve.stats.confusion import (
    bias_index,
    confusion_counts,
    observed_agreement,
    pabak,
    prevalence_index,
)
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.gwet import gwet_acs
from turncurve.stats.krippendorff import Metric, krippendorff_alphas
from turncurve.stats.rating_sums import pair_sums

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Statistic: TypeAlias = Callable[[FloatArray], FloatArray]

TOO_FEW = "fewer than 2 turns that both judged"
ONE_CATEGORY = "both use one and the same category throughout, so chance alone agrees in everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAgreement:
    """How one category fares.

    Attributes:
        sensitivity: Of the turns that the reference puts in it, the share that the grader does too.
        specificity: Of the turns that the reference puts elsewhere, the share that the grader does
            too.
        prevalence: Share of turns that the reference puts in it.
        graded_rate: Share of turns that the grader puts in it.
        prevalence_index: Share that both put in it less the share that both put elsewhere.
        bias_index: `graded_rate` less `prevalence`.
    """

    sensitivity: Estimate
    specificity: Estimate
    prevalence: Estimate
    graded_rate: Estimate
    prevalence_index: Estimate
    bias_index: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of a grader with a reference over turns that both judged.

    Attributes:
        n_turns: Turns compared.
        n_runs: Runs that they are of.
        categories: What could be said of a turn.
        confusion: Turns by the grader's category (rows) and the reference's (columns).
        agreement: Share of turns in the same category.
        kappa: Cohen's.
        kappa_linear: Weighted by distance; None for two categories, where it is `kappa`.
        kappa_quadratic: Weighted by squared distance; None for two categories.
        ac1: Gwet's.
        ac2: Gwet's with quadratic weights; None for two categories.
        alpha: Krippendorff's, nominal.
        alpha_ordinal: None for two categories, where it is `alpha`.
        alpha_interval: None for two categories.
        pabak: Kappa adjusted for prevalence and bias.
        classes: By category.
    """

    n_turns: int
    n_runs: int
    categories: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    agreement: Estimate
    kappa: Estimate
    kappa_linear: Estimate | None
    kappa_quadratic: Estimate | None
    ac1: Estimate
    ac2: Estimate | None
    alpha: Estimate
    alpha_ordinal: Estimate | None
    alpha_interval: Estimate | None
    pabak: Estimate
    classes: Mapping[str, ClassAgreement]


def agreement_of(
    run: IntArray,
    graded: IntArray,
    reference: IntArray,
    categories: Sequence[str],
    resampling: Resampling,
) -> Agreement:
    """Every coefficient of agreement, each with an interval over runs.

    Args:
        run: Which run each turn is of; shape (n_turns,).
        graded: The grader's category, 0 to n - 1; shape (n_turns,).
        reference: The reference's.
        categories: Names of the n categories, in order.
        resampling: How intervals are found.
    """
    clusters, cluster = np.unique(run, return_inverse=True)
    tables = confusion_counts(
        graded,
        reference,
        n_categories=len(categories),
        cluster=cluster.ravel(),
        n_clusters=len(clusters),
    )
    n_turns, n_runs = len(run), len(clusters)
    found = _coefficients(tables, n_turns, n_runs, resampling)
    total = tables.sum(axis=0)
    several = found if len(categories) > 2 else {}
    # Two categories have no distance to weigh by.
    named = categories if len(categories) > 2 else categories[:1]
    return Agreement(
        n_turns=n_turns,
        n_runs=n_runs,
        categories=tuple(categories),
        confusion=tuple(tuple(int(cell) for cell in row) for row in total),
        agreement=_agreed(tables, n_turns, n_runs, resampling),
        kappa=found["kappa"],
        kappa_linear=several.get("kappa_linear"),
        kappa_quadratic=several.get("kappa_quadratic"),
        ac1=found["ac1"],
        ac2=several.get("ac2"),
        alpha=found["alpha"],
        alpha_ordinal=several.get("alpha_ordinal"),
        alpha_interval=several.get("alpha_interval"),
        pabak=found["pabak"],
        classes={
            name: _class_agreement(tables, number, name, resampling)
            for number, name in enumerate(named)
        },
    )


def _coefficients(
    tables: FloatArray, n_turns: int, n_runs: int, resampling: Resampling
) -> dict[str, Estimate]:
    q = tables.shape[-1]
    weighted: dict[str, tuple[str, Statistic, str]] = {
        "kappa": ("Cohen's kappa", _kappa(q, "identity"), ONE_CATEGORY),
        "kappa_linear": ("Cohen's kappa, linear weights", _kappa(q, "linear"), ONE_CATEGORY),
        "kappa_quadratic": (
            "Cohen's kappa, quadratic weights",
            _kappa(q, "quadratic"),
            ONE_CATEGORY,
        ),
        "ac1": ("Gwet's AC1", _ac(q, "identity"), TOO_FEW),
        "ac2": ("Gwet's AC2, quadratic weights", _ac(q, "quadratic"), TOO_FEW),
        "alpha": ("Krippendorff's alpha, nominal", _alpha("nominal"), ONE_CATEGORY),
        "alpha_ordinal": ("Krippendorff's alpha, ordinal", _alpha("ordinal"), ONE_CATEGORY),
        "alpha_interval": ("Krippendorff's alpha, interval", _alpha("interval"), ONE_CATEGORY),
        "pabak": ("kappa adjusted for prevalence and bias (PABAK)", pabak, TOO_FEW),
    }
    if n_turns < 2:
        return {
            name: absent(estimand, TOO_FEW, level=resampling.level)
            for name, (estimand, _, _) in weighted.items()
        }
    sized = {
        name: (Sized(estimand=estimand, n_turns=n_turns, n_runs=n_runs), statistic, why)
        for name, (estimand, statistic, why) in weighted.items()
    }
    return estimate_over_runs(tables, sized, resampling)


def _kappa(q: int, weighting: Weighting) -> Statistic:
    return partial(kappas, weights=agreement_weights(q, weighting))


def _ac(q: int, weighting: Weighting) -> Statistic:
    weights = agreement_weights(q, weighting)
    return lambda table: gwet_acs(pair_sums(table, weights), weights)


def _alpha(metric: Metric) -> Statistic:
    return lambda table: krippendorff_alphas(table + np.swapaxes(table, -1, -2), metric)


def _agreed(tables: FloatArray, n_turns: int, n_runs: int, resampling: Resampling) -> Estimate:
    estimand = "share of turns in the same category"
    if n_turns < 2:
        return absent(estimand, TOO_FEW, level=resampling.level)
    sized = Sized(estimand=estimand, n_turns=n_turns, n_runs=n_runs, lowest=0.0)
    whole = tables.sum(axis=(1, 2))
    return share_over_runs(sized, observed_agreement(tables) * whole, whole, TOO_FEW, resampling)


def _class_agreement(
    tables: FloatArray, number: int, name: str, resampling: Resampling
) -> ClassAgreement:
    hits = tables[:, number, number]
    graded, labelled = tables[:, number, :].sum(axis=1), tables[:, :, number].sum(axis=1)
    total = tables.sum(axis=(1, 2))
    n_turns, n_runs = int(total.sum()), len(tables)
    few = n_turns < 2

    def of_turns(estimand: str, part: FloatArray, whole: FloatArray, why: str) -> Estimate:
        if few:
            return absent(estimand, TOO_FEW, level=resampling.level)
        sized = Sized(
            estimand=estimand,
            n_turns=int(whole.sum()),
            n_runs=int((whole > 0).sum()),
            lowest=0.0,
        )
        return share_over_runs(sized, part, whole, why, resampling)

    def index(estimand: str, statistic: Callable[[FloatArray, int], FloatArray]) -> Estimate:
        if few:
            return absent(estimand, TOO_FEW, level=resampling.level)
        sized = Sized(estimand=estimand, n_turns=n_turns, n_runs=n_runs)
        entry = (sized, lambda table: statistic(table, number), TOO_FEW)
        return estimate_over_runs(tables, {"index": entry}, resampling)["index"]

    return ClassAgreement(
        sensitivity=of_turns(
            f"share graded {name!r} of turns labelled {name!r}",
            hits,
            labelled,
            f"no turn is labelled {name!r}",
        ),
        specificity=of_turns(
            f"share not graded {name!r} of turns not labelled {name!r}",
            total - graded - labelled + hits,
            total - labelled,
            f"every turn is labelled {name!r}",
        ),
        prevalence=of_turns(f"share of turns labelled {name!r}", labelled, total, TOO_FEW),
        graded_rate=of_turns(f"share of turns graded {name!r}", graded, total, TOO_FEW),
        prevalence_index=index(
            f"share that both call {name!r} less the share that neither does", prevalence_index
        ),
        bias_index=index(f"share of turns graded {name!r} less the share labelled so", bias_index),
    )
