"""Langfuse exports: traces with their observations, or observations one a line.

Fields are those of the vendor's API reference for traces and observations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._items import as_list, as_mapping, json_items
from turncurve.readers._span_groups import Named, runs_by_conversation
from turncurve.readers._spans import Span
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_count, as_float, as_json, as_name, as_text, parse_time
from turncurve.readers.stream import head, json_document

_START = re.compile(rb"\s*(?:\[\s*)?\{")
_OBSERVATION = re.compile(
    rb'"type"\s*:\s*"(?:GENERATION|SPAN|EVENT|TOOL|AGENT|CHAIN|RETRIEVER|EMBEDDING)"'
)
_KEYS = (b'"traceId"', b'"startTime"')
_OPERATIONS = {"GENERATION": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}

_ABSENT = {
    "quality": "no score of this conversation stands at a generation under that name",
    "error": "Langfuse exports hold no grades of steps",
    "context_tokens": "no generation of this conversation has its usage beside it",
    "cached_input_tokens": "no generation of this conversation says how much was cached",
    "output_tokens": "no generation of this conversation has its usage beside it",
    "reasoning_tokens": "no generation of this conversation counts its reasoning tokens",
    "cost_usd": "no generation of this conversation has its cost beside it",
    "started_at": "no generation of this conversation has its time beside it",
    "seconds": "no generation of this conversation has both of its times",
    "format_error": "observations do not say whether an answer could be read as an action",
    "compaction": "no observation says whether the conversation was compacted",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as observations, or as traces that hold them."""
    del path
    return bool(
        _START.match(head) and _OBSERVATION.search(head) and all(key in head for key in _KEYS)
    )


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each session, or each trace without one, as a run."""
    yield from runs_by_conversation(
        lambda tell: _spans(path, tell),
        format_="langfuse",
        path=path,
        on_problem=on_problem,
        absent=_ABSENT,
    )


def _spans(path: Path, on_problem: OnProblem) -> Iterator[Named]:
    for where, item in _items(path, on_problem):
        record = as_mapping(item)
        if isinstance(record.get("observations"), list):
            group = as_name(record.get("sessionId")) or as_name(record.get("id")) or f"at {where}"
            for one in record["observations"]:
                yield from _named(as_mapping(one), group, where)
        elif record.get("traceId"):
            group = as_name(record.get("sessionId")) or as_text(record.get("traceId"))
            yield from _named(record, group, where)
        elif "id" not in record:
            reason = "wanted an observation with a traceId, or a trace with its observations"
            fix = "the others were read"
            on_problem(ReadError(path, reason, record=where, fix=fix))


def _items(path: Path, on_problem: OnProblem) -> Iterator[tuple[str | int, Any]]:
    """The records of a list, of lines, or of an API answer with `data`."""
    start = head(path, 4096).lstrip()
    first = start.partition(b"\n")[0].rstrip()
    if start.startswith(b"{") and (not first.endswith(b"}") or first.startswith(b'{"data"')):
        try:
            document = as_mapping(json_document(path, on_problem))
        except ReadError as problem:
            on_problem(problem)
            return
        if isinstance(document.get("data"), list):
            yield from ((f"data[{i}]", one) for i, one in enumerate(document["data"]))
        else:
            yield "trace", document
        return
    yield from json_items(path, on_problem)


def _named(given: dict[str, Any], group: str, where: str | int) -> Iterator[Named]:
    name = as_name(given.get("id"))
    if name is None:
        return
    failed = given.get("level") == "ERROR"
    yield (
        group,
        Span(
            trace=as_text(given.get("traceId")) or group,
            id=name,
            parent=as_name(given.get("parentObservationId")),
            name=as_text(given.get("name")),
            start=parse_time(given.get("startTime")),
            end=parse_time(given.get("endTime")),
            failed=failed,
            message=as_text(given.get("statusMessage")),
            attributes=_attributes(given),
            record=where,
        ),
    )


def _attributes(given: dict[str, Any]) -> dict[str, Any]:
    """An observation in the words of the GenAI conventions."""
    kind = as_text(given.get("type"))
    attributes: dict[str, Any] = {"gen_ai.operation.name": _OPERATIONS.get(kind, kind.lower())}
    known = {
        "gen_ai.request.model": as_name(given.get("model")),
        "gen_ai.agent.name": as_name(given.get("name")) if kind == "AGENT" else None,
        "gen_ai.tool.name": as_name(given.get("name")) if kind == "TOOL" else None,
        "gen_ai.tool.call.arguments": given.get("input") if kind == "TOOL" else None,
        "gen_ai.tool.call.result": given.get("output") if kind == "TOOL" else None,
        "gen_ai.usage.cost": _cost(given),
        "gen_ai.input.messages": _messages(given.get("input")),
        "gen_ai.output.messages": _messages(given.get("output")),
        **_usage(given),
    }
    return attributes | {key: value for key, value in known.items() if value is not None}


def _cost(given: dict[str, Any]) -> float | None:
    costs = as_mapping(given.get("costDetails"))
    for value in (costs.get("total"), given.get("totalCost"), given.get("calculatedTotalCost")):
        cost = as_float(value)
        if cost is not None and cost > 0:
            return cost
    return None


def _usage(given: dict[str, Any]) -> dict[str, int | None]:
    """Tokens by kind: each kind of input is counted apart, so the input is their sum."""
    details = as_mapping(given.get("usageDetails")) or as_mapping(given.get("usage"))
    fresh = _first(details, "input", "promptTokens", "prompt_tokens", "input_tokens")
    cached = _first(details, "input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
    written = _first(details, "cache_creation_input_tokens", "input_cache_creation")
    output = _first(details, "output", "completionTokens", "completion_tokens", "output_tokens")
    reasoning = _first(details, "output_reasoning_tokens", "output_reasoning")
    inputs = [count for count in (fresh, cached, written) if count is not None]
    return {
        "gen_ai.usage.input_tokens": sum(inputs) if inputs else None,
        "gen_ai.usage.cache_read.input_tokens": cached,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "gen_ai.usage.output_tokens": None if output is None else output + (reasoning or 0),
        "gen_ai.usage.reasoning.output_tokens": reasoning,
    }


def _first(details: dict[str, Any], *names: str) -> int | None:
    return next(
        (count for name in names if (count := as_count(details.get(name))) is not None), None
    )


def _messages(given: object) -> str | None:
    """Messages as JSON text, whether one, several, or a bare text."""
    if isinstance(given, dict) and isinstance(given.get("messages"), list):
        given = given["messages"]
    if isinstance(given, str):
        given = {"content": given}
    if isinstance(given, dict):
        given = [given]
    return as_json(given) if as_list(given) else None


READER = Reader(
    name="langfuse",
    title="Langfuse exports of traces and observations (.json, .jsonl)",
    recognised_by="observations that have a traceId, a startTime and a type such as GENERATION",
    looks_like=looks_like,
    read=read,
    no_run="a Langfuse export without a generation",
)
