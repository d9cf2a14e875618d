"""One question to one grader: an answer, or why there is none; one repair where that may help."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turncurve.grading.dimensions import Answer
from turncurve.grading.model import GraderMessage, GraderModel, ProviderError, Reply
from turncurve.grading.pace import Pace
from turncurve.grading.parse import Parsed
from turncurve.grading.prompt import Prompt
from turncurve.model import Usage
from turncurve.readers.grade_lines import Absence, TokenCounts

MOST_RAW = 8_000
"""Characters of a reply that are kept."""
REPAIR = (
    "That reply cannot be used: {fault}.\n"
    "Answer once more, with the JSON object alone, whose values are among those allowed."
)

Price = Callable[[str, Usage], float | None]
"""US dollars of a call by the model's name; None where they are not known."""


@dataclass(slots=True, kw_only=True)
class Asked:
    """What came of a question, and what it took."""

    answer: Answer | None = None
    missing: Absence | None = None
    replies: list[str] = field(default_factory=list)
    usages: list[Usage | None] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    calls: int = 0
    seconds: float = 0.0

    def take(self, model: GraderModel, reply: Reply, price: Price) -> None:
        """Count a call."""
        self.calls += 1
        self.replies.append(reply.text)
        self.usages.append(reply.usage)
        known = reply.cost_usd
        if known is None and reply.usage is not None:
            known = price(model.name, reply.usage)
        self.costs.append(known)

    @property
    def raw(self) -> str:
        """The replies as they came, cut where they are very long."""
        text = "\n--- repaired ---\n".join(self.replies)
        return text if len(text) <= MOST_RAW else f"{text[:MOST_RAW]}[... {len(text):,} in all]"

    @property
    def cost_usd(self) -> float | None:
        """US dollars of all calls; None where those of one are not known."""
        known = [cost for cost in self.costs if cost is not None]
        return sum(known) if known and len(known) == len(self.costs) else None

    @property
    def usage(self) -> TokenCounts:
        """Tokens of all calls, each kind where every call says it."""
        return TokenCounts(
            **{name: _sum(self.usages, name) for name in TokenCounts.__struct_fields__}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is sent, and how a reply is read; without a schema a text is wanted."""

    prompt: Prompt
    schema: Mapping[str, Any] | None
    parse: Callable[[str], Parsed]


async def ask(model: GraderModel, question: Question, *, pace: Pace, price: Price) -> Asked:
    """Ask once. A reply that is no JSON answer is told its fault and asked for once more.

    A refusal, a reply that was cut off and a call that failed are not asked again: the next run of
    the command does.
    """
    asked, started = Asked(), time.monotonic()
    messages = [*question.prompt.messages]

    async def reply_to() -> Reply | None:
        """One call, whose outcome stands in `asked`; None where it failed."""
        try:
            reply = await pace.call(model, messages, question.schema)
        except ProviderError as problem:
            asked.answer = None
            asked.missing = Absence(reason="provider error", detail=str(problem)[:500])
            return None
        asked.take(model, reply, price)
        asked.answer, asked.missing = _outcome(reply, question)
        return reply

    first = await reply_to()
    absence = None if question.schema is None else asked.missing
    if first is not None and absence is not None and absence.reason in _MENDABLE:
        fault = REPAIR.format(fault=absence.detail)
        messages += [
            GraderMessage(role="assistant", parts=(first.text or "(empty)",)),
            GraderMessage(role="user", parts=(fault,)),
        ]
        await reply_to()
    asked.seconds = time.monotonic() - started
    return asked


_MENDABLE = ("no JSON", "broken invariant")


def _outcome(reply: Reply, question: Question) -> tuple[Answer | None, Absence | None]:
    if reply.stop == "refusal":
        return None, Absence(reason="refusal", detail="the model refused")
    if reply.stop == "length":
        return None, Absence(reason="truncated", detail="the reply was cut off by its limit")
    parsed = question.parse(reply.text)
    return parsed.answer, parsed.missing


def _sum(usages: Sequence[Usage | None], name: str) -> int | None:
    known = [getattr(usage, name) for usage in usages if usage is not None]
    return sum(known) if known and None not in known and len(known) == len(usages) else None
