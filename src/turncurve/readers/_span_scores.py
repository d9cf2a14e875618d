"""Scores that an export holds beside its spans: of a model call, or of a whole conversation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from turncurve.model import Run, Turn

_MOST_NAMES = 50
"""Each name is a column of the turn table."""
_LONGEST_NAME = 60
_QUALITY = "quality"


class Scores:
    """Scores by what they are of; several of one name are averaged.

    A score of a model call is a number of its turn: `quality` where it has that name, else a
    column of its own, `score_` and the name. One of anything else is of the whole conversation.
    """

    def __init__(self) -> None:
        self._of_turn: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
        self._of_run: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
        self._names: dict[str, str] = {}
        self._left_out: set[str] = set()

    def add_to_turn(self, record: str, score: tuple[str, str, float]) -> None:
        """A score (id, name, value) of the model call that a turn's record names."""
        score_id, name, value = score
        column = self._column(name)
        if column is not None:
            self._of_turn[record].setdefault(column, {})[score_id] = value

    def add_to_run(self, trace: str, score: tuple[str, str, float]) -> None:
        """A score (id, name, value) of a trace, or of something in it that is no model call."""
        score_id, name, value = score
        self._of_run[trace].setdefault(name[:_LONGEST_NAME], {})[score_id] = value

    def given_to(self, run: Run) -> Run:
        """The run with its scores."""
        turns = tuple(self._scored(turn) for turn in run.turns)
        columns = {name for turn in turns for name in turn.values}
        changed = run
        if columns:
            absent = {key: why for key, why in run.absent.items() if key not in columns}
            changed = replace(run, turns=turns, absent=absent)
        if run.parent is None and (whole := self._of_whole(turns)):
            one = next(iter(whole.values())) if len(whole) == 1 else None
            words = ", ".join(f"{name} {value:g}" for name, value in sorted(whole.items()))
            notes = (*run.notes, f"scores of the whole conversation: {words}")
            changed = replace(changed, score=one, notes=notes)
        if self._left_out:
            n_names = len(self._left_out)
            note = f"{n_names} more names of scores are left out: {_MOST_NAMES} became columns"
            changed = replace(changed, notes=(*changed.notes, note))
        return changed

    def _scored(self, turn: Turn) -> Turn:
        given = self._of_turn.get(str(turn.record))
        return replace(turn, values={**turn.values, **_means(given)}) if given else turn

    def _of_whole(self, turns: tuple[Turn, ...]) -> dict[str, float]:
        traces = {str(turn.record).rpartition("/")[0] for turn in turns}
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for trace in traces & self._of_run.keys():
            for name, values in self._of_run[trace].items():
                found[name] |= values
        return _means(found)

    def _column(self, name: str) -> str | None:
        """The column of a name; None for names beyond what a table should hold."""
        column = self._names.get(name)
        if column is None and len(self._names) < _MOST_NAMES:
            plain = re.sub(r"\W+", "_", name.lower(), flags=re.ASCII).strip("_")[:_LONGEST_NAME]
            column = _QUALITY if plain == _QUALITY else f"score_{plain or 'unnamed'}"
            self._names[name] = column
        if column is None:
            self._left_out.add(name[:_LONGEST_NAME])
        return column


def _means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(values.values()) / len(values) for name, values in scores.items() if values}
