"""Langfuse exports: traces with their observations, or observations one a line.

Fields are those of the vendor's API reference for traces and observations, and of its reference of
the fields that exports to blob storage hold, which spells the same names with underscores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._chat_messages import chat_messages, decoded, messages_since_answer
from turncurve.readers._exported import exported_records, parquet_has
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._span_groups import Named, runs_by_conversation
from turncurve.readers._span_scores import Scores
from turncurve.readers._spans import Span
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_count, as_float, as_name, as_text, parse_time

_START = re.compile(rb"\s*(?:\[\s*)?\{")
_OBSERVATION = re.compile(
    rb'"type"\s*:\s*"(?:GENERATION|SPAN|EVENT|TOOL|AGENT|CHAIN|RETRIEVER|EMBEDDING|EVALUATOR|'
    rb'GUARDRAIL)"'
)
_KEYS = (b'"traceId"', b'"startTime"'), (b'"trace_id"', b'"start_time"')
_OWN = (b'"projectId"', b'"project_id"', b'"parentObservationId"', b'"parent_observation_id"')
_TRACE = (b'"projectId"', b'"bookmarked"')
"""Keys of a trace whose observations stand behind a long input."""
_HEAD = 60_000
_COLUMNS = ("trace_id", "start_time", "type", "parent_observation_id")
_SPELLINGS = {
    "trace_id": "traceId",
    "session_id": "sessionId",
    "start_time": "startTime",
    "end_time": "endTime",
    "parent_observation_id": "parentObservationId",
    "status_message": "statusMessage",
    "provided_model_name": "providedModelName",
    "usage_details": "usageDetails",
    "cost_details": "costDetails",
    "total_cost": "totalCost",
    "tool_calls": "toolCalls",
}
_COUNTED_SCORES = ("NUMERIC", "BOOLEAN")
_OPERATIONS = {"GENERATION": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}

_ABSENT = {
    "quality": "no generation of this conversation has a score of that name in the file",
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
    if _START.match(head):
        shows = _OBSERVATION.search(head) and any(all(k in head for k in keys) for keys in _KEYS)
        if shows:
            return any(key in head for key in _OWN)
        return len(head) >= _HEAD and all(key in head for key in _TRACE)
    return parquet_has(head, path, _COLUMNS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each session, or each trace without one, as a run."""
    scores = Scores()
    yield from runs_by_conversation(
        _named(path, scores),
        lambda tell: _spans(path, tell),
        scores,
        format_="langfuse",
        path=path,
        on_problem=on_problem,
        absent=_ABSENT,
    )


def _observations(
    path: Path, on_problem: OnProblem
) -> Iterator[tuple[str | int, dict[str, Any], str | None, dict[str, Any]]]:
    """Give (where, observation, its trace's id, the record that holds it)."""
    for where, item in exported_records(path, on_problem):
        record = _spelled(as_mapping(item))
        inner = record.get("observations")
        if isinstance(inner, list):
            trace = as_name(record.get("id")) or f"at {where}"
            for place, one in enumerate(inner):
                at = f"{where}: observations[{place}]"
                yield at, _spelled(as_mapping(one)), trace, record
        else:
            yield where, record, as_name(record.get("traceId")), record


def _named(path: Path, scores: Scores) -> Iterator[Named]:
    told = None
    for _, one, trace, record in _observations(path, _told_later):
        if record is not one and record is not told:
            told = record
            _take_scores(record, trace or "", scores)
        if trace is not None and as_name(one.get("id")) is not None:
            yield trace, as_name(record.get("sessionId")) or as_name(one.get("sessionId"))


def _told_later(_: ReadError) -> None:
    """The reading of the spans tells."""


def _spans(path: Path, on_problem: OnProblem) -> Iterator[Span]:
    for where, one, trace, _ in _observations(path, on_problem):
        name = as_name(one.get("id"))
        if trace is not None and name is not None:
            yield _span(one, name, trace, where)
            continue
        reason = "wanted an observation with an id and a traceId, or a trace with observations"
        on_problem(ReadError(path, reason, record=where, fix="the others were read"))


def _spelled(record: dict[str, Any]) -> dict[str, Any]:
    """The record in the API's spelling."""
    if "trace_id" not in record:
        return record
    return {_SPELLINGS.get(key, key): value for key, value in record.items()}


def _take_scores(record: dict[str, Any], trace: str, scores: Scores) -> None:
    held = [_spelled(as_mapping(one)) for one in record["observations"]]
    calls = {as_text(one.get("id")) for one in held if one.get("type") == "GENERATION"}
    for place, score in enumerate(map(as_mapping, as_list(record.get("scores")))):
        name, value = as_name(score.get("name")), as_float(score.get("value"))
        kind = score.get("dataType") or _COUNTED_SCORES[0]
        if name is None or value is None or kind not in _COUNTED_SCORES:
            continue
        given = as_name(score.get("id")) or f"{place}", name, value
        observation = as_name(score.get("observationId"))
        if observation in calls:
            scores.add_to_turn(f"{trace}/{observation}", given)
        else:
            scores.add_to_run(trace, given)


def _span(given: dict[str, Any], name: str, trace: str, where: str | int) -> Span:
    return Span(
        trace=trace,
        id=name,
        parent=as_name(given.get("parentObservationId")),
        name=as_text(given.get("name")),
        start=parse_time(given.get("startTime")),
        end=parse_time(given.get("endTime")),
        failed=given.get("level") == "ERROR",
        message=as_text(given.get("statusMessage")),
        attributes=_attributes(given),
        record=where,
    )


def _attributes(given: dict[str, Any]) -> dict[str, Any]:
    """An observation in the words of the GenAI conventions."""
    kind, name = as_text(given.get("type")), as_name(given.get("name"))
    known: dict[str, Any] = {"gen_ai.operation.name": _OPERATIONS.get(kind, kind.lower())}
    if kind == "GENERATION":
        known |= {
            "gen_ai.request.model": as_name(given.get("model"))
            or as_name(given.get("providedModelName")),
            "gen_ai.usage.cost": _cost(given),
            "gen_ai.input.messages": messages_since_answer(given.get("input")),
            "gen_ai.output.messages": _answer(given),
            **_usage(given),
        }
    elif kind == "TOOL":
        known |= {
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.arguments": decoded(given.get("input")),
            "gen_ai.tool.call.result": given.get("output"),
        }
    elif kind == "AGENT":
        known["gen_ai.agent.name"] = name
    return {key: value for key, value in known.items() if value is not None}


def _answer(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of the output, with the calls that stand in a column of their own."""
    messages = chat_messages(given.get("output"))
    calls = decoded(given.get("toolCalls"))
    if calls and not any(message["tool_calls"] for message in messages):
        messages += chat_messages([{"role": "assistant", "tool_calls": calls}])
    return messages


def _cost(given: dict[str, Any]) -> float | None:
    costs = as_mapping(decoded(given.get("costDetails")))
    for value in (costs.get("total"), given.get("totalCost"), given.get("calculatedTotalCost")):
        cost = as_float(value)
        if cost is not None and cost > 0:
            return cost
    return None


def _usage(given: dict[str, Any]) -> dict[str, int | None]:
    """Tokens of all kinds that the vendor adds up: those whose name holds `input`, or `output`."""
    details = as_mapping(decoded(given.get("usageDetails")))
    counts = {
        key.lower(): n for key, given_ in details.items() if (n := as_count(given_)) is not None
    }
    inputs = {key: n for key, n in counts.items() if "input" in key}
    outputs = {key: n for key, n in counts.items() if "output" in key}
    if not inputs and not outputs:
        return _older_usage(as_mapping(given.get("usage")) or details)
    cache = {key: n for key, n in inputs.items() if "cache" in key}
    written = {k: n for k, n in cache.items() if "creation" in k or "write" in k}
    return {
        "gen_ai.usage.input_tokens": _total(inputs),
        "gen_ai.usage.cache_read.input_tokens": _total(
            {k: cache[k] for k in cache.keys() - written}
        ),
        "gen_ai.usage.cache_creation.input_tokens": _total(written),
        "gen_ai.usage.output_tokens": _total(outputs),
        "gen_ai.usage.reasoning.output_tokens": _total(
            {k: n for k, n in counts.items() if "reasoning" in k}
        ),
    }


def _older_usage(usage: dict[str, Any]) -> dict[str, int | None]:
    prompt = (usage.get("input"), usage.get("promptTokens"), usage.get("prompt_tokens"))
    answer = (usage.get("output"), usage.get("completionTokens"), usage.get("completion_tokens"))
    first = [
        next((n for one in names if (n := as_count(one)) is not None), None)
        for names in (prompt, answer)
    ]
    return {"gen_ai.usage.input_tokens": first[0], "gen_ai.usage.output_tokens": first[1]}


def _total(counts: Mapping[str, int]) -> int | None:
    return sum(counts.values()) if counts else None


READER = Reader(
    name="langfuse",
    title="Langfuse exports of traces and observations (.json, .jsonl, .parquet)",
    recognised_by="observations that have a traceId, a startTime and a type such as GENERATION",
    looks_like=looks_like,
    read=read,
    no_run="a Langfuse export without a generation",
)
