"""The same grader on the same turns again: unchanged, and with a change that should not matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.agreement import Agreement, agreement_of
from turncurve.analysis.breakdowns import fail_agreement
from turncurve.analysis.judgements import VALIDITIES, Judgements
from turncurve.analysis.matching import Matched, match
from turncurve.analysis.over_clusters import (
    Resampling,
    Sized,
    estimate_over_runs,
    share_over_runs,
)
from turncurve.analysis.position_effect import Verdict
from turncurve.stats.confusion import share
from turncurve.stats.estimate import Estimate, absent

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]

FLIPPED = "share of turns that one grading calls failing and the other does not"
SHIFT = "share of turns called failing in the other grading, less the share in GRADES"
EXCESS = "share of turns flipped by the variant, less the share flipped by grading again"
NO_RETEST = "there is no retest to hold it against"


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrade:
    """A second grading of the same turns against the first.

    Attributes:
        name: What the second grading is called.
        grader: Whose it is.
        agreement: On fail against the rest; the second grading stands where the labels do.
        validity: On the three validities; None where one side has marks of errors alone.
        flipped: Share of turns judged failing by one of the two gradings only.
        shift: How much more often the second calls a turn failing.
        excluded: Reason to number of turns that are not compared.
    """

    name: str
    grader: str
    agreement: Agreement
    validity: Agreement | None
    flipped: Estimate
    shift: Estimate
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A grading with something changed that should change nothing.

    Attributes:
        regrade: Against the grading without the change.
        excess: Share of turns it flips less the share that grading again flips, over turns that all
            three judged.
        shift: How much more often it calls a turn failing, at the level of `excess`.
        verdict: "finding" where it flips more turns than grading again does, or shifts the share of
            failing turns; "clean" where neither can be by more than `margin`; else "inconclusive".
        margin: Largest change that counts as none.
    """

    regrade: Regrade
    excess: Estimate
    shift: Estimate
    verdict: Verdict
    margin: float


def regrade(name: str, first: Judgements, second: Judgements, resampling: Resampling) -> Regrade:
    """Compare two gradings, each by one grader.

    Args:
        name: What the second is called.
        first: The grading that is in question.
        second: The other one.
        resampling: How intervals are found.
    """
    matched = match(first, second)
    validity = None
    if first.scale == second.scale == "validity":
        validity = agreement_of(
            matched.cluster, matched.graded, matched.reference, VALIDITIES, resampling
        )
    cells = _cells(matched)
    return Regrade(
        name=name,
        grader=", ".join(second.raters),
        agreement=fail_agreement(matched, resampling),
        validity=validity,
        flipped=_share(FLIPPED, cells[:, 1], cells[:, 0], resampling),
        shift=_difference(SHIFT, cells[:, 3] - cells[:, 2], cells[:, 0], resampling),
        excluded=matched.excluded,
    )


def variant(
    name: str,
    first: Judgements,
    changed: Judgements,
    retest: Judgements | None,
    *,
    margin: float,
    resampling: Resampling,
    shared: Resampling,
) -> Variant:
    """Hold a changed grading against the grader's own noise.

    Args:
        name: What was changed.
        first: The grading without the change.
        changed: The grading with it.
        retest: The grading without it, done again.
        margin: Change that does not matter.
        resampling: How the intervals of the agreement are found.
        shared: The same at the level that makes up for looking at several variants.
    """
    found = regrade(name, first, changed, resampling)
    cells = _cells(match(first, changed))
    shift = _difference(SHIFT, cells[:, 3] - cells[:, 2], cells[:, 0], shared)
    excess = absent(EXCESS, NO_RETEST, level=shared.level)
    if retest is not None:
        excess = _excess(match(first, changed), match(first, retest), shared)
    return Variant(
        regrade=found,
        excess=excess,
        shift=shift,
        verdict=_verdict(found.flipped, excess, shift, margin),
        margin=margin,
    )


def _verdict(flipped: Estimate, excess: Estimate, shift: Estimate, margin: float) -> Verdict:
    if shift.low is not None and shift.high is not None and not shift.low <= 0 <= shift.high:
        return "finding"
    if excess.low is not None and excess.low > 0:
        return "finding"
    # Where no turn differs there is no spread; then the limit on flips bounds all of it.
    most = flipped.high if flipped.value == 0.0 else None
    ends = (shift.low, shift.high, excess.high)
    known = [most if end is None else end for end in ends]
    within = all(end is not None and abs(end) <= margin for end in known)
    return "clean" if within else "inconclusive"


def _excess(changed: Matched, again: Matched, resampling: Resampling) -> Estimate:
    _, a, b = np.intersect1d(changed.key, again.key, assume_unique=True, return_indices=True)
    run = changed.cluster[a]
    flips = (_flips(changed)[a].astype(np.float64), _flips(again)[b].astype(np.float64))
    clusters, cluster = np.unique(run, return_inverse=True)
    n = len(clusters)
    sums = [np.bincount(cluster.ravel(), weights=each, minlength=n) for each in flips]
    whole = np.bincount(cluster.ravel(), minlength=n).astype(np.float64)
    return _difference(EXCESS, np.asarray(sums[0] - sums[1], np.float64), whole, resampling)


def _flips(matched: Matched) -> BoolArray:
    return np.asarray((matched.graded == 0) != (matched.reference == 0))


def _cells(matched: Matched) -> FloatArray:
    """Turns, flipped turns, and those that the first and the second call failing, by run."""
    clusters, cluster = np.unique(matched.cluster, return_inverse=True)
    first, second = matched.graded == 0, matched.reference == 0
    columns = (np.ones(len(first)), first != second, first, second)
    sums = [
        np.bincount(cluster.ravel(), weights=c.astype(np.float64), minlength=len(clusters))
        for c in columns
    ]
    return np.stack(sums, axis=1)


def _share(estimand: str, part: FloatArray, whole: FloatArray, resampling: Resampling) -> Estimate:
    sized = Sized(
        estimand=estimand, n_turns=int(whole.sum()), n_runs=len(whole), lowest=0.0, highest=1.0
    )
    return share_over_runs(sized, part, whole, "no turn has both gradings", resampling)


def _difference(
    estimand: str, part: FloatArray, whole: FloatArray, resampling: Resampling
) -> Estimate:
    sized = Sized(estimand=estimand, n_turns=int(whole.sum()), n_runs=len(whole))
    entry = (sized, lambda s: share(s[..., 0], s[..., 1]), "no turn has both gradings")
    sums = np.stack([part, whole], axis=1)
    return estimate_over_runs(sums, {"difference": entry}, resampling)["difference"]
