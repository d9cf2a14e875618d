"""Builders of OTLP requests for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run, Turn
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

TRACE = "a" * 32
START = 1_760_000_000


def value(given: Any) -> dict[str, Any]:
    """One of OTLP's typed values."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(one) for one in given]}}
    if isinstance(given, dict):
        listed = [{"key": name, "value": value(one)} for name, one in given.items()]
        return {"kvlistValue": {"values": listed}}
    return {"stringValue": given}


def span(
    number: int,
    operation: str | None,
    attributes: dict[str, Any] | None = None,
    *,
    at: float | None = None,
    parent: int | None = None,
    trace: str = TRACE,
    **more: Any,
) -> dict[str, Any]:
    """A span of half a second that starts after `at` seconds, or as many as its number is."""
    start = int((START + (number if at is None else at)) * 1e9)
    given = dict(attributes or {})
    if operation is not None:
        given = {"gen_ai.operation.name": operation, **given}
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": operation or "span",
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 500_000_000),
        "attributes": [{"key": name, "value": value(one)} for name, one in given.items()],
        "status": {},
        **more,
    }


def chat(number: int, tokens: int = 10, **more: Any) -> dict[str, Any]:
    """A model call with as many input tokens and one of output; `also` is further attributes."""
    counts = {"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 1}
    return span(number, "chat", {**counts, **more.pop("also", {})}, **more)


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    """An OTLP request."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [*spans]}]}]}


def write(path: Path, *requests: dict[str, Any]) -> Path:
    """A file of one record a line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in requests), encoding="utf-8")
    return path


def said(*parts: dict[str, Any], role: str = "assistant") -> str:
    """Messages as an attribute holds them."""
    return json.dumps([{"role": role, "parts": [*parts]}])


def asks(call_id: str | None, name: str = "t") -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": {"x": 1}}


def runs_of(folder: Path, *spans: dict[str, Any]) -> list[Run]:
    """The runs of some spans, written as one request; no problem may come up."""
    return list(READERS["otel"].read(write(folder / "t.jsonl", request(*spans)), raise_problem))


def runs_and_problems(folder: Path, *records: Any) -> tuple[list[Run], list[ReadError]]:
    """The runs and the problems of some records, each on a line."""
    problems: list[ReadError] = []
    path = write(folder / "t.jsonl", *records)
    return list(READERS["otel"].read(path, problems.append)), problems


def only_turn(runs: list[Run]) -> Turn:
    (run,) = runs
    (turn,) = run.turns
    return turn
