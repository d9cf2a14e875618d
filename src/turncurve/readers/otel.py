"""OpenTelemetry traces: OTLP requests as JSON, or what Python's console exporter prints."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._span_calls import conversation_of
from turncurve.readers._span_runs import Conversation
from turncurve.readers._spans import Span, spans_of
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.stream import head, json_document, json_lines

_START = re.compile(rb"\s*\{")
_OTLP = re.compile(rb'"resourceSpans"\s*:|"resource_spans"\s*:')
_CONSOLE = (b'"context"', b'"trace_id"', b'"span_id"', b'"attributes"', b'"start_time"')
_MOST_FILES = 10_000
"""Files of a folder that are asked whether they hold more of a trace."""

_NOT_SAID = "no span of this conversation says so"
_ABSENT = {
    "quality": "no span holds a score of a turn",
    "error": "OpenTelemetry traces hold no grades",
    "context_tokens": "no model call of this conversation has token counts",
    "cached_input_tokens": "no model call of this conversation says how much was cached",
    "output_tokens": "no model call of this conversation has token counts",
    "reasoning_tokens": "no model call of this conversation counts its reasoning tokens",
    "cost_usd": "no model call of this conversation has a cost",
    "started_at": _NOT_SAID,
    "seconds": _NOT_SAID,
    "format_error": "spans do not say whether an answer could be read as an action",
    "compaction": "no span says whether the conversation was compacted",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as OTLP requests in JSON, or as spans of a console exporter."""
    del path
    if not _START.match(head):
        return False
    return bool(_OTLP.search(head[:4096])) or all(key in head for key in _CONSOLE)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the runs of the conversations that begin in this file.

    The spans of one trace may stand in any order, and in several files of one folder: the first of
    these, by name, gives its runs. A first pass counts each conversation's spans, so that a second
    one holds those that are not complete yet, and no others.
    """
    index = _index(path, on_problem)
    others = [(other, _index_of(other, _state(other))) for other in _siblings(path)]
    earlier = {t for other, known in others if other.name < path.name for t in known.traces}
    owned = {trace for trace in index.traces if trace not in earlier}
    later = [(other, known) for other, known in others if owned & known.traces.keys()]
    groups, counts = _groups(index, [known for _, known in later], owned)
    held: dict[str, list[Span]] = defaultdict(list)
    for source in (path, *(other for other, _ in later)):
        tell = on_problem if source == path else _told_there
        for span in _spans(source, tell):
            name = groups.get(span.trace)
            if name is None:
                continue
            held[name].append(span)
            counts[name] -= 1
            if not counts[name]:
                yield from _runs(name, held.pop(name), path)
    for name, spans in held.items():
        yield from _runs(name, spans, path)


def _runs(name: str, spans: list[Span], path: Path) -> Iterator[Run]:
    conversation = Conversation(name, spans)
    if conversation.has_calls:
        yield from conversation.runs(format_="otel", path=path, absent=_ABSENT)


class _Index:
    """How many spans of which trace a file holds, and which conversation each trace is of."""

    def __init__(self) -> None:
        self.traces: Counter[str] = Counter()
        self.conversations: dict[str, str] = {}

    def add(self, span: Span) -> None:
        """Count a span."""
        self.traces[span.trace] += 1
        if span.trace not in self.conversations and (name := conversation_of(span)):
            self.conversations[span.trace] = name


def _index(path: Path, on_problem: OnProblem) -> _Index:
    index = _Index()
    for span in _spans(path, _told_there):
        index.add(span)
    if not index.traces:
        _spans_all(path, on_problem)
    return index


def _spans_all(path: Path, on_problem: OnProblem) -> None:
    """Read a file without a span once more, so that what is wrong with it is told."""
    for _ in _spans(path, on_problem):
        pass


@lru_cache(maxsize=_MOST_FILES)
def _index_of(path: Path, state: tuple[int, int]) -> _Index:
    """The index of a file beside the one that is read, kept while the file is as it was."""
    del state
    return _index(path, _told_there)


def _state(path: Path) -> tuple[int, int]:
    now = path.stat()
    return now.st_size, now.st_mtime_ns


def _siblings(path: Path) -> list[Path]:
    """The other trace files of the folder."""
    try:
        near = sorted(other for other in path.parent.iterdir() if other.suffix == path.suffix)
    except OSError:
        return []
    near = [other for other in near[:_MOST_FILES] if other != path and other.is_file()]
    return [other for other in near if looks_like(head(other), other)]


def _groups(
    index: _Index, others: list[_Index], owned: set[str]
) -> tuple[dict[str, str], Counter[str]]:
    """The conversation, or the trace itself, that each trace is read into; and its spans."""
    groups: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for one in (index, *others):
        for trace, conversation in one.conversations.items():
            groups.setdefault(trace, conversation)
    for trace in owned:
        groups.setdefault(trace, trace)
    groups = {trace: name for trace, name in groups.items() if trace in owned}
    for one in (index, *others):
        for trace, n in one.traces.items():
            if trace in groups:
                counts[groups[trace]] += n
    return groups, counts


def _spans(path: Path, on_problem: OnProblem) -> Iterator[Span]:
    for number, record in _records(path, on_problem):
        if isinstance(record, dict):
            yield from spans_of(record, number)
        else:
            reason = f"wanted a request or a span, got {type(record).__name__}"
            on_problem(ReadError(path, reason, record=number, fix="the others were read"))


def _records(path: Path, on_problem: OnProblem) -> Iterator[tuple[int | None, Any]]:
    """Requests or spans: one a line, printed one after another, or one document."""
    first = head(path).lstrip().partition(b"\n")[0].strip()
    if first == b"{" and _OTLP.search(head(path)[:4096]):
        try:
            yield None, json_document(path, on_problem)
        except ReadError as problem:
            on_problem(problem)
        return
    yield from json_lines(path, on_problem)


def _told_there(_: ReadError) -> None:
    """Another pass, or the reading of that file, tells."""


READER = Reader(
    name="otel",
    title="OpenTelemetry traces: OTLP as JSON, or a console exporter's spans",
    recognised_by="JSON objects with resourceSpans, or spans with a context and attributes",
    looks_like=looks_like,
    read=read,
    joins_files=True,
    no_run="a file in which no conversation begins: no model call, or an earlier file has it",
)
