"""Graders that answer without a network."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turncurve.grading.model import GraderMessage, Reply
from turncurve.grading.pace import Pace
from turncurve.model import Usage

PASS = {
    "validity": "pass",
    "complexity": "low",
    "dependency": "n/a",
    "severity": None,
    "looping": False,
    "repeats_turn": None,
}
FAIL = PASS | {"validity": "fail", "dependency": "independent", "severity": "low"}
NEUTRAL = PASS | {"validity": "neutral"}
USAGE = Usage(input_uncached=1_000, cache_read=0, cache_write=0, output=50)


def said(answer: Mapping[str, Any], **more: Any) -> Reply:
    """A reply that is an answer as JSON."""
    return Reply(text=json.dumps(answer), usage=USAGE, **more)


@dataclass
class FakeModel:
    """A grader whose replies are those of a function of the messages and the number of the call."""

    answer: Callable[[Sequence[GraderMessage], int], Reply | Exception]
    name: str = "lab/fake"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    asked: list[tuple[GraderMessage, ...]] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    async def generate(
        self, messages: Sequence[GraderMessage], schema: Mapping[str, Any] | None
    ) -> Reply:
        self.asked.append(tuple(messages))
        self.schemas.append(schema)
        number = len(self.asked)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
            reply = self.answer(messages, number)
        finally:
            self.under_way -= 1
        if isinstance(reply, Exception):
            raise reply
        return reply


def always(answer: Mapping[str, Any], **more: Any) -> FakeModel:
    """A grader that says the same of every turn."""
    return FakeModel(lambda _, __: said(answer), **more)


def scripted(*replies: Reply | Exception, **more: Any) -> FakeModel:
    """A grader that gives these replies one after another, the last one for ever."""
    return FakeModel(lambda _, n: replies[min(n, len(replies)) - 1], **more)


def judged_turn(messages: Sequence[GraderMessage]) -> int:
    """The turn that a prompt asks about."""
    found = re.search(r"Judge turn (\d+) only", messages[1].parts[-1])
    assert found
    return int(found[1])


def patient() -> Pace:
    """A pace that waits for nothing."""

    async def no_sleep(_: float) -> None:
        await asyncio.sleep(0)

    return Pace(sleep=no_sleep, rng=random.Random(1))
