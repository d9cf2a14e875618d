"""A run as an ATIF trajectory, with each turn's signals and grades in its `extra`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from turncurve.model import Grade, Run, ToolCall, ToolResult, Turn, Usage
from turncurve.report.json import plain

VERSION = "ATIF-v1.7"
KEY = "turncurve"
"""The key of `extra` under which everything stands that ATIF has no field for."""

LOSSES = (
    "ATIF has no place for arguments that are no JSON object: they stand in a text under `text`",
    "a sub-agent's run is a trajectory of its own, with its parent's id in `extra`",
)


def trajectory(run: Run, signals: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The run as one ATIF document.

    Prompt tokens include cached ones, as the format counts; a number that is not known is left out.

    Args:
        run: The run.
        signals: Signals of each turn by name, without those that are missing.
    """
    steps = list(_steps(run, signals))
    for number, step in enumerate(steps, start=1):
        step["step_id"] = number
    agent: dict[str, Any] = {"name": run.agent or "agent", "version": "unknown"}
    if run.model is not None:
        agent["model_name"] = _text(run.model)
    return {
        "schema_version": VERSION,
        "session_id": _text(run.id),
        "trajectory_id": _text(run.id),
        "agent": agent,
        "steps": steps or [{"step_id": 1, "source": "system", "message": "no turn"}],
        **_final(run.turns),
        "extra": {KEY: _of_run(run)},
    }


def _of_run(run: Run) -> dict[str, Any]:
    known = {
        "format": run.format,
        "path": run.path,
        "scenario": run.scenario,
        "trial": run.trial,
        "condition": run.condition,
        "parent": run.parent,
        "exit_type": run.exit_type.value,
        "success": run.success,
        "score": run.score,
    }
    return {name: plain(value) for name, value in known.items() if value is not None}


def _steps(run: Run, signals: Sequence[Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    compacted = {event.turn for event in run.events if event.kind == "compaction"}
    for turn, known in zip(run.turns, signals, strict=True):
        if turn.index in compacted:
            yield {
                "source": "system",
                "message": "The context was compacted.",
                "extra": {"context_management": {"type": "compaction"}},
            }
        for message in turn.before:
            yield {"source": message.role, "message": _text(message.text)}
        yield _agent_step(turn, known)
    if len(run.turns) + 1 in compacted:
        yield {
            "source": "system",
            "message": "The context was compacted.",
            "extra": {"context_management": {"type": "compaction"}},
        }


def _agent_step(turn: Turn, known: Mapping[str, float]) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": _text(turn.text)}
    if turn.started_at is not None:
        step["timestamp"] = datetime.fromtimestamp(turn.started_at, UTC).isoformat()
    if turn.model is not None:
        step["model_name"] = _text(turn.model)
    ids = [call.id or f"call-{turn.index}-{i}" for i, call in enumerate(turn.tool_calls, start=1)]
    if turn.tool_calls:
        calls = zip(ids, turn.tool_calls, strict=True)
        step["tool_calls"] = [_call(name, call) for name, call in calls]
    if turn.tool_results:
        step["observation"] = {"results": [*_results(turn, ids)]}
    metrics = _metrics(turn.usage, turn.cost_usd)
    if metrics:
        step["metrics"] = metrics
    step["extra"] = {KEY: _own(turn, known)}
    return step


def _own(turn: Turn, known: Mapping[str, float]) -> dict[str, Any]:
    own: dict[str, Any] = {"turn": turn.index, "signals": plain(dict(known))}
    if turn.seconds is not None:
        own["seconds"] = turn.seconds
    if turn.grades:
        own["grades"] = [_grade(grade) for grade in turn.grades]
    return own


def _grade(grade: Grade) -> dict[str, Any]:
    return {name: value for name, value in plain(grade).items() if value is not None}


def _call(name: str, call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments
    given = {"text": arguments} if isinstance(arguments, str) else dict(arguments)
    return {
        "tool_call_id": _text(name),
        "function_name": _text(call.name),
        "arguments": _json(given),
    }


def _results(turn: Turn, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Results by the ids of their calls; where they name none and are as many, in order."""
    nameless = all(result.call_id is None for result in turn.tool_results)
    by_order = nameless and len(turn.tool_results) == len(ids)
    for i, result in enumerate(turn.tool_results):
        yield _result(result, ids[i] if by_order else result.call_id, known=set(ids))


def _result(result: ToolResult, call_id: str | None, *, known: set[str]) -> dict[str, Any]:
    given: dict[str, Any] = {"content": _text(result.text)}
    if call_id is not None and call_id in known:
        given["source_call_id"] = _text(call_id)
    if result.error is not None:
        given["extra"] = {"is_error": result.error}
    return given


def _metrics(usage: Usage | None, cost: float | None) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    if usage is not None:
        known = {
            "prompt_tokens": usage.context_tokens,
            "completion_tokens": usage.output,
            "cached_tokens": usage.cache_read,
        }
        extra = {
            "cache_creation_input_tokens": usage.cache_write,
            "reasoning_tokens": usage.reasoning,
        }
        metrics |= {name: value for name, value in known.items() if value is not None}
        extra = {name: value for name, value in extra.items() if value is not None}
        if extra:
            metrics["extra"] = extra
    if cost is not None:
        metrics["cost_usd"] = cost
    return metrics


def _final(turns: Sequence[Turn]) -> dict[str, Any]:
    """Sums over the turns, each where every turn has the number."""
    usages = [turn.usage for turn in turns]
    sums: dict[str, Any] = {}
    for name, attribute in (
        ("total_prompt_tokens", "context_tokens"),
        ("total_completion_tokens", "output"),
        ("total_cached_tokens", "cache_read"),
    ):
        counts = [None if usage is None else getattr(usage, attribute) for usage in usages]
        if counts and all(count is not None for count in counts):
            sums[name] = sum(counts)
    costs = [turn.cost_usd for turn in turns]
    if costs and all(cost is not None for cost in costs):
        sums["total_cost_usd"] = sum(cost for cost in costs if cost is not None)
    return {"final_metrics": sums} if sums else {}


def _json(value: Any) -> Any:
    """Arguments as JSON has them; what it has no form for as text."""
    if isinstance(value, Mapping):
        return {_text(str(key)): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return plain(value)
    return value if value is None or isinstance(value, bool | int) else _text(str(value))


def _text(value: str) -> str:
    """A trace may hold half a surrogate pair, which no encoding can write."""
    return value.encode("utf-8", "replace").decode()
