"""TRAIL's annotations: where they stand, which turns they mark, what they say of a whole trace."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._span_runs import Conversation
from turncurve.readers._spans import Span
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import as_float, as_name, as_text
from turncurve.readers.stream import json_document

_NAME = re.compile(r"[\w .-]{1,200}\.json")


class Annotation:
    """What people found in one trace.

    Args:
        given: A mapping with `errors` and `scores`.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.trace = as_name(given.get("trace_id"))
        self._errors = [as_mapping(error) for error in as_list(given.get("errors"))]
        self._scores = [as_mapping(one) for one in as_list(given.get("scores"))]
        self._wrong = set[tuple[str, int]]()

    @classmethod
    def of(cls, given: object) -> Annotation | None:
        """The annotation, or None where the value is none."""
        known = as_mapping(given)
        return cls(known) if isinstance(known.get("errors"), list) else None

    def place(self, spans: list[Span], conversation: Conversation) -> Iterator[tuple[int, str]]:
        """Find the turn of each error; gives number and reason of each that has none."""
        places = _Places(spans, conversation)
        for number, error in enumerate(self._errors):
            location = as_name(error.get("location"))
            place = places.turn(location) if location is not None else None
            if place is not None:
                self._wrong.add(place)
            else:
                named = as_text(error.get("category"))
                yield number, f"the annotated error {named!r} {places.why_not(location)}"

    def given_to(self, run: Run, absent: Mapping[str, str]) -> Run:
        """The run with `error` 1 where an error was found, and 0 in every other turn.

        The run that no other one started has the overall score.
        """
        turns = tuple(
            replace(
                turn, values={**turn.values, "error": float((run.id, turn.index) in self._wrong)}
            )
            for turn in run.turns
        )
        return replace(
            run,
            turns=turns,
            absent=absent_signals(turns, {k: v for k, v in absent.items() if k in run.absent}),
            score=self._overall() if run.parent is None else None,
            notes=(*run.notes, self._categories(), *self._scores_in_words()),
        )

    def _categories(self) -> str:
        named = Counter(as_text(error.get("category")) or "no category" for error in self._errors)
        kinds = ", ".join(f"{name} {n}" for name, n in named.most_common())
        found = f"{len(self._errors)} error(s) were found in this trace by people"
        return f"{found}: {kinds}" if kinds else found

    def _scores_in_words(self) -> Iterator[str]:
        for scores in self._scores:
            given = {name: v for name, one in scores.items() if (v := as_float(one)) is not None}
            if given:
                told = ", ".join(
                    f"{name.removesuffix('_score')} {v:g}" for name, v in given.items()
                )
                yield f"scored by people: {told}"

    def _overall(self) -> float | None:
        found = (as_float(scores.get("overall")) for scores in self._scores)
        return next((score for score in found if score is not None), None)


def annotation_beside(path: Path, trace: str, on_problem: OnProblem) -> Annotation | None:
    """What people found in a trace: a file beside it, or one of its id in a folder beside."""
    for candidate, is_of_it in _candidates(path, trace):
        if candidate == path or not candidate.is_file():
            continue
        try:
            found = Annotation.of(json_document(candidate, on_problem))
        except ReadError as problem:
            on_problem(ReadError(path, f"its annotation: {problem}", kept=True))
            return None
        if found is not None and (is_of_it if found.trace is None else found.trace == trace):
            return found
    return None


def _candidates(path: Path, trace: str) -> Iterator[tuple[Path, bool]]:
    """Where an annotation may stand, and whether its place alone says which trace it is of."""
    stem = path.name.partition(".")[0]
    names = [f"{stem.replace('trace', 'annot')}.json"]
    names += [f"{one}_{word}.json" for one in (stem, trace) for word in ("annot", "annotation")]
    for name in names:
        if _NAME.fullmatch(name):
            yield path.parent / name, True
    for name in dict.fromkeys((f"{trace}.json", path.name)):
        if _NAME.fullmatch(name):
            for folder in (path.parent, path.parent.parent):
                for found in sorted(folder.glob(f"*annotation*/{name}")):
                    yield found, True
    yield path.parent / "annot.json", False


class _Places:
    """The turn that each span is in, or holds first, or follows."""

    def __init__(self, spans: list[Span], conversation: Conversation) -> None:
        self._parent = {span.id: span.parent for span in spans}
        self._turn_of: dict[str, tuple[str, int]] = {}
        for span in spans:  # those that hold others stand before them
            around = self._turn_of.get(span.parent or "")
            own = conversation.turn_of.get(span.id, around)
            if own is not None:
                self._turn_of[span.id] = own
        for span in sorted(spans, key=lambda span: (span.start is None, span.start or 0.0)):
            self._hand_up(span.id)
        last = None
        for span in spans:
            last = self._turn_of.get(span.id, last)
            if last is not None:
                self._turn_of[span.id] = last

    def _hand_up(self, span: str) -> None:
        """Have what holds a span, and has no turn yet, stand for the span's."""
        turn, at = self._turn_of.get(span), self._parent[span]
        while turn is not None and at in self._parent and at not in self._turn_of:
            self._turn_of[at] = turn
            at = self._parent[at]

    def turn(self, span: str) -> tuple[str, int] | None:
        """Run id and turn of a span; None where it has none."""
        return self._turn_of.get(span)

    def why_not(self, span: str | None) -> str:
        """Why a span that was marked has no turn, in words."""
        if span is None:
            return "has no location"
        if span not in self._parent:
            return f"is at {span!r}, which the trace does not hold"
        return f"is at {span!r}, which no model call comes before"
