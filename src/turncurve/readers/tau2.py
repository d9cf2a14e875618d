"""τ²-bench results: one file of simulations, or a folder with one file each.

Fields are those of the benchmark's own data model of simulations and messages; which ends have no
outcome is what its metrics leave out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    Event,
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
from turncurve.readers.stream import head, json_document

_OBJECT, _LIST = re.compile(rb"\s*\{"), re.compile(rb"\s*\[\s*\{")
_AGENT = re.compile(r'"agent_info"\s*:\s*(?=\{)')
_DECODER = json.JSONDecoder()
_HEAD = 60_000
"""Bytes from which on a head is taken for a part of its file."""
_FULL_REWARD = 1 - 1e-6
_SUITE_KEYS = (b'"environment_info"', b'"simulation_guidelines"', b'"global_simulation_guidelines"')
_SIMULATION_KEYS = (b'"task_id"', b'"termination_reason"')
_EXITS = {
    "max_steps": ExitType.BUDGET,
    "timeout": ExitType.BUDGET,
    "too_many_errors": ExitType.BUDGET,
    "context_window_exceeded": ExitType.BUDGET,
    "infrastructure_error": ExitType.CRASH,
    "agent_error": ExitType.CRASH,
    "user_error": ExitType.CRASH,
    "unexpected_error": ExitType.CRASH,
}
_NO_OUTCOME = frozenset({"infrastructure_error", "context_window_exceeded"})
"""Ends of simulations that were never judged: the reward that stands there says nothing."""
_CHECKS = (
    ("action_checks", "action_match", "expected actions were taken"),
    ("nl_assertions", "met", "assertions about the conversation were met"),
    ("env_assertions", "met", "assertions about the environment were met"),
    ("communicate_checks", "met", "things to tell the user were told"),
)
"""What was judged of a whole simulation: its key, the key of the verdict, and words for it."""

_OF_CUT = ("messages_dropped", "messages_kept", "tokens_before", "tokens_after")

_ABSENT = {
    "quality": "τ²-bench scores the conversation, not its turns",
    "error": "τ²-bench writes no grades",
    "context_tokens": "no answer of this simulation has its usage beside it",
    "cached_input_tokens": "τ²-bench does not count cached tokens",
    "output_tokens": "no answer of this simulation has its usage beside it",
    "reasoning_tokens": "τ²-bench does not count reasoning tokens",
    "cost_usd": "no answer of this simulation has a cost beside real usage",
    "started_at": "no answer of this simulation has its time beside it",
    "seconds": "no answer of this simulation says how long it took",
    "format_error": "an answer without a tool call is a message to the user, never malformed",
    "compaction": "this version of τ²-bench does not say where the context was cut",
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
    model = _agent(suite)
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
        simulations, model = [("simulation", document)], _agent_beside(path)
    yield from _runs(simulations, model, path, on_problem)


def _told_elsewhere(_: ReadError) -> None:
    """A repair of a file beside the trace is no problem of the trace."""


def _agent_beside(path: Path) -> str | None:
    """The agent's model in the results that a file of one simulation belongs to."""
    results = path.parent.parent / "results.json"
    if not results.is_file():
        return None
    try:
        # All simulations of a folder ask for it, so the whole file is read only where it must be.
        start = head(results).decode(errors="replace")
        found = _AGENT.search(start)
        suite = {} if found else as_mapping(json_document(results, _told_elsewhere))
    except ReadError:
        return None
    if found is None:
        return _agent(suite)
    try:
        return as_name(as_mapping(_DECODER.raw_decode(start, found.end())[0]).get("llm"))
    except (ValueError, RecursionError):
        return None


def _agent(suite: dict[str, Any]) -> str | None:
    return as_name(as_mapping(as_mapping(suite.get("info")).get("agent_info")).get("llm"))


def _runs(
    simulations: list[tuple[str, Any]], model: str | None, path: Path, on_problem: OnProblem
) -> Iterator[Run]:
    ids = set[str]()
    for where, simulation in simulations:
        if not isinstance(simulation, dict):
            reason = f"wanted a simulation, got {type(simulation).__name__}"
            fix = "the other simulations were read"
            on_problem(ReadError(path, reason, record=where, fix=fix))
            continue
        run = _run(simulation, where, (model, ids), path, on_problem)
        ids.add(run.id)
        yield run


def _run(
    simulation: dict[str, Any],
    where: str,
    suite: tuple[str | None, set[str]],
    path: Path,
    on_problem: OnProblem,
) -> Run:
    model, ids = suite
    heard = _Heard(simulation, where, path, on_problem)
    turns = heard.turns
    words = as_name(simulation.get("termination_reason"))
    exit_ = _EXITS.get(words or "")
    reward = as_float(as_mapping(simulation.get("reward_info")).get("reward"))
    if words in _NO_OUTCOME:
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
        trial=None if trial is None else trial + 1,
        model=model,
        exit_type=ended,
        exit_text=words,
        success=success if words or reward is not None else None,
        score=reward,
        events=(*heard.cuts, *exit_events(ended, words, len(turns))),
        absent=heard.absent(),
        notes=tuple(_notes(simulation, turns, heard.n_apart)),
    )


class _Heard:
    """The agent's turns in a simulation, and what was kept apart from them."""

    def __init__(
        self, simulation: dict[str, Any], where: str, path: Path, on_problem: OnProblem
    ) -> None:
        self._talk = Talk()
        self.n_apart = 0
        """Tool calls of the simulated user."""
        self.cuts: list[Event] = []
        """Where the context began to be cut to a limit."""
        self._tells_cuts = self._was_cut = False
        for place, message in enumerate(as_list(simulation.get("messages"))):
            record = f"{where}.messages[{place}]"
            if isinstance(message, dict):
                self._hear(message, record)
            else:
                reason = f"wanted a message with a role and content, got {type(message).__name__}"
                fix = "the simulation was read without it"
                on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
        self.turns = self._talk.end()[0]

    def absent(self) -> dict[str, str]:
        """Signals that the simulation lacks, with the reasons."""
        missing = absent_signals(self.turns, _ABSENT)
        if self._tells_cuts:
            del missing["compaction"]
        return missing

    def _hear(self, message: dict[str, Any], record: str) -> None:
        role = message.get("role")
        if role == "assistant" and not _is_greeting(self._talk, message):
            self._talk.answer(**_answer(message), record=record)
            self._cut(message)
        elif role == "tool":
            inner = as_list(message.get("tool_messages")) or [message]
            for one in map(as_mapping, inner):
                if one.get("requestor") != "user":
                    self._talk.result(_result(one))
        elif role == "user":
            if text := as_text(message.get("content")):
                self._talk.hear("user", text)
            self.n_apart += len(as_list(message.get("tool_calls")))
        else:
            self._talk.hear("system", as_text(message.get("content")))

    def _cut(self, message: dict[str, Any]) -> None:
        """Once over its limit a context is cut before each call: only the first in a row counts."""
        self._tells_cuts = self._tells_cuts or "context_truncation" in message
        cut = as_mapping(message.get("context_truncation"))
        if cut and not self._was_cut:
            kept = {key: n for key in _OF_CUT if (n := as_count(cut.get(key))) is not None}
            self.cuts.append(Event(kind="compaction", turn=self._talk.n_turns, detail=kept))
        self._was_cut = bool(cut)


def _is_greeting(talk: Talk, message: dict[str, Any]) -> bool:
    """Whether it is the harness's own opening, for which no model was called."""
    opens = not talk.has_turn and not message.get("tool_calls")
    return opens and message.get("usage") is None and message.get("cost") in (0, None)


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    usage, cost = _usage(message.get("usage")), as_float(message.get("cost"))
    seconds = as_float(message.get("generation_time_seconds"))
    # A cost of 0 beside real tokens is what an unknown price is written as.
    known = cost is not None and (cost > 0 or (cost == 0 and usage is None))
    return {
        "text": as_text(message.get("content")),
        "tool_calls": tuple(_calls(message)),
        "usage": usage,
        "cost_usd": cost if known and usage is not None else None,
        "started_at": parse_time(message.get("timestamp")),
        "seconds": seconds if seconds is not None and seconds >= 0 else None,
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
    judged = as_mapping(simulation.get("reward_info"))
    for name, met, words in _CHECKS:
        checks = as_list(judged.get(name))
        if checks:
            n_met = sum(as_mapping(check).get(met) is True for check in checks)
            yield f"{n_met} of {len(checks)} {words}"
    if (cost := as_float(simulation.get("user_cost"))) is not None and cost > 0:
        yield f"the simulated user cost another ${cost:.4f}"
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
