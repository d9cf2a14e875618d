"""SWE-agent trajectories (`.traj`), 0.x and 1.x."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from turncurve.errors import ReadError
from turncurve.model import ExitType, Message, Run, ToolCall, ToolResult, Totals, Turn
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._outcomes import (
    COMPANIONS,
    exit_events,
    exit_type,
    file_stem,
    resolved_beside,
)
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_count,
    as_float,
    as_name,
    as_text,
    is_transient,
    looks_like_error,
)
from turncurve.readers.stream import json_document

_START = re.compile(
    rb'\s*\{\s*"(?:environment|trajectory|history|info|replay_config)"\s*:\s*(?:["\[{]|null)'
)
_STEP = re.compile(rb'"(?:observation|thought)"\s*:')
_MORE = re.compile(rb'"(?:trajectory|history|agent|is_demo|message_type)"\s*:')

_HARNESS_STEP = re.compile(r"Exit(?:ing)? due to |exit_[a-z_]+$")
"""How SWE-agent's own last step begins, where a limit or an error ended the run."""

_FAILED_START = re.compile(
    r"""\s*(?:
        Your\ proposed\ edit\ has\ introduced\ new\ syntax\ error
      | No\ replacement\ was\ performed
      | No\ file\ open\.
      | Usage:\ \S
      | Invalid\ `\w+`\ parameter
      | python[\d.]*:\ can't\ open\ file
      | /root/\S+:\ line\ \d+:
      | The\ command\ '.{0,2000}'\ was\ cancelled\ because\ it\ took\ more\ than
    )""",
    re.VERBOSE | re.DOTALL,
)
_FAILED_LINE = re.compile(
    r"^(?:COMMAND FAILED TO EXECUTE|EXECUTION TIMED OUT|BROKEN PIPE ERROR)", re.M
)
_TIMED_OUT = re.compile(
    r"^EXECUTION TIMED OUT|\A\s*The command '.{0,2000}' was cancelled because", re.M | re.S
)

_NO_TURN = "no turn: the run ended before its first step"
_ABSENT = {
    "quality": "SWE-agent writes no score of a single turn",
    "error": "SWE-agent writes no grades",
    "context_tokens": "SWE-agent counts tokens by run, not by turn",
    "cached_input_tokens": "SWE-agent does not say how much of its input was cached",
    "output_tokens": "SWE-agent counts tokens by run, not by turn",
    "reasoning_tokens": "SWE-agent counts no reasoning tokens",
    "cost_usd": "SWE-agent counts cost by run, not by turn",
    "started_at": "SWE-agent writes no times",
    "seconds": "SWE-agent times commands, not model calls",
    "format_error": "this version asks again after a malformed answer and leaves no trace of it",
    "compaction": "history processors drop old observations and leave no mark",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as an object of the trajectory's keys and holds steps."""
    del path
    return bool(_START.match(head) and _STEP.search(head) and _MORE.search(head))


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the one run of the file."""
    try:
        run = _run(json_document(path, on_problem), path, on_problem)
    except ReadError as problem:
        on_problem(problem)
        return
    yield run


def _run(document: Any, path: Path, on_problem: OnProblem) -> Run:
    whole = as_mapping(document)
    history, info = as_list(whole.get("history")), as_mapping(whole.get("info"))
    steps, place = whole.get("trajectory"), "trajectory"
    if steps is None and history:
        steps, place = _steps_of_history(history), "history"
    if not isinstance(steps, list):
        raise ReadError(
            path,
            f"wanted a list under `trajectory`, got {type(steps).__name__}",
            record="trajectory",
            fix="a .traj file is {trajectory, history, info, ...} or has at least a `history`",
        )
    config = _replay_config(whole.get("replay_config"))
    model = as_name(as_mapping(as_mapping(config.get("agent")).get("model")).get("name"))
    is_1x = any("query" in as_mapping(step) or "messages" in as_mapping(step) for step in steps)
    turns = _turns(steps, place, _prompts(history), is_1x=is_1x, path=path, on_problem=on_problem)
    name = _scenario(config, path)
    success = resolved_beside(path, name, on_problem)
    words = info.get("exit_status") if isinstance(info.get("exit_status"), str) else None
    exit_ = exit_type(words, success=success)
    if not words and place == "trajectory" and info:
        exit_ = ExitType.STILL_RUNNING
    totals = _totals(info)
    return Run(
        id=name,
        turns=turns,
        format="swe_agent",
        path=str(path),
        scenario=name,
        model=model,
        exit_type=exit_,
        exit_text=words,
        success=success,
        events=exit_events(exit_, words, len(turns)),
        totals=totals,
        absent=absent_signals(turns, _ABSENT),
        notes=(*_notes(history, info, place, totals), *(() if turns else (_NO_TURN,))),
    )


def _replay_config(value: object) -> dict[str, Any]:
    """The configuration, which some versions write as a JSON text."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return {}
    return as_mapping(value)


def _scenario(config: dict[str, Any], path: Path) -> str:
    return as_name(as_mapping(config.get("problem_statement")).get("id")) or file_stem(path)


def _is_of_run(message: object) -> bool:
    return isinstance(message, dict) and not message.get("is_demo")


def _prompts(history: list[Any]) -> tuple[Message, ...]:
    """What the model was given before its first answer; demonstrations are no part of it."""
    prompts = []
    for message in filter(_is_of_run, history):
        role = message.get("role")
        if role == "assistant":
            break
        text = as_text(message.get("content"))
        prompts.append(Message(role="system" if role == "system" else "user", text=text))
    return tuple(prompts)


def _steps_of_history(history: list[Any]) -> list[dict[str, Any]]:
    """Steps out of a file that has only the conversation, as recorded demonstrations do."""
    own = list(filter(_is_of_run, history))
    steps = []
    for message, answer in pairwise([*own, {}]):
        if message.get("role") != "assistant":
            continue
        has_result = answer.get("role") in ("tool", "user")
        steps.append(
            {
                "response": as_text(message.get("content")),
                "thought": message.get("thought"),
                "action": message.get("action"),
                "observation": as_text(answer.get("content")) if has_result else None,
            }
        )
    return steps


def _turns(
    steps: list[Any],
    place: str,
    prompts: tuple[Message, ...],
    *,
    is_1x: bool,
    path: Path,
    on_problem: OnProblem,
) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for position, step in enumerate(steps):
        record = f"{place}[{position}]"
        if not isinstance(step, dict):
            on_problem(
                ReadError(
                    path,
                    f"wanted a step with action and observation, got {type(step).__name__}",
                    record=record,
                    fix="its turn was kept, with nothing known of it",
                    kept=True,
                )
            )
        before = () if turns else prompts
        turns.append(_turn(as_mapping(step), len(turns) + 1, record, before, is_1x=is_1x))
    return tuple(turns)


def _turn(
    step: dict[str, Any], index: int, record: str, before: tuple[Message, ...], *, is_1x: bool
) -> Turn:
    text = as_text(step.get("response")) or as_text(step.get("thought"))
    action = as_text(step.get("action")).strip()
    is_harness = bool(_HARNESS_STEP.match(action or text))
    calls = () if is_harness or not action else (_call(action),)
    results = (_result(step["observation"]),) if calls and _has_result(step) else ()
    seconds = as_float(step.get("execution_time"))
    return Turn(
        index=index,
        text=text,
        before=before,
        tool_calls=calls,
        tool_results=results,
        format_error=not (calls or is_harness) if is_1x and step else None,
        values={"tool_seconds": seconds} if calls and seconds is not None else {},
        record=record,
    )


def _call(action: str) -> ToolCall:
    return ToolCall(name=action.split(maxsplit=1)[0], arguments={"command": action})


def _has_result(step: dict[str, Any]) -> bool:
    return isinstance(step.get("observation"), str | list)


def _result(observation: object) -> ToolResult:
    """A result judged by its text, since SWE-agent keeps no return code."""
    text = as_text(observation)
    failed = (
        looks_like_error(text)
        or bool(_FAILED_START.match(text))
        or bool(_FAILED_LINE.search(text[-2000:]))
    )
    # Further down it is what a test or a program printed, not why the command failed.
    transient = failed and bool(_TIMED_OUT.search(text) or is_transient(text[:200]))
    return ToolResult(text=text, error=failed, detector="text", transient=transient)


def _totals(info: dict[str, Any]) -> Totals | None:
    """The run's own counts; a 0 is what a replay and a model of unknown price leave."""
    stats = as_mapping(info.get("model_stats"))
    sent, received = as_count(stats.get("tokens_sent")), as_count(stats.get("tokens_received"))
    cost = as_float(stats.get("instance_cost"))
    if not sent and not received and not cost:
        return None
    return Totals(
        input_tokens=sent or None,
        output_tokens=received or None,
        cost_usd=cost if cost and cost > 0 else None,
    )


def _notes(
    history: list[Any], info: dict[str, Any], place: str, totals: Totals | None
) -> Iterator[str]:
    n_shown = sum(bool(as_mapping(message).get("is_demo")) for message in history)
    if n_shown:
        yield f"{n_shown} message(s) of demonstrations left out: they are no turns of this run"
    if place == "history":
        yield "the file has only a conversation: turns and results come from it"
    elif not info.get("exit_status"):
        yield "no exit status: the file was written before the run ended, or the run was killed"
    if "model_stats" in info and totals is None:
        yield "all counts of tokens and cost are 0, as in a replay: not recorded"
    elif totals is not None and totals.cost_usd is None:
        yield "the cost is 0 beside real tokens: the price was not known, so cost is absent"


READER = Reader(
    name="swe_agent",
    title="SWE-agent trajectories (.traj)",
    recognised_by="a JSON object of environment, trajectory, history and info, with observations",
    looks_like=looks_like,
    read=read,
    companions=COMPANIONS,
)
