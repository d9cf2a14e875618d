"""Judgements of two sets side by side: the same turn of the same run, judged by both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.judgements import MISSING, Judgements
from turncurve.errors import AmbiguousNameError, UnknownNameError

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

TWICE = "turn that one rater judged twice, differently"
TIED = "turn on which the raters are tied"
_TURNS = 1 << 32
"""More than the highest turn index, so that run and turn make one number."""
_ROWS = ("run", "turn", "rater", "category", "severity", "explore", "context_tokens", "n_turns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Turns that both sets judged; arrays of shape (n_items,).

    Attributes:
        run: Which run, as a whole number.
        cluster: Which independent run: a run and those of its sub-agents share one.
        turn: From 1.
        graded: The grader's category.
        reference: The labels' category.
        graded_severity: -1 where none is stated.
        reference_severity: Likewise.
        explore: 1 where the turn only looks, 0 where it acts, NaN where neither set says.
        context_tokens: NaN where neither set says.
        n_turns: Turns of the run, as far as either set shows them.
        missing_turn: Turns that both have and at least one judgement of which could not be had.
        excluded: Reason to number of turns that are not compared.
    """

    run: IntArray
    cluster: IntArray
    turn: IntArray
    graded: IntArray
    reference: IntArray
    graded_severity: IntArray
    reference_severity: IntArray
    explore: FloatArray
    context_tokens: FloatArray
    n_turns: IntArray
    missing_turn: IntArray
    excluded: Mapping[str, int]

    @property
    def key(self) -> IntArray:
        """Run and turn as one number, the same for all that is matched with one first set."""
        return _key(self.run, self.turn)

    def select(self, items: BoolArray) -> Matched:
        """Those items where `items`, of shape (n_items,), is True."""
        kept = {
            one.name: getattr(self, one.name)[items]
            for one in fields(self)
            if one.name not in ("missing_turn", "excluded")
        }
        return replace(self, **kept)


def once_each(judgements: Judgements) -> Judgements:
    """The judgements with each rater's judgement of a turn once.

    Where a rater judged a turn several times alike, one is kept; where it did so differently, none
    is, and the turn is counted.
    """
    key = _key(judgements.run, judgements.turn)
    order = np.lexsort((judgements.category, judgements.rater, key))
    pairs = np.stack([key[order], judgements.rater[order]])
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    group = np.cumsum(new) - 1
    category = judgements.category[order]
    n_groups = int(group[-1]) + 1 if len(group) else 0
    least, most = np.full(n_groups, np.iinfo(np.int64).max), np.full(n_groups, -2)
    np.minimum.at(least, group, np.where(category >= 0, category, np.iinfo(np.int64).max))
    np.maximum.at(most, group, category)
    split = (most >= 0) & (least < most)
    # Of a judgement that could not be had and one that could, the latter counts.
    last = np.append(np.flatnonzero(new)[1:], len(order)) - 1
    kept = order[last[~split]] if n_groups else order
    return replace(
        _rows(judgements, kept),
        excluded={**judgements.excluded, **excluded_counts({TWICE: split})},
    )


def of_rater(judgements: Judgements, rater: str | None, *, option: str) -> Judgements:
    """The judgements of one rater.

    Args:
        judgements: Each rater's judgement of a turn once.
        rater: Its name; None takes the only one, whose panel's members do not count.
        option: How a rater is named, for the error.

    Raises:
        AmbiguousNameError: There are several and none is named.
        UnknownNameError: None has this name.
    """
    if rater is None:
        own = [name for name in judgements.raters if name not in judgements.members]
        if len(own) > 1:
            raise AmbiguousNameError(judgements.name, "grader", judgements.raters, option)
        if len(judgements.raters) < 2:
            return judgements
        rater = own[0] if own else judgements.raters[0]
    if rater not in judgements.raters:
        raise UnknownNameError(f"grader of {judgements.name}", rater, judgements.raters)
    rows = np.flatnonzero(judgements.rater == judgements.raters.index(rater))
    chosen = _rows(judgements, rows)
    return replace(chosen, raters=(rater,), rater=np.zeros(len(rows), dtype=np.int64))


def without(judgements: Judgements, raters: frozenset[str]) -> Judgements:
    """The judgements without those of some raters."""
    if not raters:
        return judgements
    left = [name for name in judgements.raters if name not in raters]
    numbers = np.array([left.index(n) if n in left else -1 for n in judgements.raters])
    chosen = _rows(judgements, np.flatnonzero(numbers[judgements.rater] >= 0))
    return replace(
        chosen,
        raters=tuple(left),
        members=judgements.members - raters,
        rater=numbers[chosen.rater],
    )


def without_panels(judgements: Judgements) -> Judgements:
    """The judgements of single raters: a panel is no rater beside those who voted in it."""
    if not judgements.members:
        return judgements
    return without(judgements, frozenset(judgements.raters) - judgements.members)


def most_raters(judgements: Judgements) -> Judgements:
    """What most raters of each turn say; a turn on which they are tied is left out and counted.

    A turn that no rater could judge stays, as missing. The severity is the highest that a rater of
    that opinion states.
    """
    judgements = without(judgements, judgements.members)
    if len(judgements.raters) < 2:
        return judgements
    key, item = np.unique(_key(judgements.run, judgements.turn), return_inverse=True)
    item = item.ravel()
    known = judgements.category >= 0
    votes = np.zeros((len(key), len(judgements.categories)), dtype=np.int64)
    np.add.at(votes, (item[known], judgements.category[known]), 1)
    most = votes.max(axis=1)
    tied = (votes == most[:, None]).sum(axis=1) > 1
    tied &= most > 0
    winner = np.where(most > 0, votes.argmax(axis=1), MISSING)
    first = np.full(len(key), -1)
    first[item[::-1]] = np.arange(len(item))[::-1]
    severity = np.full(len(key), MISSING)
    agrees = judgements.category == winner[item]
    np.maximum.at(severity, item[agrees], judgements.severity[agrees])
    rows = _rows(judgements, first[~tied])
    return replace(
        rows,
        raters=(f"most of {len(judgements.raters)} raters",),
        rater=np.zeros(len(rows.run), dtype=np.int64),
        category=winner[~tied],
        severity=severity[~tied],
        excluded={**judgements.excluded, **excluded_counts({TIED: tied})},
    )


def match(graded: Judgements, reference: Judgements) -> Matched:
    """Pair the judgements of two sets, each of one rater, by run id and turn.

    Turns that one set alone has, and those that a side could not judge, are counted and left out.

    Raises:
        ValueError: The sets have one name, by which their turns could not be counted apart.
    """
    if graded.name == reference.name:
        raise ValueError(f"match: wanted sets of different names, got {graded.name!r} twice")
    run_of, root_of = _shared_runs([graded, reference])
    own, other = (
        _key(run_of[i][each.run], each.turn) for i, each in enumerate((graded, reference))
    )
    _, a, b = np.intersect1d(own, other, assume_unique=True, return_indices=True)
    no_grade, no_label = graded.category[a] < 0, reference.category[b] < 0
    both = ~no_grade & ~no_label
    names = graded.name, reference.name
    excluded: dict[str, int | BoolArray] = {
        **_only(graded, own, other, run_of[1], run_of[0], names),
        **_only(reference, other, own, run_of[0], run_of[1], names[::-1]),
        **_named(graded),
        **_named(reference),
        f"{names[0]} could not be had": no_grade,
        f"{names[1]} could not be had": no_label & ~no_grade,
    }
    a_kept, b_kept = a[both], b[both]
    return Matched(
        run=run_of[0][graded.run[a_kept]],
        cluster=root_of[run_of[0][graded.run[a_kept]]],
        turn=graded.turn[a_kept],
        graded=graded.category[a_kept],
        reference=reference.category[b_kept],
        graded_severity=graded.severity[a_kept],
        reference_severity=reference.severity[b_kept],
        explore=_either(graded.explore[a_kept], reference.explore[b_kept]),
        context_tokens=_either(graded.context_tokens[a_kept], reference.context_tokens[b_kept]),
        n_turns=np.maximum(graded.n_turns[a_kept], reference.n_turns[b_kept]),
        missing_turn=graded.turn[a[~both]],
        excluded=excluded_counts(excluded),
    )


def rating_matrix(sets: Sequence[Judgements]) -> tuple[IntArray, IntArray, tuple[str, ...]]:
    """Every rater of every set beside each other.

    Args:
        sets: Each rater's judgement of a turn once, all on one scale.

    Returns:
        The run of each item, shape (n_items,); categories, -1 where missing, shape
        (n_items, n_raters); and the raters' names.
    """
    run_of, root_of = _shared_runs(sets)
    keys = [_key(run_of[i][one.run], one.turn) for i, one in enumerate(sets)]
    items, place = np.unique(np.concatenate(keys), return_inverse=True)
    names = [(one.name, rater) for one in sets for rater in one.raters]
    table = np.full((len(items), len(names)), MISSING)
    start, column = 0, 0
    for one, key in zip(sets, keys, strict=True):
        table[place.ravel()[start : start + len(key)], column + one.rater] = one.category
        start, column = start + len(key), column + len(one.raters)
    return root_of[items // _TURNS], table, tuple(f"{name}: {rater}" for name, rater in names)


def _shared_runs(sets: Sequence[Judgements]) -> tuple[list[IntArray], IntArray]:
    """For each set a number for each of its runs, by which a run is the same in all sets.

    And for each number, that of the run which it is a part of.
    """
    numbers: dict[str, int] = {}
    run_of = [
        np.array([numbers.setdefault(run, len(numbers)) for run in one.runs], dtype=np.int64)
        for one in sets
    ]
    roots = {}
    for one in sets:
        for run, root in zip(one.runs, one.roots, strict=True):
            if root != run or run not in roots:
                roots[run] = root
    parts = [(numbers[run], numbers.setdefault(root, len(numbers))) for run, root in roots.items()]
    root_of = np.arange(len(numbers))
    for run_number, root_number in parts:
        root_of[run_number] = root_number
    return run_of, root_of


def _only(
    one: Judgements,
    own: IntArray,
    other: IntArray,
    other_runs: IntArray,
    own_runs: IntArray,
    names: tuple[str, str],
) -> dict[str, BoolArray]:
    alone = ~np.isin(own, other)
    known_run = np.isin(own_runs[one.run], other_runs)
    return {
        f"in {names[0]} alone: {names[1]} lacks the run": alone & ~known_run,
        f"in {names[0]} alone: {names[1]} lacks the turn": alone & known_run,
    }


def _named(one: Judgements) -> dict[str, int]:
    return {f"{one.name}: {reason}": n for reason, n in one.excluded.items()}


def _either(own: FloatArray, other: FloatArray) -> FloatArray:
    return np.where(np.isnan(own), other, own)


def _key(run: IntArray, turn: IntArray) -> IntArray:
    return np.asarray(run * _TURNS + turn, dtype=np.int64)


def _rows(judgements: Judgements, rows: IntArray) -> Judgements:
    return replace(judgements, **{name: getattr(judgements, name)[rows] for name in _ROWS})
