"""What the events of a Claude managed agents session say of it as a whole."""

from __future__ import annotations

import re
from typing import Any

from turncurve.model import ExitType, Usage
from turncurve.readers._items import as_mapping
from turncurve.readers.fields import as_count, as_float, as_name, as_text

_OUTCOMES = {"satisfied": True, "needs_revision": False, "max_iterations_reached": False}
"""Results of an evaluation that say whether the outcome was met.

The others do not: after `failed` the rubric did not fit the work, after `interrupted` the user
stopped the evaluation.
"""
_STOPS = {"budget_reached": ExitType.BUDGET, "retries_exhausted": ExitType.CRASH}
_AMOUNT = re.compile(r"\d{1,15}(\.\d+)?")


class ManagedSession:
    """The session's name, cost and outcome, and how it ended."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.agents: dict[str, str] = {}
        """Agent's name by thread."""
        self.cost_usd: float | None = None
        self.result: str | None = None
        self.grader_usage: Usage | None = None
        self.is_running = False
        self.was_interrupted = False
        self._stop: str | None = None
        self._was_terminated = False
        self._error: str | None = None

    def take(self, kind: str, event: dict[str, Any]) -> None:
        """Take up one event."""
        self.id = self.id or as_name(event.get("session_id"))
        if (thread := as_name(event.get("session_thread_id"))) and "agent_name" in event:
            self.agents[thread] = as_text(event["agent_name"])
        if kind == "session.usage":
            self._cost(as_mapping(as_mapping(event.get("usage")).get("list_cost")))
        elif kind == "span.outcome_evaluation_end":
            self.result = as_name(event.get("result"))
            self.grader_usage = _sum(self.grader_usage, usage(as_mapping(event.get("usage"))))
        elif kind == "session.error":
            self._fail(as_mapping(event.get("error")))
        elif kind == "user.interrupt":
            # Of a session that is idle already, it changes nothing.
            self.was_interrupted |= self.is_running and not event.get("session_thread_id")
        else:
            self._status(kind, event)

    def _status(self, kind: str, event: dict[str, Any]) -> None:
        if kind == "session.status_running":
            self.is_running, self._stop = True, None
            self.was_interrupted, self._error = False, None
        elif kind == "session.status_idle":
            self.is_running = False
            self._stop = as_name(as_mapping(event.get("stop_reason")).get("type"))
        elif kind == "session.status_terminated":
            self.is_running, self._was_terminated = False, True

    def _cost(self, cost: dict[str, Any]) -> None:
        """The session's cost so far: an amount in cents, as text; the last one counts."""
        amount = cost.get("amount")
        if isinstance(amount, str) and _AMOUNT.fullmatch(amount):
            amount = float(amount)
        cents = as_float(amount)
        if cents is not None and cents >= 0:
            self.cost_usd = cents / 100

    def _fail(self, error: dict[str, Any]) -> None:
        """An error that is retried has ended nothing yet."""
        retry = as_mapping(error.get("retry_status")).get("type")
        self._error = None if retry == "retrying" else as_text(error.get("message")) or "error"

    def end(self) -> tuple[ExitType, str | None, bool | None]:
        """How it ended, in which words, and whether its outcome was met."""
        if self.is_running:
            met = True if self.result == "satisfied" else None
            return ExitType.STILL_RUNNING, self.result, met
        success = _OUTCOMES.get(self.result or "")
        words = self._stop or ("terminated" if self._was_terminated else self.result)
        if self._stop in _STOPS:
            return _STOPS[self._stop], words, success
        if self._was_terminated and self._error is not None:
            return ExitType.CRASH, self._error, success
        if self.was_interrupted or self.result == "interrupted":
            return ExitType.USER_ABORT, "interrupted", success
        return ExitType.finished(success), words, success


def usage(given: dict[str, Any]) -> Usage | None:
    """Usage that leaves cached tokens out of its input count; None where nothing was counted."""
    names = {
        "input_uncached": "input_tokens",
        "cache_read": "cache_read_input_tokens",
        "cache_write": "cache_creation_input_tokens",
        "output": "output_tokens",
    }
    counts = {name: as_count(given.get(key)) for name, key in names.items()}
    return Usage(**counts) if any(counts.values()) else None


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    names = ("input_uncached", "cache_read", "cache_write", "output")
    return Usage(**{name: _added(getattr(one, name), getattr(other, name)) for name in names})


def _added(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
