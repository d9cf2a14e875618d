"""LangSmith exports: runs of all kinds, one a line, in a list, nested, or in Parquet.

Fields are those of the vendor's reference of the run format and of how model calls are logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_RUN_TYPE = re.compile(rb'"run_type"\s*:\s*"(?:llm|tool|chain|prompt|retriever|parser|embedding)"')
_NAMES_OF_TRACE = (b'"trace_id"', b'"dotted_order"')
_HEAD = 60_000
"""Bytes from which on a head is taken for a part of its file."""
_COLUMNS = ("id", "trace_id", "run_type", "start_time")
_OPERATIONS = {"llm": "chat", "tool": "execute_tool"}
_THREADS = ("session_id", "thread_id", "conversation_id")
_TRACE_OF = re.compile(r"[^.Z]*Z([^.]+)")

_ABSENT = {
    "quality": "no model run of this trace has feedback of that name",
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
    if not _START.match(head):
        return parquet_has(head, path, _COLUMNS)
    if not _RUN_TYPE.search(head) or b'"start_time"' not in head:
        return False
    # The trace may stand behind inputs that are longer than the head.
    named = any(name in head for name in _NAMES_OF_TRACE)
    return named or (len(head) >= _HEAD and b'"inputs"' in head)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each thread, or each trace without one, as a run."""
    scores = Scores()
    yield from runs_by_conversation(
        _named(path, scores),
        lambda tell: _spans(path, tell),
        scores,
        format_="langsmith",
        path=path,
        on_problem=on_problem,
        absent=_ABSENT,
    )


def _named(path: Path, scores: Scores) -> Iterator[Named]:
    for _, item in exported_records(path, _told_later):
        for run, _, trace in _with_children(as_mapping(item)):
            name = as_name(run.get("id"))
            if name is not None and trace is not None:
                _take_feedback(run, trace, name, scores)
                metadata = _metadata(as_mapping(decoded(run.get("extra"))))
                threads = (as_name(metadata.get(key)) for key in _THREADS)
                yield trace, next((thread for thread in threads if thread), None)


def _told_later(_: ReadError) -> None:
    """The reading of the spans tells."""


def _metadata(extra: dict[str, Any]) -> dict[str, Any]:
    return as_mapping(decoded(extra.get("metadata")))


def _spans(path: Path, on_problem: OnProblem) -> Iterator[Span]:
    for where, item in exported_records(path, on_problem):
        for run, parent, trace in _with_children(as_mapping(item)):
            name = as_name(run.get("id"))
            if name is not None and trace is not None:
                yield _span(run, name, (trace, parent), where)
            else:
                reason, fix = "wanted a run with an id and a trace_id", "the others were read"
                on_problem(ReadError(path, reason, record=where, fix=fix))


def _span(run: dict[str, Any], name: str, above: tuple[str, str | None], where: str | int) -> Span:
    failure = as_text(run.get("error"))
    return Span(
        trace=above[0],
        id=name,
        parent=as_name(run.get("parent_run_id")) or above[1],
        name=as_text(run.get("name")),
        start=parse_time(run.get("start_time")),
        end=parse_time(run.get("end_time")),
        failed=bool(failure) or run.get("status") == "error",
        message=failure,
        attributes=_attributes(run),
        record=where,
    )


def _with_children(run: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str | None, str | None]]:
    """A run and those nested in it, each with its parent and its trace."""
    waiting: list[tuple[dict[str, Any], str | None, str | None]] = [(run, None, None)]
    while waiting:
        one, parent, above = waiting.pop()
        trace = as_name(one.get("trace_id")) or _trace_of(one.get("dotted_order")) or above
        yield one, parent, trace
        name = as_name(one.get("id")) or parent
        children = as_list(decoded(one.get("child_runs")))
        waiting += [(as_mapping(child), name, trace) for child in reversed(children)]


def _trace_of(dotted_order: object) -> str | None:
    """The root's id in a dotted order: `<time>Z<root's id>.<time>Z<id>`..."""
    found = _TRACE_OF.match(dotted_order) if isinstance(dotted_order, str) else None
    return found[1] if found else None


def _take_feedback(run: dict[str, Any], trace: str, name: str, scores: Scores) -> None:
    for key, stats in as_mapping(decoded(run.get("feedback_stats"))).items():
        mean = as_float(as_mapping(stats).get("avg"))
        if mean is None:
            continue
        if run.get("run_type") == "llm":
            scores.add_to_turn(f"{trace}/{name}", (name, key, mean))
        else:
            scores.add_to_run(trace, (name, key, mean))


def _attributes(run: dict[str, Any]) -> dict[str, Any]:
    """A run in the words of the GenAI conventions."""
    kind = as_text(run.get("run_type"))
    inputs, outputs = (as_mapping(decoded(run.get(key))) for key in ("inputs", "outputs"))
    known: dict[str, Any] = {"gen_ai.operation.name": _OPERATIONS.get(kind, kind)}
    if kind == "tool":
        known |= {
            "gen_ai.tool.name": as_name(run.get("name")),
            "gen_ai.tool.call.id": _call_id(inputs, outputs),
            "gen_ai.tool.call.arguments": inputs.get("input", inputs),
            "gen_ai.tool.call.result": _output(outputs),
        }
    elif kind == "llm":
        extra = as_mapping(decoded(run.get("extra")))
        asked = as_mapping(extra.get("invocation_params"))
        names = (_metadata(extra).get("ls_model_name"), asked.get("model"), asked.get("model_name"))
        answers = [one for one in _answers(outputs) if one["role"] in ("assistant", "")]
        known |= {
            "gen_ai.request.model": next((name for one in names if (name := as_name(one))), None),
            "gen_ai.input.messages": _asked(inputs),
            "gen_ai.output.messages": answers,
            **_usage(run, outputs),
        }
    return {key: value for key, value in known.items() if value is not None}


def _asked(inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model was asked: messages, or the prompts of a model that completes text."""
    for key in ("messages", "input", "prompts", "prompt"):
        if inputs.get(key):
            return messages_since_answer(inputs[key])
    return []


def _cost(*given: object) -> float | None:
    for cost in given:  # a decimal may be written as text
        if isinstance(cost, str) and re.fullmatch(r"\d{1,12}(?:\.\d{1,18})?", cost):
            cost = float(cost)
        number = as_float(cost)
        if number is not None and number > 0:
            return number
    return None


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


def _raw_answers(outputs: dict[str, Any]) -> list[Any]:
    """The answer in a run's outputs, in the shapes that its writers use."""
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, dict):
        return [generations.get("message") or {"content": generations.get("text")}]
    choices = as_list(outputs.get("choices"))
    if choices:
        return [as_mapping(choices[0]).get("message")]
    for key in ("message", "output"):
        given = outputs.get(key)
        if isinstance(given, list) and len(given) == 2 and all(isinstance(w, str) for w in given):
            return [{"role": given[0], "content": given[1]}]
        if given:
            return given if isinstance(given, list) else [given]
    return as_list(outputs.get("messages")) or ([outputs] if "content" in outputs else [])


def _answers(outputs: dict[str, Any]) -> list[dict[str, Any]]:
    return chat_messages(_raw_answers(outputs))


def _usage(run: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    """Tokens and cost as LangSmith counts them: input and output include their parts."""
    given = as_mapping(outputs.get("usage_metadata"))
    for answer in map(as_mapping, _raw_answers(outputs)):
        inner = as_mapping(answer.get("kwargs")) or as_mapping(answer.get("data")) or answer
        given = given or as_mapping(inner.get("usage_metadata"))
    prompt, output = as_count(given.get("input_tokens")), as_count(given.get("output_tokens"))
    read, written = _cached(as_mapping(given.get("input_token_details")))
    parts = as_mapping(given.get("output_token_details"))
    if prompt is None and output is None:
        # A run that counted nothing has 0 here, as runs of every kind do.
        prompt = as_count(run.get("prompt_tokens")) or None
        output = as_count(run.get("completion_tokens")) if prompt else None
        read, written = _cached(as_mapping(decoded(run.get("prompt_token_details"))))
        parts = as_mapping(decoded(run.get("completion_token_details")))
    return {
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "gen_ai.usage.output_tokens": output,
        "gen_ai.usage.reasoning.output_tokens": as_count(parts.get("reasoning")),
        "gen_ai.usage.cost": _cost(given.get("total_cost"), run.get("total_cost")),
    }


def _cached(details: dict[str, Any]) -> tuple[int | None, int | None]:
    """Cached tokens that were read, and written: in one number, or by how long they are kept."""
    written = as_count(details.get("cache_creation"))
    if not written:
        kept = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
        counts = [n for key in kept if (n := as_count(details.get(key))) is not None]
        written = sum(counts) if counts else written
    return as_count(details.get("cache_read")), written


READER = Reader(
    name="langsmith",
    title="LangSmith exports of runs (.json, .jsonl, .parquet)",
    recognised_by="runs that have a run_type, a trace_id and a start_time",
    looks_like=looks_like,
    read=read,
    no_run="a LangSmith export without a model run",
)
