"""TRAIL: traces as trees of spans, with the errors that people found in them.

Fields are those of the published data set: OpenInference attributes as text, `child_spans`, and
annotations of `errors` and `scores`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run, Turn
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._span_runs import Conversation
from turncurve.readers._spans import Span, nested_spans
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_float, as_name, as_text
from turncurve.readers.stream import json_document

_START = re.compile(rb"\s*\{")
_KEYS = (b'"trace_id"', b'"spans"', b'"span_attributes"')
_COMPANIONS = ("annot.json", "*_annot.json", "*annotation*.json")
_NAME = re.compile(r"[\w .-]{1,200}\.json")

_ABSENT = {
    "quality": "TRAIL marks errors and scores no turn",
    "error": "no annotation of this trace was found beside it",
    "context_tokens": "no model call of this trace has token counts",
    "cached_input_tokens": "no model call of this trace says how much was cached",
    "output_tokens": "no model call of this trace has token counts",
    "reasoning_tokens": "no model call of this trace counts its reasoning tokens",
    "cost_usd": "no model call of this trace has a cost",
    "started_at": "no span of this trace has its time",
    "seconds": "no span of this trace has its duration",
    "format_error": "spans do not say whether an answer could be read as an action",
    "compaction": "no span says whether the conversation was compacted",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON object has a trace_id and spans with span_attributes."""
    del path
    return bool(_START.match(head)) and all(key in head for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the runs of the trace, with `error` where an annotation lies beside it."""
    try:
        document = as_mapping(json_document(path, on_problem))
    except ReadError as problem:
        on_problem(problem)
        return
    if not isinstance(document.get("spans"), list):
        got = type(document.get("spans")).__name__
        on_problem(ReadError(path, f"wanted a list under `spans`, got {got}", record="spans"))
        return
    trace = as_name(document.get("trace_id")) or path.name.split(".")[0]
    spans = [*_spans(document["spans"], trace, path, on_problem)]
    conversation = Conversation(trace, spans)
    runs = [*conversation.runs(format_="trail", path=path, absent=_ABSENT, on_problem=on_problem)]
    annotation = _annotation(path, trace, on_problem)
    if annotation is not None:
        runs = _annotated(runs, annotation, _Places(spans, conversation), path, on_problem)
    yield from runs


def _spans(given: Any, trace: str, path: Path, on_problem: OnProblem) -> Iterator[Span]:
    nameless = 0
    for span in nested_spans(given, trace):
        if span is not None:
            yield span
        else:
            nameless += 1
    if nameless:
        reason = f"{nameless:,} span(s) without a span_id"
        on_problem(ReadError(path, reason, record="spans", fix="the others were read", kept=True))


def _annotation(path: Path, trace: str, on_problem: OnProblem) -> dict[str, Any] | None:
    """What people found in the trace: a file beside it, or one of its id in a folder beside."""
    for candidate, is_of_it in _candidates(path, trace):
        if candidate == path or not candidate.is_file():
            continue
        try:
            found = as_mapping(json_document(candidate, on_problem))
        except ReadError as problem:
            on_problem(ReadError(path, f"its annotation: {problem}", kept=True))
            return None
        named = as_name(found.get("trace_id"))
        is_of_it = is_of_it if named is None else named == trace
        if is_of_it and isinstance(found.get("errors"), list):
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


def _annotated(
    runs: list[Run],
    annotation: dict[str, Any],
    places: _Places,
    path: Path,
    on_problem: OnProblem,
) -> list[Run]:
    """The runs with `error` 1 where an error was found, and 0 in every other turn."""
    wrong = set[tuple[str, int]]()
    errors = [as_mapping(error) for error in as_list(annotation.get("errors"))]
    for number, error in enumerate(errors):
        location = as_name(error.get("location"))
        place = places.turn(location) if location is not None else None
        if place is not None:
            wrong.add(place)
            continue
        reason = (
            f"the annotated error {as_text(error.get('category'))!r} {places.why_not(location)}"
        )
        fix = "it marks no turn"
        where = f"errors[{number}]"
        on_problem(ReadError(path, reason, record=where, fix=fix, kept=True))
    notes, score = (_categories(errors), *_scores(annotation)), _overall(annotation)
    return [_with_errors(run, wrong, notes, score if run.parent is None else None) for run in runs]


def _categories(errors: list[dict[str, Any]]) -> str:
    named = Counter(as_text(error.get("category")) or "of no category" for error in errors)
    kinds = ", ".join(f"{name} {n}" for name, n in named.most_common())
    return f"{len(errors)} error(s) were found in this trace by people" + (
        f": {kinds}" if kinds else ""
    )


def _scores(annotation: dict[str, Any]) -> Iterator[str]:
    """The scores that people gave the whole trace, in words."""
    for scores in map(as_mapping, as_list(annotation.get("scores"))):
        given = {
            name: value for name, one in scores.items() if (value := as_float(one)) is not None
        }
        if given:
            told = ", ".join(f"{name.removesuffix('_score')} {v:g}" for name, v in given.items())
            yield f"scored by people: {told}"


def _overall(annotation: dict[str, Any]) -> float | None:
    scores = map(as_mapping, as_list(annotation.get("scores")))
    return next((one for s in scores if (one := as_float(s.get("overall"))) is not None), None)


def _with_errors(
    run: Run, wrong: set[tuple[str, int]], notes: Sequence[str], score: float | None
) -> Run:
    turns = tuple(_marked(turn, is_wrong=(run.id, turn.index) in wrong) for turn in run.turns)
    absent = absent_signals(turns, {k: v for k, v in _ABSENT.items() if k in run.absent})
    return replace(run, turns=turns, absent=absent, score=score, notes=(*run.notes, *notes))


def _marked(turn: Turn, *, is_wrong: bool) -> Turn:
    return replace(turn, values={**turn.values, "error": float(is_wrong)})


READER = Reader(
    name="trail",
    title="TRAIL traces with annotated errors (.json)",
    recognised_by="a JSON object with a trace_id and spans that have span_attributes",
    looks_like=looks_like,
    read=read,
    companions=_COMPANIONS,
)
