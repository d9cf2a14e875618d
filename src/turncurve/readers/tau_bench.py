"""τ-bench results: a JSON list of simulated conversations, each with its reward."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import ExitType, Message, Run, ToolCall, ToolResult, Turn
from turncurve.readers._items import as_list, as_mapping, json_items
from turncurve.readers._outcomes import exit_events
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_name,
    as_text,
    is_transient,
)

_START = re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:task_id|trial|reward|info|traj)"\s*:')
_KEYS = (re.compile(rb'"task_id"\s*:'), re.compile(rb'"traj"\s*:'))
_STOP = "###STOP###"
_TRANSFER = "transfer_to_human_agents"
_FULL_REWARD = 1 - 1e-6
"""tau-bench counts a reward from here on as a success."""

_ABSENT = {
    "quality": "tau-bench scores the conversation, not its turns",
    "error": "tau-bench writes no grades",
    "context_tokens": "tau-bench counts no tokens of the agent",
    "cached_input_tokens": "tau-bench counts no tokens of the agent",
    "output_tokens": "tau-bench counts no tokens of the agent",
    "reasoning_tokens": "tau-bench counts no tokens of the agent",
    "cost_usd": "tau-bench writes the cost of its simulated user, not of the agent",
    "started_at": "tau-bench writes no times",
    "seconds": "tau-bench writes no times",
    "format_error": "an answer without a tool call is a message to the user, never malformed",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as a list of records, or one a line, with a task_id and a traj."""
    del path
    return bool(_START.match(head)) and all(key.search(head) for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each conversation of the file as a run."""
    records = list(json_items(path, on_problem))
    first_trial = 0 if any(_trial(record) == 0 for _, record in records) else 1
    for where, record in records:
        try:
            run = _run(record, where, first_trial, path, on_problem)
        except ReadError as problem:
            on_problem(problem)
            continue
        yield run


def _trial(record: object) -> int | None:
    return as_count(as_mapping(record).get("trial"))


def _run(
    record: object, where: str | int, first_trial: int, path: Path, on_problem: OnProblem
) -> Run:
    record = _conversation(record, where, path)
    task, info, messages = record.get("task_id"), as_mapping(record.get("info")), record["traj"]
    turns = _turns(messages, where, path, on_problem)
    crashed = not messages and "error" in info
    reward = None if crashed else as_float(record.get("reward"))
    success = None if reward is None else reward >= _FULL_REWARD
    words = as_text(info["error"]) if crashed else _exit_words(messages)
    exit_ = ExitType.CRASH if crashed else _exit_type(words, turns, success=success)
    scenario = str(task) if isinstance(task, int | str) else None
    trial = _trial(record)
    return Run(
        id=f"task-{scenario}/{'record-' + str(where) if trial is None else f'trial-{trial}'}",
        turns=turns,
        format="tau_bench",
        path=str(path),
        record=where,
        scenario=scenario,
        trial=None if trial is None else trial + 1 - first_trial,
        exit_type=exit_,
        exit_text=words,
        success=success,
        score=reward,
        events=exit_events(exit_, words, len(turns)),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(messages, exit_, crashed=crashed)),
    )


def _conversation(record: object, where: str | int, path: Path) -> dict[str, Any]:
    if isinstance(record, dict) and isinstance(record.get("traj"), list):
        return record
    got = type(record).__name__
    if isinstance(record, dict):
        got = f"traj of type {type(record.get('traj')).__name__}"
    raise ReadError(
        path,
        f"wanted a conversation with a list under `traj`, got {got}",
        record=where,
        fix="the other conversations were read",
    )


def _turns(
    messages: list[Any], where: str | int, path: Path, on_problem: OnProblem
) -> tuple[Turn, ...]:
    """One turn for each answer of the agent, with the results up to the next message to it."""
    turns: list[Turn] = []
    before: list[Message] = []
    results: list[ToolResult] = []
    for position, message in enumerate(messages):
        record = f"{where}.traj[{position}]"
        if not isinstance(message, dict):
            reason = f"wanted a message with a role and content, got {type(message).__name__}"
            fix = "the conversation was read without it"
            on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
        elif message.get("role") == "assistant":
            _add_results(turns, results)
            turns.append(_turn(message, len(turns) + 1, tuple(before), record))
            before, results = [], []
        elif message.get("role") == "tool":
            results.append(_result(message))
        else:
            before.append(
                Message(
                    role="system" if message.get("role") == "system" else "user",
                    text=as_text(message.get("content")),
                )
            )
    _add_results(turns, results)
    return tuple(turns)


def _add_results(turns: list[Turn], results: list[ToolResult]) -> None:
    if turns and results:
        turns[-1] = replace(turns[-1], tool_results=tuple(results))


def _turn(message: dict[str, Any], index: int, before: tuple[Message, ...], record: str) -> Turn:
    calls = []
    for call in map(as_mapping, as_list(message.get("tool_calls"))):
        function = as_mapping(call.get("function"))
        calls.append(
            ToolCall(
                id=as_name(call.get("id")),
                name=as_text(function.get("name")),
                arguments=as_arguments(function.get("arguments")),
            )
        )
    return Turn(
        index=index,
        text=as_text(message.get("content")),
        before=before,
        tool_calls=tuple(calls),
        record=record,
    )


def _result(message: dict[str, Any]) -> ToolResult:
    """A result; every failure of a tau-bench tool is a text that starts with `Error`."""
    text = as_text(message.get("content"))
    failed = text.startswith("Error")
    return ToolResult(
        call_id=as_name(message.get("tool_call_id")),
        text=text,
        error=failed,
        detector="text",
        transient=failed and is_transient(text),
    )


def _exit_words(messages: list[Any]) -> str | None:
    """What ended the conversation: the user's stop mark, or the tool that hands over to a human."""
    last = as_mapping(messages[-1]) if messages else {}
    if last.get("role") == "user" and _STOP in as_text(last.get("content")):
        return _STOP
    return _TRANSFER if last.get("role") == "tool" and last.get("name") == _TRANSFER else None


def _exit_type(words: str | None, turns: tuple[Turn, ...], *, success: bool | None) -> ExitType:
    """By outcome where the conversation came to its end, else its limit of steps ended it."""
    if not turns:
        return ExitType.UNKNOWN
    if words is None:
        return ExitType.BUDGET
    return ExitType.finished(success)


def _notes(messages: list[Any], exit_: ExitType, *, crashed: bool) -> Iterator[str]:
    last = as_mapping(messages[-1]) if messages else {}
    said = as_text(last.get("content")).replace(_STOP, "").strip()
    if last.get("role") == "user" and said:
        yield f"after the last turn the user said: {said}"
    if crashed:
        yield "the run failed before it began; the reward of 0 in its place is no outcome"
    elif not messages:
        yield "no turn: the conversation is empty"
    if exit_ is ExitType.BUDGET:
        yield "ended neither by the user nor by a transfer: by tau-bench's limit of steps"


READER = Reader(
    name="tau_bench",
    title="τ-bench results (.json)",
    recognised_by="a JSON list of records, or one a line, that have a task_id and a traj",
    looks_like=looks_like,
    read=read,
    no_run="τ-bench results without a conversation",
)
