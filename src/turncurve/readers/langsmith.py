"""LangSmith exports: runs of all kinds, one a line, in a list, or in a Parquet-like bulk export.

Fields are those of the vendor's run schema.
"""

from __future__ import annotations

import json
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

_START = re.compile(rb"\s*(?:\[\s*)?\{")
_RUN_TYPE = re.compile(rb'"run_type"\s*:\s*"(?:llm|tool|chain|prompt|retriever|parser|embedding)"')
_KEYS = (b'"trace_id"', b'"start_time"')
_OPERATIONS = {"llm": "chat", "tool": "execute_tool"}
_ROLES = {"human": "user", "ai": "assistant", "AIMessage": "assistant", "HumanMessage": "user"}

_ABSENT = {
    "quality": "LangSmith exports hold no score of a turn under that name",
    "error": "LangSmith exports hold no grades of steps",
    "context_tokens": "no model run of this trace has its usage beside it",
    "cached_input_tokens": "no model run of this trace says how much was cached",
    "output_tokens": "no model run of this trace has its usage beside it",
    "reasoning_tokens": "no model run of this trace counts its reasoning tokens",
    "cost_usd": "no model run of this trace has its cost beside it",
    "started_at": "no model run of this trace has its time beside it",
    "seconds": "no model run of this trace has both of its times",
    "format_error": "runs do not say whether an answer could be read as an action",
    "compaction": "no run says whether the conversation was compacted",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as runs with a run_type and a trace_id."""
    del path
    return bool(_START.match(head) and _RUN_TYPE.search(head) and all(key in head for key in _KEYS))


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each thread, or each trace without one, as a run."""
    yield from runs_by_conversation(
        lambda tell: _spans(path, tell),
        format_="langsmith",
        path=path,
        on_problem=on_problem,
        absent=_ABSENT,
    )


def _spans(path: Path, on_problem: OnProblem) -> Iterator[Named]:
    for where, item in json_items(path, on_problem):
        run = as_mapping(item)
        name, trace = as_name(run.get("id")), as_name(run.get("trace_id"))
        if name is None or trace is None:
            reason = "wanted a run with an id and a trace_id"
            on_problem(ReadError(path, reason, record=where, fix="the others were read"))
            continue
        metadata = as_mapping(_decoded(_decoded(run.get("extra"), {}).get("metadata"), {}))
        keys = ("thread_id", "session_id", "conversation_id")
        group = next((one for key in keys if (one := as_name(metadata.get(key)))), trace)
        failure = as_text(run.get("error"))
        yield (
            group,
            Span(
                trace=trace,
                id=name,
                parent=as_name(run.get("parent_run_id")),
                name=as_text(run.get("name")),
                start=parse_time(run.get("start_time")),
                end=parse_time(run.get("end_time")),
                failed=bool(failure) or run.get("status") == "error",
                message=failure,
                attributes=_attributes(run, metadata),
                record=where,
            ),
        )


def _decoded(given: object, otherwise: Any) -> Any:
    """A value, or what a JSON text of it holds: bulk exports write mappings as text."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return otherwise
    return given if isinstance(given, dict) else otherwise


def _attributes(run: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """A run in the words of the GenAI conventions."""
    kind = as_text(run.get("run_type"))
    inputs, outputs = _decoded(run.get("inputs"), {}), _decoded(run.get("outputs"), {})
    attributes: dict[str, Any] = {"gen_ai.operation.name": _OPERATIONS.get(kind, kind)}
    is_tool, is_call = kind == "tool", kind == "llm"
    known = {
        "gen_ai.request.model": as_name(metadata.get("ls_model_name")),
        "gen_ai.tool.name": as_name(run.get("name")) if is_tool else None,
        "gen_ai.tool.call.id": _call_id(inputs, outputs) if is_tool else None,
        "gen_ai.tool.call.arguments": inputs.get("input", inputs) if is_tool else None,
        "gen_ai.tool.call.result": _output(outputs) if is_tool else None,
        "gen_ai.usage.cost": _cost(run.get("total_cost")) if is_call else None,
        "gen_ai.input.messages": _messages(inputs.get("messages")) if is_call else None,
        "gen_ai.output.messages": _messages(_answers(outputs)) if is_call else None,
        **(_usage(run, outputs) if is_call else {}),
    }
    return attributes | {key: value for key, value in known.items() if value is not None}


def _cost(given: object) -> float | None:
    if isinstance(given, str) and re.fullmatch(r"\d{1,12}(?:\.\d{1,18})?", given):
        given = float(given)
    cost = as_float(given)
    return cost if cost is not None and cost > 0 else None


def _call_id(inputs: dict[str, Any], outputs: dict[str, Any]) -> str | None:
    output = as_mapping(outputs.get("output"))
    inner = as_mapping(output.get("kwargs"))
    given = (output.get("tool_call_id"), inner.get("tool_call_id"), inputs.get("tool_call_id"))
    return next((name for one in given if (name := as_name(one))), None)


def _output(outputs: dict[str, Any]) -> Any:
    output = outputs.get("output", outputs)
    if isinstance(output, dict):
        inner = as_mapping(output.get("kwargs"))
        return inner.get("content", output.get("content", output))
    return output


def _answers(outputs: dict[str, Any]) -> list[Any]:
    """The answer in a run's outputs, in the shapes that its writers use."""
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, dict):
        return [generations.get("message") or {"content": generations.get("text")}]
    for key in ("message", "output"):
        if isinstance(outputs.get(key), dict):
            return [outputs[key]]
    choices = as_list(outputs.get("choices"))
    if choices:
        return [as_mapping(choices[0]).get("message")]
    return as_list(outputs.get("messages")) or ([outputs] if "content" in outputs else [])


def _messages(given: object) -> str | None:
    flat = given[0] if isinstance(given, list) and given and isinstance(given[0], list) else given
    messages = [_message(as_mapping(one)) for one in as_list(flat)]
    return as_json(messages) if messages else None


def _message(given: dict[str, Any]) -> dict[str, Any]:
    """A message with a role, content and calls: plain, or as a serialized LangChain object."""
    inner = as_mapping(given.get("kwargs")) or as_mapping(given.get("data")) or given
    named = as_list(given.get("id"))
    kind = as_text(inner.get("role") or inner.get("type") or given.get("type"))
    if named and isinstance(named[-1], str):
        kind = named[-1]
    calls = [
        {"id": one.get("id"), "name": one.get("name"), "arguments": one.get("args")}
        if "args" in one
        else one
        for one in map(as_mapping, as_list(inner.get("tool_calls")))
    ]
    role = _ROLES.get(kind, kind.removesuffix("Message").lower())
    return {"role": role, "content": as_text(inner.get("content")), "tool_calls": calls}


def _usage(run: dict[str, Any], outputs: dict[str, Any]) -> dict[str, int | None]:
    """Tokens as LangChain counts them: input and output include their parts."""
    given = as_mapping(outputs.get("usage_metadata"))
    for answer in map(as_mapping, _answers(outputs)):
        inner = as_mapping(answer.get("kwargs")) or answer
        given = given or as_mapping(inner.get("usage_metadata"))
    inputs = as_mapping(given.get("input_token_details"))
    parts = as_mapping(given.get("output_token_details"))
    prompt, output = as_count(given.get("input_tokens")), as_count(given.get("output_tokens"))
    return {
        "gen_ai.usage.input_tokens": as_count(run.get("prompt_tokens"))
        if prompt is None
        else prompt,
        "gen_ai.usage.cache_read.input_tokens": as_count(inputs.get("cache_read")),
        "gen_ai.usage.cache_creation.input_tokens": as_count(inputs.get("cache_creation")),
        "gen_ai.usage.output_tokens": as_count(run.get("completion_tokens"))
        if output is None
        else output,
        "gen_ai.usage.reasoning.output_tokens": as_count(parts.get("reasoning")),
    }


READER = Reader(
    name="langsmith",
    title="LangSmith exports of runs (.json, .jsonl)",
    recognised_by="runs that have a run_type, a trace_id and a start_time",
    looks_like=looks_like,
    read=read,
    no_run="a LangSmith export without a model run",
)
