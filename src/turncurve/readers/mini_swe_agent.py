"""mini-swe-agent trajectories: the bare message list, `mini-swe-agent-1` and `-1.1`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Totals, Turn
from turncurve.readers._costs import UNPRICED, known_costs
from turncurve.readers._items import as_mapping
from turncurve.readers._mini_messages import Conversation, Notices, conversation
from turncurve.readers._models import most_used_model
from turncurve.readers._outcomes import (
    COMPANIONS,
    exit_events,
    exit_type,
    file_stem,
    resolved_beside,
)
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_float, as_name
from turncurve.readers.stream import json_document

_DOCUMENT = re.compile(rb'\s*\{\s*"(?:info|messages|trajectory_format|instance_id)"\s*:')
_DOCUMENT_MARKS = (
    b'"mini_version"',
    b'"trajectory_format": "mini-swe-agent',
    b'"trajectory_format":"mini-swe-agent',
    b'"minisweagent.',
)
_LIST = re.compile(rb'\s*\[\s*\{\s*"(?:role|content)"\s*:')
_LIST_MARKS = (
    b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
    b"MINI_SWE_AGENT_FINAL_OUTPUT",
    b"<returncode>",
    b"mswea_bash_command",
)
_SUBMISSION_FIRST = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"(?:exit_status|submission)"\s*:')
_TOLD_FROM = 12
"""Characters of a template before its first variable that tell its messages from others."""

_ABSENT = {
    "quality": "mini-swe-agent writes no score of a single turn",
    "error": "mini-swe-agent writes no grades",
    "context_tokens": "no answer of this trajectory has its token counts beside it",
    "cached_input_tokens": "this trajectory does not say how much of its input was cached",
    "output_tokens": "no answer of this trajectory has its token counts beside it",
    "reasoning_tokens": "this trajectory counts no reasoning tokens",
    "cost_usd": "no answer of this trajectory has its cost beside it",
    "started_at": "this trajectory holds no times",
    "seconds": "this trajectory does not say when a model call ended",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as a trajectory, or a message list with the agent's own marks."""
    if _DOCUMENT.match(head):
        if any(mark in head for mark in _DOCUMENT_MARKS):
            return True
        # A submission may be longer than the head and hide every mark behind it.
        return bool(_SUBMISSION_FIRST.match(head)) and ".traj" in path.name
    return bool(_LIST.match(head)) and any(mark in head for mark in _LIST_MARKS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the one run of the file."""
    try:
        run = _run(json_document(path, on_problem), path, on_problem)
    except ReadError as problem:
        on_problem(problem)
        return
    yield run


def _run(document: Any, path: Path, on_problem: OnProblem) -> Run:
    whole = {"messages": document} if isinstance(document, list) else as_mapping(document)
    messages, info = whole.get("messages"), as_mapping(whole.get("info"))
    if not isinstance(messages, list):
        raise ReadError(
            path,
            f"wanted a list under `messages`, got {type(messages).__name__}",
            record="messages",
            fix="a mini-swe-agent trajectory is {info, messages, ...} or a list of messages",
        )
    config = as_mapping(info.get("config"))
    talk = conversation(messages, _notices(config), path, on_problem)
    turns, is_priced = known_costs(talk.turns)
    name = as_name(whole.get("instance_id")) or file_stem(path)
    success = resolved_beside(path, name, on_problem)
    words = _exit_words(info, talk)
    exit_ = _exit_type(words, info, success=success)
    return Run(
        id=name,
        turns=turns,
        format="mini_swe_agent",
        path=str(path),
        scenario=name,
        model=_model(config, turns),
        exit_type=exit_,
        exit_text=words or None,
        success=success,
        events=(*talk.events, *exit_events(exit_, words, len(turns))),
        totals=_totals(info, turns),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(whole, talk, is_priced=is_priced)),
    )


def _notices(config: dict[str, Any]) -> Notices:
    """The fixed beginnings of the harness's messages, from the templates where they are given."""
    default = Notices()
    agent, model = as_mapping(config.get("agent")), as_mapping(config.get("model"))

    def beginning(name: str, otherwise: str) -> str:
        template = agent.get(name) or model.get(name)
        start = re.split(r"\{[{%#]", template)[0] if isinstance(template, str) else ""
        return start if len(start.strip()) >= _TOLD_FROM else otherwise

    return Notices(
        format_error=beginning("format_error_template", default.format_error),
        timeout=beginning("timeout_template", default.timeout),
    )


def _exit_words(info: dict[str, Any], talk: Conversation) -> str | None:
    words = info.get("exit_status")
    if words is None:
        words = talk.exit.get("exit_status")
    return words if isinstance(words, str) else None


def _exit_type(words: str | None, info: dict[str, Any], *, success: bool | None) -> ExitType:
    """A file that is saved after each step and has no exit status yet was still being written."""
    if info and not words:
        return ExitType.STILL_RUNNING
    return exit_type(words, success=success)


def _model(config: dict[str, Any], turns: tuple[Turn, ...]) -> str | None:
    return as_name(as_mapping(config.get("model")).get("model_name")) or most_used_model(turns)


def _totals(info: dict[str, Any], turns: tuple[Turn, ...]) -> Totals | None:
    """The run's cost, for a file that gives it for the run alone; 0 there is an unknown price."""
    cost = as_float(as_mapping(info.get("model_stats")).get("instance_cost"))
    if not turns or not cost or cost < 0 or any(turn.cost_usd is not None for turn in turns):
        return None
    return Totals(cost_usd=cost)


def _notes(whole: dict[str, Any], talk: Conversation, *, is_priced: bool) -> Iterator[str]:
    if not talk.turns:
        yield "no turn: the run ended before the model answered once"
    if not is_priced:
        yield UNPRICED
    n_killed = sum(event.detail.get("error") == "timeout" for event in talk.events)
    if n_killed:
        yield f"{n_killed} command(s) timed out and gave no return code: calls without a result"
    n_lost = sum(event.detail.get("error") == "format_error" for event in talk.events)
    if n_lost:
        yield f"{n_lost} answer(s) that were no action are not in the file and are no turns"
    if any(turn.seconds is not None for turn in talk.turns):
        yield "seconds of a call run from the message before it to its answer"
    if "info" not in whole:
        yield "a bare list of messages says neither how the run ended nor what it cost"


READER = Reader(
    name="mini_swe_agent",
    title="mini-swe-agent trajectories (.traj.json)",
    recognised_by=(
        "a JSON object of info and messages that names mini-swe-agent, or a JSON list of chat "
        "messages with its command or return-code marks"
    ),
    looks_like=looks_like,
    read=read,
    companions=COMPANIONS,
)
