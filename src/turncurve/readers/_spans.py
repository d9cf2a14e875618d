"""Spans in one form, whatever exporter wrote them.

OTLP in JSON follows the protocol's JSON mapping, in either spelling of its names; a console
exporter's objects are those of the SDK for Python.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from turncurve.readers._items import as_list, as_mapping
from turncurve.readers.fields import as_float, as_name, as_text, parse_time

_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{16}|[0-9a-fA-F]{32})")
_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>[\d.]+)S)?)?"
)
_ZEROS = ("0" * 16, "0" * 32)
_MOST_DEPTH = 200
_YEAR_10000 = 253_402_300_800
_OTHER_SIGNALS = ("resourceMetrics", "resource_metrics", "resourceLogs", "resource_logs")
_SPELLINGS = {
    "int_value": "intValue",
    "array_value": "arrayValue",
    "kvlist_value": "kvlistValue",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span, its attributes flat by name."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: float | None
    end: float | None
    failed: bool
    """Whether its status is an error; unset counts as not failed, as the status of a span does."""
    message: str
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    record: str | int | None = None


def spans_of(record: dict[str, Any], where: str | int | None) -> Iterator[Span | None]:
    """The spans of one exported record: an OTLP request, or one span of a console exporter.

    None stands for a span without the id of its trace or its own, and for a record that holds
    neither spans nor the metrics and logs that one exporter may write beside them.
    """
    if "resourceSpans" in record or "resource_spans" in record:
        resources = record.get("resourceSpans") or record.get("resource_spans")
        for resource in as_list(resources):
            yield from _of_resource(as_mapping(resource), where)
    elif "context" in record:
        yield _of_console(record, where)
    elif not any(name in record for name in _OTHER_SIGNALS):
        yield None


def _of_resource(resource: dict[str, Any], where: str | int | None) -> Iterator[Span | None]:
    names = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
    scopes: object = next((resource[name] for name in names if name in resource), [])
    for scope in as_list(scopes):
        for given in as_list(as_mapping(scope).get("spans")):
            yield _of_otlp(as_mapping(given), where)


def _of_otlp(given: dict[str, Any], where: str | int | None) -> Span | None:
    trace = id_of(given.get("traceId", given.get("trace_id")))
    span = id_of(given.get("spanId", given.get("span_id")))
    if trace is None or span is None:
        return None
    status = as_mapping(given.get("status"))
    return Span(
        trace=trace,
        id=span,
        parent=id_of(given.get("parentSpanId", given.get("parent_span_id"))),
        name=as_text(given.get("name")),
        start=nanoseconds(given.get("startTimeUnixNano", given.get("start_time_unix_nano"))),
        end=nanoseconds(given.get("endTimeUnixNano", given.get("end_time_unix_nano"))),
        failed=status.get("code") in (2, "2", "STATUS_CODE_ERROR", "ERROR"),
        message=as_text(status.get("message")),
        attributes=attributes_of(given.get("attributes")),
        events=_events(given.get("events")),
        record=where,
    )


def _events(given: object) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    if not given:
        return ()
    return tuple(
        (as_text(event.get("name")), attributes_of(event.get("attributes")))
        for event in map(as_mapping, as_list(given))
    )


def _of_console(given: dict[str, Any], where: str | int | None) -> Span | None:
    context, status = as_mapping(given.get("context")), as_mapping(given.get("status"))
    trace, span = id_of(context.get("trace_id")), id_of(context.get("span_id"))
    if trace is None or span is None:
        return None
    return Span(
        trace=trace,
        id=span,
        parent=id_of(given.get("parent_id")),
        name=as_text(given.get("name")),
        start=parse_time(given.get("start_time")),
        end=parse_time(given.get("end_time")),
        failed=as_text(status.get("status_code")).upper() == "ERROR",
        message=as_text(status.get("description")),
        attributes=as_mapping(given.get("attributes")),
        events=_events(given.get("events")),
        record=where,
    )


def nested_spans(given: Any, trace: str) -> Iterator[Span | None]:
    """The spans of a tree of `child_spans`, in the order of the file; None for one without an id.

    A span without an id hands its own to whoever holds it.
    """
    waiting: list[tuple[Any, str | None]] = [(one, None) for one in as_list(given)[::-1]]
    while waiting:
        one, parent = waiting.pop()
        one = as_mapping(one)
        span = as_name(one.get("span_id"))
        yield _of_tree(one, span, trace, parent) if span is not None else None
        waiting += [(child, span or parent) for child in as_list(one.get("child_spans"))[::-1]]


def _of_tree(given: dict[str, Any], span: str, trace: str, parent: str | None) -> Span:
    start = parse_time(given.get("timestamp"))
    seconds = _seconds(given.get("duration"))
    return Span(
        trace=trace,
        id=span,
        parent=parent or as_name(given.get("parent_span_id")),
        name=as_text(given.get("span_name")),
        start=start,
        end=None if start is None or seconds is None else start + seconds,
        failed=as_text(given.get("status_code")).upper() == "ERROR",
        message=as_text(given.get("status_message")),
        attributes=as_mapping(given.get("span_attributes")),
        events=tuple(
            (as_text(event.get("Name", event.get("name"))), as_mapping(event.get("Attributes")))
            for event in map(as_mapping, as_list(given.get("events")))
        ),
        record=span,
    )


def _seconds(given: object) -> float | None:
    """Seconds of an ISO 8601 duration such as PT5.04S."""
    match = _DURATION.fullmatch(given) if isinstance(given, str) and len(given) < 100 else None
    if match is None or not any(match.groups()):
        return None
    try:
        days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    except ValueError:
        return None
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def id_of(given: object) -> str | None:
    """An id as lower-case hex digits, be it written as those, with 0x before, or in base64."""
    if not isinstance(given, str) or not given:
        return None
    match = _HEX.fullmatch(given)
    if match:
        digits = match[1].lower()
        return digits if digits not in _ZEROS else None
    try:
        raw = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw.hex() if len(raw) in (8, 16) and any(raw) else None


def nanoseconds(given: object) -> float | None:
    """Seconds since 1970 of OTLP's nanoseconds, which are written as text or as a number."""
    number: float | None
    if isinstance(given, str):
        number = int(given) if given.isdecimal() and len(given) < 30 else None
    else:
        number = given if type(given) is int else as_float(given)
    seconds = number / 1e9 if number is not None and number < _YEAR_10000 * 10**9 else 0.0
    return seconds if seconds > 0 else None


def attributes_of(given: object) -> dict[str, Any]:
    """Attributes as OTLP lists them, or as a mapping, flat by name."""
    if isinstance(given, dict):
        return given
    attributes: dict[str, Any] = {}
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, dict):
            continue
        key, value = one.get("key"), one.get("value")
        name = key if isinstance(key, str) else as_text(key)
        # Most values are text, which is asked for first.
        if isinstance(value, dict):
            text = value.get("stringValue")
            attributes[name] = text if isinstance(text, str) else _value(value, 0)
    return attributes


def _value(given: dict[str, Any], depth: int) -> Any:
    """What one of OTLP's typed values holds; whole numbers are written as text."""
    if depth > _MOST_DEPTH or len(given) != 1:
        return None
    kind, value = next(iter(given.items()))
    kind = _SPELLINGS.get(kind, kind)
    if kind == "intValue":
        text = value if isinstance(value, str) else str(value)
        return int(text) if re.fullmatch(r"-?\d{1,19}", text) else None
    if kind == "arrayValue":
        inner = as_list(as_mapping(value).get("values"))
        return [_value(as_mapping(one), depth + 1) for one in inner]
    if kind == "kvlistValue":
        inner = as_list(as_mapping(value).get("values"))
        return {
            as_text(one.get("key")): _value(as_mapping(one.get("value")), depth + 1)
            for one in map(as_mapping, inner)
        }
    return value
