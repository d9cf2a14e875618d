"""What one file of spans holds: ids and names alone, without decoding what the spans say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from turncurve.errors import ReadError
from turncurve.readers._otel_records import records, spans
from turncurve.readers._span_calls import RUN
from turncurve.readers._spans import attributes_of, id_of, nanoseconds
from turncurve.readers.fields import as_name, parse_time

_KEYS = tuple(f'"{name}"'.encode() for name in RUN)
_NONE = msgspec.Raw(b"null")


class Named(NamedTuple):
    """A conversation's name; of several in a trace the least counts, whatever file it is in."""

    rank: int
    start: float
    name: str


@dataclass(slots=True)
class FileIndex:
    """What one file holds."""

    spans: Counter[str] = field(default_factory=Counter)
    """Spans of each trace, repeated ones included."""
    names: dict[str, Named] = field(default_factory=dict)

    def name(self, trace: str, start: float | None, attributes: Mapping[str, Any]) -> None:
        """Take the conversation that a span's attributes may name."""
        for rank, key in enumerate(RUN):
            name = as_name(attributes.get(key))
            if name is not None:
                one = Named(rank, start or 0.0, name)
                self.names[trace] = min(one, self.names.get(trace, one))
                return


class _Span(msgspec.Struct, rename="camel"):
    trace_id: Any = None
    span_id: Any = None
    start_time_unix_nano: Any = None
    attributes: msgspec.Raw = _NONE


class _Scope(msgspec.Struct):
    spans: list[_Span] | None = None


class _Resource(msgspec.Struct, rename="camel"):
    scope_spans: list[_Scope] | None = None
    instrumentation_library_spans: list[_Scope] | None = None


class _Context(msgspec.Struct):
    trace_id: Any = None
    span_id: Any = None


class _Record(msgspec.Struct):
    resource_spans: list[_Resource] | None = msgspec.field(name="resourceSpans", default=None)
    resource_spans_in_snake_case: msgspec.Raw = msgspec.field(name="resource_spans", default=_NONE)
    context: _Context | None = None
    start_time: Any = None
    attributes: msgspec.Raw = _NONE

    @property
    def is_in_snake_case(self) -> bool:
        """Whether names are spelled as in the protocol's definition, which few writers do."""
        return bytes(self.resource_spans_in_snake_case) != bytes(_NONE)


def index_of(path: Path) -> FileIndex:
    """Count a file's spans by trace, quickly where every record has the usual shape."""
    odd = list[ReadError]()
    index = FileIndex()
    try:
        for _, record in records(path, odd.append, type=_Record):
            if (
                odd
                or not isinstance(record, _Record)
                or len(record.resource_spans_in_snake_case) != 4
            ):
                odd.append(ReadError(path, "wants the slower way"))
                break
            _add(record, index)
    except (msgspec.DecodeError, RecursionError):
        odd.append(ReadError(path, "wants the slower way"))
    return _slow_index(path) if odd else index


def _slow_index(path: Path) -> FileIndex:
    index = FileIndex()
    for span in spans(path, _told_when_read):
        index.spans[span.trace] += 1
        index.name(span.trace, span.start, span.attributes)
    return index


def _told_when_read(_: ReadError) -> None:
    """The reading of the file tells."""


def _add(record: _Record, index: FileIndex) -> None:
    if record.resource_spans is None:
        context = record.context
        if context is not None and (trace := _counted(context, index)) is not None:
            attributes = _naming(record.attributes)
            if attributes is not None:
                index.name(trace, parse_time(record.start_time), attributes)
        return
    for resource in record.resource_spans:
        scopes = resource.scope_spans
        if scopes is None:
            scopes = resource.instrumentation_library_spans
        for scope in scopes or ():
            for span in scope.spans or ():
                trace = _counted(span, index)
                attributes = _naming(span.attributes) if trace is not None else None
                if trace is not None and attributes is not None:
                    index.name(trace, nanoseconds(span.start_time_unix_nano), attributes)


def _counted(ids: _Span | _Context, index: FileIndex) -> str | None:
    """The trace of a span, which is counted in it; None for a span that lacks an id."""
    trace = id_of(ids.trace_id)
    if trace is None or id_of(ids.span_id) is None:
        return None
    index.spans[trace] += 1
    return trace


def _naming(attributes: msgspec.Raw) -> dict[str, Any] | None:
    """A span's attributes, where one of them may name a conversation."""
    raw = bytes(attributes)
    named = any(key in raw for key in _KEYS)
    return attributes_of(msgspec.json.decode(raw)) if named else None
