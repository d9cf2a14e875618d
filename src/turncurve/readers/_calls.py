"""Turns of sources whose parts may come in any order: drafts by model call, results by call id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turncurve.model import Message, ToolCall, Turn, Usage
from turncurve.readers._pairing import Arrived, pair_results
from turncurve.readers.base import OnProblem


@dataclass(slots=True, kw_only=True)
class CallDraft:
    """One model call while its parts come in."""

    record: str | int
    before: tuple[Message, ...] = ()
    texts: list[str] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    cost_usd: float | None = None
    model: str | None = None
    started_at: float | None = None
    seconds: float | None = None


def turns_of(
    drafts: Sequence[CallDraft],
    arrived: Sequence[Arrived],
    *,
    path: Path,
    on_problem: OnProblem,
    first: int = 1,
) -> tuple[Turn, ...]:
    """The turns of the drafts, numbered from `first`, each with the results of its calls."""
    results = pair_results(
        [[call.id for call in draft.tool_calls] for draft in drafts],
        arrived,
        path=path,
        on_problem=on_problem,
    )
    return tuple(
        Turn(
            index=index,
            text="\n".join(text for text in draft.texts if text),
            before=draft.before,
            tool_calls=tuple(draft.tool_calls),
            tool_results=tuple(own),
            usage=draft.usage,
            cost_usd=draft.cost_usd,
            model=draft.model,
            started_at=draft.started_at,
            seconds=draft.seconds,
            record=draft.record,
        )
        for index, (draft, own) in enumerate(zip(drafts, results, strict=True), start=first)
    )
