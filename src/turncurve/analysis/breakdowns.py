"""Agreement by position, input length, severity and phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.agreement import Agreement, agreement_of
from turncurve.analysis.judgements import FAILING, SEVERITIES
from turncurve.analysis.matching import Matched
from turncurve.analysis.over_clusters import Resampling
from turncurve.analysis.ranges import Range, even_ranges, turn_ranges

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]

TOKENS = "tokens that the turn's model call read"
RUN_TURNS = "turns of the run, as the tokens that most turns read are not known"
FEWEST_RUNS = 10
"""Runs that must reach a range of turns for it to be one of its own."""
MOST_UNKNOWN = 0.5
"""Share of turns of unknown length above which the length of the run stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Agreement over some of the turns.

    Attributes:
        label: Which turns: `4-6`, `explore`, `medium or worse`.
        start: First position or length; None where the group is no range.
        end: Last; None where there is no last.
        n_missing: Turns of the group that both sides have and one could not judge; None where that
            is not known by group.
        agreement: On fail against the rest.
    """

    label: str
    start: int | None = None
    end: int | None = None
    n_missing: int | None = None
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Agreement group by group.

    Attributes:
        by: What the groups are of, in words.
        groups: Those with a turn in them.
        n_left_out: Compared turns that are in no group.
        reason: Why there is no group.
    """

    by: str
    groups: tuple[Group, ...] = ()
    n_left_out: int = 0
    reason: str | None = None


def fail_agreement(matched: Matched, resampling: Resampling) -> Agreement:
    """Agreement on fail against the rest."""
    return agreement_of(
        matched.cluster,
        (matched.graded != 0).astype(np.int64),
        (matched.reference != 0).astype(np.int64),
        FAILING,
        resampling,
    )


def by_position(
    matched: Matched, ranges: Sequence[Range] | None, resampling: Resampling
) -> Breakdown:
    """Agreement by turn; the default ranges are those of `turn_ranges`."""
    chosen = ranges or turn_ranges(matched.turn, matched.cluster, fewest_runs=FEWEST_RUNS)
    return _by_ranges("turn", matched, matched.turn.astype(np.float64), chosen, resampling)


def by_length(
    matched: Matched, ranges: Sequence[Range] | None, resampling: Resampling
) -> Breakdown:
    """Agreement by how much the turn's model call read; default ranges hold about as many turns.

    Where that is not known of most turns, the number of the run's turns stands in.
    """
    length, words = matched.context_tokens, TOKENS
    if len(length) and np.isnan(length).mean() > MOST_UNKNOWN:
        length, words = matched.n_turns.astype(np.float64), RUN_TURNS
    return _by_ranges(words, matched, length, ranges or even_ranges(length), resampling)


def by_phase(matched: Matched, resampling: Resampling) -> Breakdown:
    """Agreement where turns look around and where they act."""
    if np.isnan(matched.explore).all():
        return Breakdown(by="phase", reason="no file says which turns look around and which act")
    groups = [
        Group(label=label, agreement=fail_agreement(matched.select(items), resampling))
        for label, items in (("explore", matched.explore == 1), ("act", matched.explore == 0))
        if items.any()
    ]
    unknown = int((~np.isin(matched.explore, (0.0, 1.0))).sum())
    return Breakdown(by="phase", groups=tuple(groups), n_left_out=unknown)


def by_severity(matched: Matched, resampling: Resampling) -> Breakdown:
    """Agreement where only errors of a severity or worse count as errors.

    A side that states no severity at all keeps all its errors. Where a side states some, its
    errors of unknown severity are left out above the lowest threshold.
    """
    sides = (
        (matched.graded, matched.graded_severity),
        (
            matched.reference,
            matched.reference_severity,
        ),
    )
    states = [bool((severity[category == 0] >= 0).any()) for category, severity in sides]
    words = {
        (True, True): "severity of the error, on both sides",
        (True, False): "severity that the grader gives the error; the labels have none",
        (False, True): "severity that the labels give the error; the grades have none",
    }
    stated = (states[0], states[1])
    if stated not in words:
        return Breakdown(by="severity", reason="no error has a severity")
    groups, most = [], 0
    for threshold, name in enumerate(SEVERITIES):
        kept = np.ones(len(matched.turn), dtype=np.bool_)
        fails = []
        for (category, severity), has in zip(sides, states, strict=True):
            fail = category == 0
            if has and threshold > 0:
                kept &= ~(fail & (severity < 0))
                fail = fail & (severity >= threshold)
            fails.append(fail)
        most = max(most, int((~kept).sum()))
        agreement = agreement_of(
            matched.cluster[kept],
            (~fails[0][kept]).astype(np.int64),
            (~fails[1][kept]).astype(np.int64),
            FAILING,
            resampling,
        )
        label = name if name == SEVERITIES[-1] else f"{name} or worse"
        groups.append(Group(label=label, agreement=agreement))
    return Breakdown(by=words[stated], groups=tuple(groups), n_left_out=most)


def _by_ranges(
    by: str,
    matched: Matched,
    values: FloatArray,
    ranges: Sequence[Range],
    resampling: Resampling,
) -> Breakdown:
    groups = tuple(_groups(by, matched, values, ranges, resampling))
    inside = np.zeros(len(values), dtype=np.bool_)
    for one in ranges:
        inside |= one.holds(values)
    reason = None if groups else "no compared turn lies in these ranges"
    return Breakdown(by=by, groups=groups, n_left_out=int((~inside).sum()), reason=reason)


def _groups(
    by: str,
    matched: Matched,
    values: FloatArray,
    ranges: Sequence[Range],
    resampling: Resampling,
) -> Iterator[Group]:
    for one in ranges:
        items = one.holds(values)
        missing = int(one.holds(matched.missing_turn).sum()) if by == "turn" else None
        if items.any() or missing:
            yield Group(
                label=str(one),
                start=one.start,
                end=one.end,
                n_missing=missing,
                agreement=fail_agreement(matched.select(items), resampling),
            )
