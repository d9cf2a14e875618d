"""Records of a file of OpenTelemetry spans: one a line, printed one after another, or one document.

The shapes are those of OTLP's JSON mapping, as file exporters write it, and of the console exporter
of the SDK for Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from turncurve.errors import ReadError
from turncurve.readers._items import json_items
from turncurve.readers._spans import Span, spans_of
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import LIMITS, Limits, head, json_document, json_lines, open_trace

_START = re.compile(rb"\s*(?:\[\s*)?\{")
_OTLP = re.compile(rb'"resourceSpans"\s*:|"resource_spans"\s*:')
_CONSOLE = (b'"context"', b'"trace_id"', b'"span_id"', b'"attributes"', b'"start_time"')


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as OTLP requests in JSON, or as spans of a console exporter."""
    del path
    if not _START.match(head):
        return False
    return bool(_OTLP.search(head)) or all(key in head for key in _CONSOLE)


def spans(path: Path, on_problem: OnProblem) -> Iterator[Span]:
    """Every span of a file; each record, and each span, that can't be used is told."""
    for where, record in records(path, on_problem):
        if not isinstance(record, dict):
            reason = f"wanted a request or a span, got {type(record).__name__}"
            on_problem(ReadError(path, reason, record=where, fix="the others were read"))
            continue
        for number, span in enumerate(spans_of(record, where), start=1):
            if span is not None:
                yield span
            else:
                reason = f"span {number} of the record has no id of a trace and of its own"
                on_problem(ReadError(path, reason, record=where, fix="the others were read"))


def records(
    path: Path, on_problem: OnProblem, *, type: Any = Any, limits: Limits = LIMITS
) -> Iterator[tuple[str | int | None, Any]]:
    """Give (where, record) for each request or span.

    Args:
        path: The file.
        on_problem: Told of each record that could not be read, or was read with repairs.
        type: What a record of its own line is decoded as, in msgspec's terms.
        limits: How much may be held; a first line beyond is read as the one document.
    """
    start = head(path).lstrip()
    if start.startswith(b"["):
        yield from json_items(path, on_problem)
    elif not (_is_document(start) or _has_long_line(path, start, limits)):
        yield from json_lines(path, on_problem, type=type, limits=limits)
    else:
        try:
            yield None, json_document(path, on_problem, limits=limits)
        except ReadError as problem:
            on_problem(problem)


def _has_long_line(path: Path, start: bytes, limits: Limits) -> bool:
    """Whether the first line is longer than a line may be."""
    if b"\n" in start:
        return False
    try:
        with open_trace(path, limits=limits) as file:
            return len(file.readline(limits.line + 1)) > limits.line
    except ReadError:
        return False


def _is_document(start: bytes) -> bool:
    """Whether an object goes on after its first line, and doesn't begin with a brace alone."""
    first, _, rest = start.partition(b"\n")
    if first.strip() == b"{" or not rest[:1].isspace():
        return False
    try:
        msgspec.json.decode(first)
    except (msgspec.DecodeError, RecursionError):
        return True
    return False
