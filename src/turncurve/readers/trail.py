"""TRAIL: traces as trees of spans, with the errors that people found in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from turncurve.readers.fields import as_name, as_text
from turncurve.readers.stream import json_document

_START = re.compile(rb"\s*\{")
_KEYS = (b'"trace_id"', b'"spans"', b'"span_attributes"')
_COMPANIONS = ("annot.json", "*_annot.json", "*annotation*.json")

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
    spans = list(nested_spans(document["spans"], trace))
    conversation = Conversation(trace, spans)
    runs = list(conversation.runs(format_="trail", path=path, absent=_ABSENT))
    annotation = _annotation(path, trace, on_problem)
    if annotation is not None:
        runs = _annotated(runs, annotation, _Places(spans, conversation), path, on_problem)
    yield from runs


def _annotation(path: Path, trace: str, on_problem: OnProblem) -> dict[str, Any] | None:
    """What people found in the trace: a file beside it, or one of its id in a folder beside."""
    stem = path.name.partition(".")[0]
    near = [
        path.parent / f"{stem.replace('trace', 'annot')}.json",
        path.parent / f"{stem}_annot.json",
        path.parent / f"{stem}_annotation.json",
        *sorted(path.parent.parent.glob(f"*annotations*/{_safe(trace)}.json")),
    ]
    for candidate in near:
        if candidate != path and candidate.is_file():
            try:
                found = as_mapping(json_document(candidate, on_problem))
            except ReadError as problem:
                on_problem(ReadError(path, f"its annotation: {problem}", kept=True))
                return None
            named = as_name(found.get("trace_id"))
            if isinstance(found.get("errors"), list) and named in (None, trace):
                return found
    return None


def _safe(trace: str) -> str:
    """A trace id as part of a pattern: hex digits and dashes, or nothing that matches."""
    return trace if re.fullmatch(r"[\w-]{1,64}", trace) else "no-such-trace"


class _Places:
    """The turn that each span is in, or holds first, or follows."""

    def __init__(self, spans: list[Span], conversation: Conversation) -> None:
        self._turn_of = dict(conversation.turn_of)
        parent = {span.id: span.parent for span in spans}
        for span in spans:
            at, seen = span.parent, {span.id}
            while span.id in self._turn_of and at is not None and at not in seen:
                self._turn_of.setdefault(at, self._turn_of[span.id])
                seen.add(at)
                at = parent.get(at)
        last = None
        for span in spans:
            last = self._turn_of.setdefault(span.id, last) if last else self._turn_of.get(span.id)
        self._known = set(parent)

    def turn(self, span: str) -> tuple[str, int] | None:
        """Run id and turn of a span; None where the trace does not hold it."""
        return self._turn_of.get(span) if span in self._known else None


def _annotated(
    runs: list[Run],
    annotation: dict[str, Any],
    places: _Places,
    path: Path,
    on_problem: OnProblem,
) -> list[Run]:
    """The runs with `error` 1 where an error was found, and 0 in every other turn."""
    wrong = set[tuple[str, int]]()
    errors = as_list(annotation.get("errors"))
    for number, error in enumerate(map(as_mapping, errors)):
        location = as_name(error.get("location"))
        place = places.turn(location) if location is not None else None
        if place is not None:
            wrong.add(place)
            continue
        reason = f"the error {as_text(error.get('category'))!r} is at no span of the trace"
        fix = "the trace was read without it"
        where = f"errors[{number}]"
        on_problem(ReadError(path, reason, record=where, fix=fix, kept=True))
    return [_with_errors(run, wrong, annotation, len(errors)) for run in runs]


def _with_errors(
    run: Run, wrong: set[tuple[str, int]], annotation: dict[str, Any], n_errors: int
) -> Run:
    turns = tuple(_marked(turn, is_wrong=(run.id, turn.index) in wrong) for turn in run.turns)
    absent = absent_signals(turns, {k: v for k, v in _ABSENT.items() if k in run.absent})
    notes = [f"{n_errors} error(s) were found in this trace by people"]
    for scores in map(as_mapping, as_list(annotation.get("scores"))):
        if "overall" in scores:
            notes.append(f"scored {as_text(scores['overall'])} overall")
    return replace(run, turns=turns, absent=absent, notes=(*run.notes, *notes))


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
