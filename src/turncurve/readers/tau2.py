"""τ²-bench results: one file of simulations, or a folder with one file each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    ExitType,
    Run,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._outcomes import exit_events
from turncurve.readers._talk import Talk
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_name,
    as_text,
    is_transient,
    parse_time,
)
from turncurve.readers.stream import json_document

_OBJECT, _LIST = re.compile(rb"\s*\{"), re.compile(rb"\s*\[\s*\{")
_HEAD = 60_000
"""Bytes from which on a head is taken for a part of its file."""
_FULL_REWARD = 1 - 1e-6
_SUITE_KEYS = (b'"environment_info"', b'"simulation_guidelines"', b'"global_simulation_guidelines"')
_SIMULATION_KEYS = (b'"task_id"', b'"termination_reason"')
_EXITS = {
    "max_steps": ExitType.BUDGET,
    "timeout": ExitType.BUDGET,
    "too_many_errors": ExitType.BUDGET,
    "infrastructure_error": ExitType.CRASH,
    "agent_error": ExitType.CRASH,
    "user_error": ExitType.CRASH,
    "unexpected_error": ExitType.CRASH,
}

_ABSENT = {
    "quality": "τ²-bench scores the conversation, not its turns",
    "error": "τ²-bench writes no grades",
    "context_tokens": "no answer of this simulation has its usage beside it",
    "cached_input_tokens": "τ²-bench does not count cached tokens",
    "output_tokens": "no answer of this simulation has its usage beside it",
    "reasoning_tokens": "τ²-bench does not count reasoning tokens",
    "cost_usd": "no answer of this simulation has a cost beside real usage",
    "started_at": "no answer of this simulation has its time beside it",
    "seconds": "τ²-bench writes when an answer came, not when it was asked for",
    "format_error": "an answer without a tool call is a message to the user, never malformed",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON object or list starts as a suite's results or as a simulation."""
    del path
    if _OBJECT.match(head):
        is_suite = b'"user_info"' in head and any(key in head for key in _SUITE_KEYS)
        # The simulations may stand behind tasks that are longer than the head.
        return _is_simulation(head) or (
            is_suite and (b'"simulations"' in head or len(head) >= _HEAD)
        )
    return bool(_LIST.match(head)) and _is_simulation(head)


def _is_simulation(head: bytes) -> bool:
    turns = b'"messages"' in head or b'"ticks"' in head
    return turns and all(key in head for key in _SIMULATION_KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each simulation of the file as a run.

    A file of one simulation takes the agent's model from the `results.json` above its folder.
    """
    try:
        document = json_document(path, on_problem)
    except ReadError as problem:
        on_problem(problem)
        return
    suite = as_mapping(document)
    if isinstance(document, list):
        simulations = [(f"[{i}]", one) for i, one in enumerate(document)]
    elif "simulations" in suite:
        given = suite["simulations"]
        if not isinstance(given, list):
            reason = f"wanted a list under `simulations`, got {type(given).__name__}"
            on_problem(ReadError(path, reason, record="simulations"))
            return
        simulations = [(f"simulations[{i}]", one) for i, one in enumerate(given)]
    elif "info" in suite and "messages" not in suite:
        return
    else:
        simulations, suite = [("simulation", document)], _suite_beside(path)
    yield from _runs(simulations, as_mapping(suite.get("info")), path, on_problem)


def _told_elsewhere(_: ReadError) -> None:
    """A repair of a file beside the trace is no problem of the trace."""


def _suite_beside(path: Path) -> dict[str, Any]:
    """The results that a file of one simulation belongs to; empty where they can't be read."""
    results = path.parent.parent / "results.json"
    if not results.is_file():
        return {}
    try:
        return as_mapping(json_document(results, _told_elsewhere))
    except ReadError:
        return {}


def _runs(
    simulations: list[tuple[str, Any]], info: dict[str, Any], path: Path, on_problem: OnProblem
) -> Iterator[Run]:
    trials = [as_count(as_mapping(one).get("trial")) for _, one in simulations]
    ids = set[str]()
    for where, simulation in simulations:
        if not isinstance(simulation, dict):
            reason = f"wanted a simulation, got {type(simulation).__name__}"
            fix = "the other simulations were read"
            on_problem(ReadError(path, reason, record=where, fix=fix))
            continue
        first = 1 if trials and min((t for t in trials if t is not None), default=0) >= 1 else 0
        run = _run(simulation, where, (info, 1 - first, ids), path, on_problem)
        ids.add(run.id)
        yield run


def _run(
    simulation: dict[str, Any],
    where: str,
    suite: tuple[dict[str, Any], int, set[str]],
    path: Path,
    on_problem: OnProblem,
) -> Run:
    info, shift, ids = suite
    turns, n_apart = _turns(simulation, where, path, on_problem)
    words = as_name(simulation.get("termination_reason"))
    exit_ = _EXITS.get(words or "")
    reward = as_float(as_mapping(simulation.get("reward_info")).get("reward"))
    if exit_ is ExitType.CRASH:
        reward = None
    success = None if reward is None else reward >= _FULL_REWARD
    ended = exit_ if exit_ is not None else ExitType.finished(success if words else None)
    task, trial = simulation.get("task_id"), as_count(simulation.get("trial"))
    run_id = as_name(simulation.get("id")) or where
    return Run(
        id=run_id if run_id not in ids else f"{run_id}/{where}",
        turns=turns,
        format="tau2",
        path=str(path),
        record=where,
        scenario=str(task) if isinstance(task, str | int) and str(task) else None,
        trial=None if trial is None else trial + shift,
        model=as_name(as_mapping(info.get("agent_info")).get("llm")),
        exit_type=ended,
        exit_text=words,
        success=success if words or reward is not None else None,
        score=reward,
        events=exit_events(ended, words, len(turns)),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(simulation, turns, n_apart)),
    )


def _turns(
    simulation: dict[str, Any], where: str, path: Path, on_problem: OnProblem
) -> tuple[tuple[Turn, ...], int]:
    """The agent's turns, and how many tool calls of the simulated user were kept apart."""
    talk, n_apart = Talk(), 0
    for place, message in enumerate(as_list(simulation.get("messages"))):
        record = f"{where}.messages[{place}]"
        if not isinstance(message, dict):
            reason = f"wanted a message with a role and content, got {type(message).__name__}"
            fix = "the simulation was read without it"
            on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
            continue
        n_apart += _hear(talk, message, record)
    return talk.end()[0], n_apart


def _hear(talk: Talk, message: dict[str, Any], record: str) -> int:
    """Take up a message; gives how many calls in it are the simulated user's."""
    role = message.get("role")
    if role == "assistant" and not _is_greeting(talk, message):
        talk.answer(**_answer(message), record=record)
    elif role == "tool":
        inner = as_list(message.get("tool_messages")) or [message]
        for one in map(as_mapping, inner):
            if one.get("requestor") != "user":
                talk.result(_result(one))
    elif role == "user":
        if text := as_text(message.get("content")):
            talk.hear("user", text)
        return len(as_list(message.get("tool_calls")))
    else:
        talk.hear("system", as_text(message.get("content")))
    return 0


def _is_greeting(talk: Talk, message: dict[str, Any]) -> bool:
    """Whether it is the harness's own opening, for which no model was called."""
    opens = not talk.has_turn and not message.get("tool_calls")
    return opens and message.get("usage") is None and message.get("cost") in (0, None)


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    usage, cost = _usage(message.get("usage")), as_float(message.get("cost"))
    # A cost of 0 beside real tokens is what an unknown price is written as.
    known = cost is not None and (cost > 0 or (cost == 0 and usage is None))
    return {
        "text": as_text(message.get("content")),
        "tool_calls": tuple(_calls(message)),
        "usage": usage,
        "cost_usd": cost if known and usage is not None else None,
        "started_at": parse_time(message.get("timestamp")),
    }


def _calls(message: dict[str, Any]) -> Iterator[ToolCall]:
    for call in map(as_mapping, as_list(message.get("tool_calls"))):
        if call.get("requestor") != "user":
            yield ToolCall(
                id=as_name(call.get("id")),
                name=as_text(call.get("name")),
                arguments=as_arguments(call.get("arguments")),
            )


def _usage(given: object) -> Usage | None:
    counts = as_mapping(given)
    prompt, output = (as_count(counts.get(f"{n}_tokens")) for n in ("prompt", "completion"))
    if prompt is None and output is None:
        return None
    return usage_with_cache_inside(input_tokens=prompt, output=output)


def _result(message: dict[str, Any]) -> ToolResult:
    text, failed = as_text(message.get("content")), message.get("error")
    known = isinstance(failed, bool)
    return ToolResult(
        call_id=as_name(message.get("id")),
        text=text,
        error=bool(failed) if known else None,
        detector="flag" if known else None,
        transient=failed is True and is_transient(text),
    )


def _notes(simulation: dict[str, Any], turns: tuple[Turn, ...], n_apart: int) -> Iterator[str]:
    if n_apart:
        yield f"{n_apart} tool call(s) of the simulated user are no part of the agent's turns"
    if not turns and simulation.get("ticks"):
        yield "a voice call, kept as ticks: no message of it is in the file, so it has no turns"
    elif not turns:
        yield "no turn: the simulation holds no answer of the agent"
    checks = as_list(as_mapping(simulation.get("reward_info")).get("action_checks"))
    if checks:
        n_met = sum(as_mapping(check).get("action_match") is True for check in checks)
        yield f"{n_met} of {len(checks)} expected actions were taken"
    if any(turn.started_at is not None for turn in turns):
        yield "times have no zone and are taken as UTC; they are those of the answers"


READER = Reader(
    name="tau2",
    title="τ²-bench results, in one file or a folder of simulations (.json)",
    recognised_by=(
        "a JSON object with the info of a suite, or simulations that have a task_id, a "
        "termination_reason and messages"
    ),
    looks_like=looks_like,
    read=read,
    companions=("results.json",),
    no_run="τ²-bench results whose simulations stand in files of their own, or none",
)
