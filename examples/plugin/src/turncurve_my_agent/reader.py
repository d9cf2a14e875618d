"""my-agent's logs to runs.

A log is JSON lines, one run a line:
`{"my_agent_version": 1, "id": "r1", "task": "t", "ok": true, "steps": [...]}`, and a step is
`{"reply": "...", "tool": "ls", "args": {}, "output": "...", "exit": 0, "tokens_in": 9,
"tokens_out": 1, "time": "2026-05-01T10:00:00Z"}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run, ToolCall, ToolResult, Turn, usage_with_cache_inside
from turncurve.readers import OnProblem, Reader
from turncurve.readers.absent import absent_signals
from turncurve.readers.fields import as_arguments, as_count, as_text, parse_time
from turncurve.readers.stream import json_lines

ABSENT = {
    "quality": "my-agent keeps no score",
    "error": "my-agent keeps no grades",
    "cost_usd": "my-agent keeps no cost",
    "context_tokens": "this run has no usage",
    "output_tokens": "this run has no usage",
}
"""Why a run has no value at any turn. A missing value is never 0."""


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Each run as soon as its line is read; a line that is none is told, and the next one read."""
    for number, record in json_lines(path, on_problem):
        if not isinstance(record, dict) or not isinstance(record.get("steps"), list):
            on_problem(ReadError(path, "wanted an object with `steps`", record=number))
            continue
        steps = [step for step in record["steps"] if isinstance(step, dict)]
        if len(steps) < len(record["steps"]):
            on_problem(ReadError(path, "a step is no object", record=number, kept=True))
        turns = tuple(_turn(index, step) for index, step in enumerate(steps, start=1))
        success = record.get("ok")
        yield Run(
            id=as_text(record.get("id")) or f"line-{number}",
            turns=turns,
            format="my_agent",
            path=str(path),
            record=number,
            scenario=as_text(record.get("task")) or None,
            success=success if isinstance(success, bool) else None,
            absent=absent_signals(turns, ABSENT),
        )


def _turn(index: int, step: dict[str, Any]) -> Turn:
    """One call of the model, with the tool that it called and what came of it."""
    tool = as_text(step.get("tool"))
    exit_code = step.get("exit")
    return Turn(
        index=index,
        text=as_text(step.get("reply")),
        tool_calls=(ToolCall(name=tool, arguments=as_arguments(step.get("args"))),) if tool else (),
        tool_results=(
            ToolResult(
                text=as_text(step.get("output")),
                error=exit_code != 0 if isinstance(exit_code, int) else None,
                detector="return_code",
            ),
        )
        if tool
        else (),
        usage=usage_with_cache_inside(
            input_tokens=as_count(step.get("tokens_in")), output=as_count(step.get("tokens_out"))
        ),
        started_at=parse_time(step.get("time")),
    )


def looks_like(head: bytes, path: Path) -> bool:  # noqa: ARG001 - files go by content, not by name
    """Whether the first 64 KiB of a file are those of a my-agent log."""
    return head.lstrip().startswith(b"{") and b'"my_agent_version"' in head


READER = Reader(
    name="my_agent",
    title="my-agent logs",
    recognised_by="a key my_agent_version",
    looks_like=looks_like,
    read=read,
)
