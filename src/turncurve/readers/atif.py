"""ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.8."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from turncurve.errors import InvariantError, ReadError
from turncurve.model import (
    Event,
    ExitType,
    Run,
    ToolCall,
    ToolResult,
    Totals,
    Turn,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers._atif_files import (
    continuation_of,
    is_continuation,
    outcome_beside,
    parent_of,
)
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._models import most_used_model
from turncurve.readers._outcomes import exit_events
from turncurve.readers._talk import Talk
from turncurve.readers.absent import absent_signals
from turncurve.readers.atif_extras import (
    TurnExtra,
    call_as_written,
    call_extra,
    extra_of,
    result_as_written,
    result_extra,
    run_as_written,
    run_extra,
    turn_extra,
    turns_as_written,
)
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_name,
    as_text,
    is_transient,
    looks_like_error,
    parse_time,
)
from turncurve.readers.stream import head, json_document, json_objects

T = TypeVar("T")

_START = re.compile(rb"\s*\{")
_VERSION = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
_MOST_FILES = 1_000
"""Continuations followed at most: a file that names itself would never end."""

_ABSENT = {
    "quality": "this trajectory has no score of a turn",
    "error": "this trajectory has no grades",
    "context_tokens": "no step of this trajectory has its token counts beside it",
    "cached_input_tokens": "no step of this trajectory says how much of its input was cached",
    "output_tokens": "no step of this trajectory has its token counts beside it",
    "reasoning_tokens": "no step of this trajectory counts its reasoning tokens",
    "cost_usd": "no step of this trajectory has its cost beside it",
    "started_at": "no step of this trajectory has its time beside it",
    "seconds": "ATIF does not say when a model call ended",
    "format_error": "ATIF does not say whether an answer could be read as an action",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON object names an ATIF version; a continuation belongs to the file before it."""
    return bool(_START.match(head) and _VERSION.search(head)) and not is_continuation(path)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each trajectory of the file as a run, and each that is embedded in it."""
    if _is_record_a_line(head(path).lstrip()):
        for number, line in json_objects(path, on_problem):
            yield from _runs(line, number, path, on_problem)
        return
    try:
        document = json_document(path, on_problem)
    except ReadError as problem:
        on_problem(problem)
        return
    yield from _runs(as_mapping(document), None, path, on_problem)


def _is_record_a_line(start: bytes) -> bool:
    """Whether each line is a trajectory, or the only one stands on one line."""
    first, newline, rest = start.partition(b"\n")
    ends = not newline or first.rstrip().endswith(b"}")
    return ends or not first.startswith(b"{") or rest.lstrip().startswith(b'{"')


def _runs(
    document: dict[str, Any], record: int | None, path: Path, on_problem: OnProblem
) -> Iterator[Run]:
    waiting: list[tuple[dict[str, Any], str | int | None, str | None, str]] = [
        (document, record, None, "main")
    ]
    while waiting:
        trajectory, where, parent, agent = waiting.pop()
        if not isinstance(trajectory.get("steps"), list):
            got = type(trajectory.get("steps")).__name__
            reason = f"wanted a list under `steps`, got {got}"
            on_problem(ReadError(path, reason, record=where or "steps"))
            continue
        run = _run(trajectory, where, path, on_problem)
        if parent is not None:
            run = replace(run, parent=parent, agent=agent)
        yield run
        inner = as_list(trajectory.get("subagent_trajectories"))
        for place, one in reversed([*enumerate(inner)]):
            name = as_name(as_mapping(as_mapping(one).get("agent")).get("name")) or "subagent"
            at = f"{where}." if where is not None else ""
            waiting.append(
                (
                    as_mapping(one),
                    f"{at}subagent_trajectories[{place}]",
                    run.id,
                    f"{agent}/{name}",
                )
            )


def _run(
    trajectory: dict[str, Any], where: str | int | None, path: Path, on_problem: OnProblem
) -> Run:
    steps = _Steps(path, on_problem)
    steps.take_all(trajectory["steps"], f"{where}.steps" if where is not None else "steps")
    if where is None or isinstance(where, int):
        _follow(trajectory, steps, path, on_problem)
    turns = steps.turns()
    outcome = outcome_beside(path, on_problem)
    run_id = _id(trajectory) or path.name.split(".")[0]
    parent = parent_of(path) if isinstance(where, int | None) else None
    agent = as_mapping(trajectory.get("agent"))
    exit_ = outcome.exit_type or ExitType.finished(outcome.success)
    run = Run(
        id=run_id,
        turns=turns,
        format="atif",
        path=str(path),
        record=where,
        scenario=outcome.task,
        model=as_name(agent.get("model_name")) or most_used_model(turns),
        agent="main" if parent is None else f"main/{as_name(agent.get('name')) or 'subagent'}",
        parent=parent,
        exit_type=exit_ if parent is None else ExitType.UNKNOWN,
        exit_text=outcome.words,
        success=outcome.success if parent is None else None,
        score=outcome.reward if parent is None else None,
        events=(*steps.events(len(turns)), *exit_events(exit_, outcome.words, len(turns))),
        totals=_totals(as_mapping(trajectory.get("final_metrics")), turns),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(trajectory, steps)),
    )
    own = extra_of(trajectory)
    try:
        return run if own is None else run_as_written(run, run_extra(own))
    except InvariantError as problem:
        fix = "the trajectory was read without it"
        on_problem(ReadError(path, str(problem), record=where, fix=fix, kept=True))
        return run


def _id(trajectory: dict[str, Any]) -> str | None:
    return as_name(trajectory.get("trajectory_id")) or as_name(trajectory.get("session_id"))


def _follow(trajectory: dict[str, Any], steps: _Steps, path: Path, on_problem: OnProblem) -> None:
    """Take up the steps of the files that continue this one; what they copied is not counted."""
    at, seen = path, {path.resolve()}
    reference = as_name(trajectory.get("continued_trajectory_ref"))
    for _ in range(_MOST_FILES):
        following = continuation_of(at, reference) if reference else None
        if following is None or following.resolve() in seen:
            break
        seen.add(following.resolve())
        try:
            more = as_mapping(json_document(following, on_problem))
        except ReadError as problem:
            on_problem(problem)
            break
        steps.compacted()
        steps.take_all(as_list(more.get("steps")), f"{following.name}.steps")
        at, reference = following, as_name(more.get("continued_trajectory_ref"))
    else:
        reference = None
    if reference and continuation_of(at, reference) is None:
        steps.notes.append("the trajectory goes on in a file that is not beside this one")


def _totals(final: dict[str, Any], turns: tuple[Turn, ...]) -> Totals | None:
    """What the trajectory says of itself, where its steps say nothing."""
    if any(turn.usage is not None or turn.cost_usd is not None for turn in turns):
        return None
    counts = {
        "input_tokens": as_count(final.get("total_prompt_tokens")),
        "cached_input_tokens": as_count(final.get("total_cached_tokens")),
        "output_tokens": as_count(final.get("total_completion_tokens")),
    }
    cost = as_float(final.get("total_cost_usd"))
    if not any(counts.values()) and not cost:
        return None
    return Totals(**counts, cost_usd=cost if cost is not None and cost >= 0 else None)


def _notes(trajectory: dict[str, Any], steps: _Steps) -> Iterator[str]:
    if steps.n_copied:
        yield f"{steps.n_copied} step(s) are copies of what an earlier trajectory holds"
    if steps.n_several:
        yield f"{steps.n_several} step(s) hold the sums of several model calls"
    if given := as_text(trajectory.get("notes")):
        yield given
    yield from steps.notes


class _Steps:
    """The steps of one run: the agent's are turns."""

    def __init__(self, path: Path, on_problem: OnProblem) -> None:
        self.n_copied = 0
        self.n_several = 0
        self.notes: list[str] = []
        self._talk = Talk()
        self._compacted_at: list[int] = []
        self._own: list[TurnExtra | None] = []
        self._path = path
        self._on_problem = on_problem

    def take_all(self, steps: list[Any], where: str) -> None:
        """Take up the steps of one file."""
        for place, step in enumerate(steps):
            record = f"{where}[{place}]"
            if not isinstance(step, dict):
                got = type(step).__name__
                self._tell(f"wanted a step with a source and message, got {got}", record)
            elif step.get("is_copied_context") is True:
                self.n_copied += 1
            else:
                self._take(step, record)

    def compacted(self) -> None:
        """The context was made smaller before the next turn."""
        at = self._talk.n_turns + 1
        if self._compacted_at[-1:] != [at]:
            self._compacted_at.append(at)

    def turns(self) -> tuple[Turn, ...]:
        """The turns of all steps."""
        turns = self._talk.end()[0]
        return turns_as_written(turns, self._own) if any(self._own) else turns

    def events(self, n_turns: int) -> tuple[Event, ...]:
        """The compactions; call after `turns`."""
        return tuple(
            Event(kind="compaction", turn=min(turn, n_turns + 1)) for turn in self._compacted_at
        )

    def _take(self, step: dict[str, Any], record: str) -> None:
        if _is_compaction(step):
            self.compacted()
            if extra_of(step) is not None:  # written for the event alone; no model heard it
                return
        n_calls = as_count(step.get("llm_call_count"))
        if step.get("source") != "agent" or n_calls == 0:
            is_user = step.get("source") == "user"
            self._talk.hear("user" if is_user else "system", as_text(step.get("message")))
            return
        self.n_several += n_calls is not None and n_calls > 1
        metrics = as_mapping(step.get("metrics"))
        cost = as_float(metrics.get("cost_usd"))
        self._talk.answer(
            text=as_text(step.get("message")),
            tool_calls=tuple(self._call(call, record) for call in as_list(step.get("tool_calls"))),
            usage=_usage(metrics),
            cost_usd=cost if cost is not None and cost >= 0 else None,
            model=as_name(step.get("model_name")),
            started_at=parse_time(step.get("timestamp")),
            record=record,
        )
        self._own.append(self._taken(step, turn_extra, record))
        for result in as_list(as_mapping(step.get("observation")).get("results")):
            self._talk.result(self._result(as_mapping(result), record))

    def _call(self, given: object, record: str) -> ToolCall:
        call = _call(as_mapping(given))
        own = self._taken(as_mapping(given), call_extra, record)
        return call if own is None else call_as_written(call, own)

    def _result(self, given: dict[str, Any], record: str) -> ToolResult:
        result = _result(given)
        own = self._taken(given, result_extra, record)
        return result if own is None else result_as_written(result, own)

    def _taken(
        self, holder: dict[str, Any], take: Callable[[Mapping[str, Any]], T], record: str
    ) -> T | None:
        own = extra_of(holder)
        try:
            return None if own is None else take(own)
        except InvariantError as problem:
            self._tell(str(problem), record)
            return None

    def _tell(self, reason: str, record: str) -> None:
        fix = "the trajectory was read without it"
        self._on_problem(ReadError(self._path, reason, record=record, fix=fix, kept=True))


def _is_compaction(step: dict[str, Any]) -> bool:
    """Whether a step marks that the context was summed up or cut."""
    extra = as_mapping(step.get("extra"))
    if step.get("context_management") or extra.get("context_management"):
        return True
    results = as_list(as_mapping(step.get("observation")).get("results"))
    return step.get("source") == "system" and any(
        "summarization" in f"{ref.get('trajectory_path')} {ref.get('session_id')}"
        for result in map(as_mapping, results)
        for ref in map(as_mapping, as_list(result.get("subagent_trajectory_ref")))
    )


def _call(given: dict[str, Any]) -> ToolCall:
    return ToolCall(
        id=as_name(given.get("tool_call_id")),
        name=as_text(given.get("function_name")),
        arguments=as_arguments(given.get("arguments")),
    )


def _usage(metrics: dict[str, Any]) -> Usage | None:
    """Prompt tokens include cached ones; what a provider counts besides stands in `extra`."""
    prompt, output = (as_count(metrics.get(f"{n}_tokens")) for n in ("prompt", "completion"))
    if prompt is None and output is None:
        return None
    extra = as_mapping(metrics.get("extra"))
    return usage_with_cache_inside(
        input_tokens=prompt,
        cached=as_count(metrics.get("cached_tokens")),
        cache_write=as_count(extra.get("cache_creation_input_tokens")),
        output=output,
        reasoning=as_count(extra.get("reasoning_tokens")),
    )


def _result(given: dict[str, Any]) -> ToolResult:
    """A result; ATIF has no error flag, so the text decides where no writer added one."""
    text = as_text(given.get("content"))
    flag = as_mapping(given.get("extra")).get("is_error")
    failed = flag if isinstance(flag, bool) else looks_like_error(text)
    return ToolResult(
        call_id=as_name(given.get("source_call_id")),
        text=text,
        error=failed,
        detector="flag" if isinstance(flag, bool) else "text",
        transient=failed and is_transient(text),
    )


READER = Reader(
    name="atif",
    title="ATIF trajectories (.json, .jsonl)",
    recognised_by="a JSON object with a schema_version that starts with ATIF-v",
    looks_like=looks_like,
    read=read,
    companions=("result.json", "*.cont-*.json"),
    joins_files=True,
)
