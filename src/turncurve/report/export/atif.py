"""A run as an ATIF trajectory, with each turn's signals and grades in its `extra`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from turncurve.model import (
    Run,
    ToolCall,
    ToolResult,
    Totals,
    Turn,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers.atif_extras import KEY, CallExtra, ResultExtra, RunExtra, TurnExtra, of_run
from turncurve.report.plain import plain

VERSION = "ATIF-v1.8"


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
        **_final(run),
        "extra": {KEY: _of_run(run)},
    }


def losses(run: Run) -> Iterator[str]:
    """What only turncurve reads back, since ATIF has no place for it, in words for any run."""
    if run.parent is not None:
        yield "are sub-agents': each is a trajectory of its own, with its parent's id in `extra`"
    if any(isinstance(call.arguments, str) for turn in run.turns for call in turn.tool_calls):
        yield "have arguments that are no JSON object: they stand in one, under `text`"
    if not run.turns:
        yield "have no turn: ATIF wants a step, so a system step says so"


def _of_run(run: Run) -> dict[str, Any]:
    return {"format": run.format, "path": _text(run.path), **_known(of_run(run))}


def _known(given: ResultExtra | RunExtra | TurnExtra) -> dict[str, Any]:
    """The fields as JSON values, without those that are not known."""
    return cast(dict[str, Any], _without_none(plain(given)))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: one if key == "detail" else _without_none(one)
            for key, one in value.items()
            if one is not None
        }
    return [_without_none(one) for one in value] if isinstance(value, list) else value


def _steps(run: Run, signals: Sequence[Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    compacted = {event.turn for event in run.events if event.kind == "compaction"}
    for turn, known in zip(run.turns, signals, strict=True):
        if turn.index in compacted:
            yield _compaction(turn.index)
        for message in turn.before:
            yield {"source": message.role, "message": _text(message.text)}
        yield _agent_step(turn, known)
    after = run.turns[-1].index + 1 if run.turns else 1
    if after in compacted:
        yield _compaction(after)


def _compaction(turn: int) -> dict[str, Any]:
    boundary = {"type": "compaction", "boundary": "replace"}
    return {
        "source": "system",
        "message": "The context was compacted.",
        "extra": {"context_management": boundary, KEY: {"before_turn": turn}},
    }


def _agent_step(turn: Turn, known: Mapping[str, float]) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": _text(turn.text)}
    if turn.started_at is not None:
        step["timestamp"] = datetime.fromtimestamp(turn.started_at, UTC).isoformat()
    if turn.model is not None:
        step["model_name"] = _text(turn.model)
    ids = [call.id or f"call-{turn.index}-{i}" for i, call in enumerate(turn.tool_calls, start=1)]
    if turn.tool_calls:
        calls = zip(turn.tool_calls, ids, strict=True)
        step["tool_calls"] = [_call(call, call_id) for call, call_id in calls]
    if turn.tool_results:
        step["observation"] = {"results": [*_results(turn, ids)]}
    metrics = _metrics(turn.usage, turn.cost_usd)
    if metrics:
        step["metrics"] = metrics
    own = TurnExtra(
        turn=turn.index,
        seconds=turn.seconds,
        action=turn.action,
        format_error=turn.format_error,
        usage=None if turn.usage is None or turn.usage == _read_back(turn.usage) else turn.usage,
        values=turn.values,
        grades=turn.grades,
    )
    step["extra"] = {KEY: {**_known(own), "signals": plain(dict(known))}}
    return step


def _read_back(usage: Usage) -> Usage:
    """What the metrics of a step say of its usage."""
    return usage_with_cache_inside(
        input_tokens=usage.context_tokens,
        cached=usage.cache_read,
        cache_write=usage.cache_write,
        output=usage.output,
        reasoning=usage.reasoning,
    )


def _call(call: ToolCall, call_id: str) -> dict[str, Any]:
    arguments = call.arguments
    own = CallExtra(has_no_id=not call.id, is_text=isinstance(arguments, str))
    given: dict[str, Any] = {
        "tool_call_id": _text(call_id),
        "function_name": _text(call.name),
        "arguments": _json({"text": arguments} if own.is_text else arguments),
    }
    return given if own == CallExtra() else {**given, "extra": {KEY: plain(own)}}


def _results(turn: Turn, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Results by the ids of their calls; where they name none and are as many, in order."""
    nameless = all(result.call_id is None for result in turn.tool_results)
    by_order = nameless and len(turn.tool_results) == len(ids)
    known = set(ids)
    for i, result in enumerate(turn.tool_results):
        yield _result(result, ids[i] if by_order else result.call_id, known=known)


def _result(result: ToolResult, call_id: str | None, *, known: set[str]) -> dict[str, Any]:
    given: dict[str, Any] = {"content": _text(result.text)}
    is_known = call_id is not None and call_id in known
    if call_id is not None and is_known:
        given["source_call_id"] = _text(call_id)
    own = ResultExtra(
        error=result.error,
        detector=result.detector,
        transient=result.transient,
        call_id=None if is_known else call_id,
        names_no_call=is_known and result.call_id is None,
    )
    given["extra"] = {KEY: _known(own)}
    if result.error is not None:
        given["extra"]["is_error"] = result.error
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


def _final(run: Run) -> dict[str, Any]:
    """Sums over the turns, each where every turn has the number; else what the file says itself."""
    turns, totals = run.turns, run.totals or Totals()
    usages = [turn.usage or Usage() for turn in turns]
    given: tuple[tuple[str, Sequence[float | None], float | None], ...] = (
        ("total_prompt_tokens", [u.context_tokens for u in usages], totals.input_tokens),
        ("total_completion_tokens", [u.output for u in usages], totals.output_tokens),
        ("total_cached_tokens", [u.cache_read for u in usages], totals.cached_input_tokens),
        ("total_cost_usd", [turn.cost_usd for turn in turns], totals.cost_usd),
    )
    sums = {name: _sum(each, said) for name, each, said in given}
    known = {name: value for name, value in sums.items() if value is not None}
    return {"final_metrics": known} if known else {}


def _sum(each: Sequence[float | None], said: float | None) -> float | None:
    known = [one for one in each if one is not None]
    return sum(known) if known and len(known) == len(each) else said


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
