"""OpenHands events to turns: actions by their response, observations by their cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    Event,
    Message,
    ToolCall,
    ToolResult,
    Totals,
    Turn,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers._calls import CallDraft, turns_of
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._pairing import Arrived
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import (
    as_count,
    as_float,
    as_int,
    as_name,
    as_text,
    is_transient,
    parse_time,
)

_NO_CALL = frozenset({"system", "recall", "change_agent_state", "null", "condensation_request"})
_ACTIONS = frozenset(
    (
        *("run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive"),
        *("message", "finish", "reject", "delegate", "think", "call_tool_mcp", "task_tracking"),
    )
)
"""Actions that a model chose, where an old session does not keep its response beside them."""
_COUNTS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")


class Events:
    """The events of one run.

    Several actions of one model response are one turn. Counters that run through the session are
    differenced; where the calls are listed by response, those figures count.
    """

    def __init__(self, path: Path, on_problem: OnProblem, *, record: int | None) -> None:
        self.state: str | None = None
        self.is_finished = False
        self.hit_limit = False
        self._path = path
        self._on_problem = on_problem
        self._record = record
        self._drafts: list[CallDraft] = []
        self._arrived: list[Arrived] = []
        self._events: list[Event] = []
        self._before: list[Message] = []
        self._call_of: dict[int, str] = {}
        self._response: str | None = None
        self._usage_of: dict[str, Usage] = {}
        self._seconds_of: dict[str, float] = {}
        self._responses: list[str | None] = []
        self._counters: dict[str, float] = {}
        self._last_time: float | None = None
        self._n_delegates = 0

    def take(self, event: object, place: int) -> None:
        """Take up the next event."""
        if not isinstance(event, dict):
            reason = f"wanted an event, got {type(event).__name__}"
            fix, where = "the run was read without it", self._where(place)
            self._on_problem(ReadError(self._path, reason, record=where, fix=fix, kept=True))
        elif event.get("observation"):
            self._observation(event, place)
        elif as_text(event.get("action")) in ("condensation", "condense"):
            self._events.append(Event(kind="compaction", turn=len(self._drafts) + 1))
        elif _is_answer(event):
            self._action(event, place)
        else:
            self._heard(event)

    def turns(self) -> tuple[tuple[Turn, ...], list[Event]]:
        """The turns, and what happened between them."""
        for draft, response in zip(self._drafts, self._responses, strict=True):
            if response in self._usage_of:
                draft.usage = self._usage_of[response]
            draft.seconds = self._seconds_of.get(response or "", None)
        turns = turns_of(self._drafts, self._arrived, path=self._path, on_problem=self._on_problem)
        return turns, self._events

    def totals(self, metrics: Mapping[str, Any], turns: tuple[Turn, ...]) -> Totals | None:
        """What the run's own metrics say, where its turns say nothing."""
        if any(turn.usage is not None or turn.cost_usd is not None for turn in turns):
            return None
        used = as_mapping(metrics.get("accumulated_token_usage"))
        cost = as_float(metrics.get("accumulated_cost"))
        prompt, output = as_count(used.get(_COUNTS[0])), as_count(used.get(_COUNTS[1]))
        if not prompt and not output and not cost:
            return None
        return Totals(
            input_tokens=prompt,
            cached_input_tokens=as_count(used.get("cache_read_tokens")),
            output_tokens=output,
            cost_usd=cost if cost is not None and cost > 0 else None,
        )

    def notes(self) -> Iterator[str]:
        """How ambiguous parts were read."""
        if any(draft.started_at is not None for draft in self._drafts):
            yield "times have no zone and are taken as UTC; they are those of the actions"
        if self._n_delegates:
            yield f"{self._n_delegates} delegation(s): the delegates' actions are turns of this run"

    def _where(self, place: int) -> str:
        return f"history[{place}]" if self._record is None else f"{self._record}.history[{place}]"

    def _heard(self, event: dict[str, Any]) -> None:
        args = as_mapping(event.get("args"))
        if as_text(event.get("action")) == "change_agent_state":
            self.state = as_name(args.get("agent_state")) or self.state
        elif event.get("action") in ("message", "system"):
            text = as_text(args.get("content")) or as_text(event.get("message"))
            is_user = event.get("source") == "user"
            self._before.append(Message(role="user" if is_user else "system", text=text))

    def _action(self, event: dict[str, Any], place: int) -> None:
        metadata = as_mapping(event.get("tool_call_metadata"))
        response = as_mapping(metadata.get("model_response"))
        response_id = as_name(response.get("id"))
        kind, args = as_text(event.get("action")), as_mapping(event.get("args"))
        if response_id is None or response_id != self._response:
            self._drafts.append(
                CallDraft(
                    record=self._where(place),
                    before=tuple(self._before),
                    model=as_name(response.get("model")),
                    started_at=parse_time(event.get("timestamp")),
                )
            )
            self._responses.append(response_id)
            self._before, self._response = [], response_id
            self._count(event, response)
        draft = self._drafts[-1]
        self.is_finished = kind == "finish" or self.is_finished
        self._n_delegates += kind == "delegate"
        text = as_text(args.get("thought")) or as_text(args.get("content"))
        if text and text not in draft.texts:
            draft.texts.append(text)
        if kind != "message":
            self._call(event, metadata, draft)

    def _call(self, event: dict[str, Any], metadata: dict[str, Any], draft: CallDraft) -> None:
        number = as_int(event.get("id"))
        call_id = as_name(metadata.get("tool_call_id")) or f"event-{number}"
        if number is not None:
            self._call_of[number] = call_id
        args = {k: v for k, v in as_mapping(event.get("args")).items() if k != "thought"}
        name = as_name(metadata.get("function_name")) or as_text(event.get("action"))
        draft.tool_calls.append(ToolCall(id=call_id, name=name, arguments=args))

    def _count(self, event: dict[str, Any], response: dict[str, Any]) -> None:
        """Tokens and cost of this call: its own where they are listed, else by difference."""
        metrics = as_mapping(event.get("llm_metrics")) or as_mapping(event.get("metrics"))
        for used in map(as_mapping, as_list(metrics.get("token_usages"))):
            if (name := as_name(used.get("response_id"))) and (usage := _usage(used)):
                self._usage_of[name] = usage
        for latency in map(as_mapping, as_list(metrics.get("response_latencies"))):
            seconds, name = as_float(latency.get("latency")), as_name(latency.get("response_id"))
            if name and seconds is not None and seconds >= 0:
                self._seconds_of[name] = seconds
        draft = self._drafts[-1]
        draft.usage = _usage(as_mapping(response.get("usage")), cached_within=True)
        if not metrics:
            return
        used = as_mapping(metrics.get("accumulated_token_usage"))
        own = {name: self._since(name, as_count(used.get(name))) for name in _COUNTS}
        draft.usage = draft.usage or _usage(own)
        draft.cost_usd = self._since("cost", as_float(metrics.get("accumulated_cost")))

    def _since(self, name: str, total: float | None) -> Any:
        """How much a counter grew since the last call; None where it is not known, or fell."""
        if total is None:
            return None
        grown = total - self._counters.get(name, 0)
        self._counters[name] = total
        return grown if grown >= 0 else None

    def _observation(self, event: dict[str, Any], place: int) -> None:
        kind, extras = as_text(event.get("observation")), as_mapping(event.get("extras"))
        if kind == "agent_state_changed":
            self.state = as_name(extras.get("agent_state")) or self.state
            reason = as_text(extras.get("reason")).lower()
            self.hit_limit = self.hit_limit or "maximum" in reason
            return
        if kind in ("recall", "null", "condense"):
            return
        cause = as_int(event.get("cause"))
        call_id = self._call_of.get(cause) if cause is not None else None
        if call_id is None:
            text = as_text(event.get("content"))
            self._before.append(Message(role="user", text=text))
            return
        result = _result(event, kind, extras, call_id)
        latest = len(self._drafts) - 1
        self._arrived.append(Arrived(result=result, record=place, latest=latest))


def _is_answer(event: dict[str, Any]) -> bool:
    """Whether a model chose this action."""
    action = as_text(event.get("action"))
    if event.get("source") != "agent" or action in _NO_CALL:
        return False
    return action in _ACTIONS or bool(event.get("tool_call_metadata"))


def _usage(counts: Mapping[str, Any], *, cached_within: bool = False) -> Usage | None:
    """Prompt tokens include cached ones, as the library behind OpenHands counts them."""
    prompt, output = as_count(counts.get(_COUNTS[0])), as_count(counts.get(_COUNTS[1]))
    if not prompt and not output:
        return None
    cached = as_count(counts.get("cache_read_tokens"))
    if cached_within:
        details = as_mapping(counts.get("prompt_tokens_details"))
        cached = as_count(details.get("cached_tokens"))
    return usage_with_cache_inside(
        input_tokens=prompt,
        cached=cached,
        cache_write=as_count(counts.get("cache_write_tokens")),
        output=output,
    )


def _result(event: dict[str, Any], kind: str, extras: dict[str, Any], call_id: str) -> ToolResult:
    """A result: by its exit code, the flag of its success, or the kind of its observation."""
    text = as_text(event.get("content"))
    code = as_int(as_mapping(extras.get("metadata")).get("exit_code"))
    code = as_int(extras.get("exit_code")) if code is None else code
    success = event.get("success")
    if kind in ("error", "user_rejected"):
        return _told(call_id, text, "status", failed=kind == "error")
    if code is not None:
        # -1 says that the command still runs, or was stopped: neither worked nor failed.
        if code == -1:
            return ToolResult(call_id=call_id, text=text)
        return _told(call_id, text, "return_code", failed=code != 0)
    if isinstance(success, bool):
        return _told(call_id, text, "flag", failed=not success)
    failed = text.startswith(("ERROR:", "Error:"))
    return _told(call_id, text, "text", failed=failed)


def _told(call_id: str, text: str, detector: Any, *, failed: bool) -> ToolResult:
    return ToolResult(
        call_id=call_id,
        text=text,
        error=failed,
        detector=detector,
        transient=failed and is_transient(text),
    )
