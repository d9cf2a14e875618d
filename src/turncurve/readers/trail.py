"""TRAIL: traces as trees of spans, with the errors that people found in them.

Fields are those of the published data set: OpenInference attributes as text, `child_spans`, and
annotations of `errors` and `scores`; as a document a trace, or as Parquet rows of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._exported import parquet_has
from turncurve.readers._items import as_mapping
from turncurve.readers._parquet import PARQUET_MAGIC, parquet_rows
from turncurve.readers._span_runs import Conversation
from turncurve.readers._spans import Span, nested_spans
from turncurve.readers._trail_annotations import Annotation, annotation_beside
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_name
from turncurve.readers.stream import head, json_document

_START = re.compile(rb"\s*\{")
_KEYS = (b'"trace_id"', b'"spans"', b'"span_attributes"')
_COLUMNS = ("trace", "labels")
_COMPANIONS = (
    *("annot.json", "*_annot.json", "*annotation*.json"),
    "*annotation*/*.json",
)

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
    """Whether a JSON object has a trace_id and spans with span_attributes, or rows have both."""
    if _START.match(head):
        return all(key in head for key in _KEYS)
    return parquet_has(head, path, _COLUMNS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the runs of each trace, with `error` where an annotation lies beside it."""
    if head(path, len(PARQUET_MAGIC)) == PARQUET_MAGIC:
        yield from _rows(path, on_problem)
        return
    try:
        document = json_document(path, on_problem)
    except ReadError as problem:
        on_problem(problem)
        return
    trace = as_name(as_mapping(document).get("trace_id")) or path.name.split(".")[0]
    beside = annotation_beside(path, trace, on_problem)
    yield from _runs(as_mapping(document), trace, beside, path, "", on_problem)


def _rows(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    rows = parquet_rows(path, on_problem, text=_COLUMNS, known=_COLUMNS, only=_COLUMNS)
    for number, row in rows:
        try:
            document = as_mapping(_decoded(row.get("trace")))
        except ValueError as bad:
            reason = f"the trace is no JSON: {bad}"
            on_problem(ReadError(path, reason, record=number, fix="the others were read"))
            continue
        labels: Any = None
        try:
            labels = _decoded(row.get("labels"))
        except ValueError as bad:
            reason, fix = f"the labels are no JSON: {bad}", "the trace was read without them"
            on_problem(ReadError(path, reason, record=number, fix=fix, kept=True))
        trace = as_name(document.get("trace_id")) or f"row-{number}"
        annotation = Annotation.of(labels)
        yield from _runs(document, trace, annotation, path, f"row {number}: ", on_problem)


def _decoded(given: object) -> Any:
    """A value, or what a JSON text holds; raises ValueError."""
    if not isinstance(given, str | bytes):
        return given
    try:
        return msgspec.json.decode(given)
    except RecursionError as deep:
        raise ValueError("nested too deep to read safely") from deep


def _runs(
    document: dict[str, Any],
    trace: str,
    annotation: Annotation | None,
    path: Path,
    where: str,
    on_problem: OnProblem,
) -> Iterator[Run]:
    if not isinstance(document.get("spans"), list):
        got = type(document.get("spans")).__name__
        reason = f"wanted a list under `spans`, got {got}"
        on_problem(ReadError(path, reason, record=f"{where}spans"))
        return
    spans = list[Span]()
    nameless = 0
    for span in nested_spans(document["spans"], trace):
        if span is None:
            nameless += 1
        else:
            spans.append(span)
    if nameless:
        reason, fix = f"{nameless:,} span(s) without a span_id", "the others were read"
        on_problem(ReadError(path, reason, record=f"{where}spans", fix=fix, kept=True))
    conversation = Conversation(trace, spans)
    runs = conversation.runs(format_="trail", path=path, absent=_ABSENT, on_problem=on_problem)
    if annotation is None:
        yield from runs
        return
    for number, reason in annotation.place(spans, conversation):
        record, fix = f"{where}errors[{number}]", "it marks no turn"
        on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
    for run in runs:
        yield annotation.given_to(run, _ABSENT)


READER = Reader(
    name="trail",
    title="TRAIL traces with annotated errors (.json, .parquet)",
    recognised_by="a trace_id and spans that have span_attributes, or columns trace and labels",
    looks_like=looks_like,
    read=read,
    companions=_COMPANIONS,
)
