"""One question: repairs, refusals, cut-off replies, failures; retries and pauses."""

from __future__ import annotations

import asyncio
import random
from functools import partial

import pytest

from grading.fakes import FAIL, PASS, USAGE, FakeModel, always, patient, said, scripted
from grading.runs import run
from turncurve.grading.ask import Asked, Question, ask
from turncurve.grading.cost import Pricing
from turncurve.grading.model import ProviderError, Reply
from turncurve.grading.pace import Pace
from turncurve.grading.parse import parse_answer
from turncurve.grading.prompt import build_prompt
from turncurve.grading.rubric_file import load_rubric
from turncurve.model import Usage

STEPS = load_rubric("steps")
QUESTION = Question(
    prompt=build_prompt(run(3), STEPS, 2),
    schema=STEPS.schema,
    parse=partial(parse_answer, rubric=STEPS, turn=2),
)
PRICE = Pricing(per_million=(1.0, 10.0))


def asked(model: FakeModel, pace: Pace | None = None) -> Asked:
    return asyncio.run(ask(model, QUESTION, pace=pace or patient(), price=PRICE))


def test_an_answer_takes_one_call_and_the_schema_goes_along() -> None:
    """System and user message, the schema, and what it cost by the price given."""
    model = always(PASS)
    done = asked(model)
    assert done.answer == PASS
    assert done.calls == 1
    assert done.cost_usd == pytest.approx((1_000 * 1 + 50 * 10) / 1e6)
    assert done.usage.input_uncached == 1_000
    assert [message.role for message in model.asked[0]] == ["system", "user"]
    assert model.schemas == [STEPS.schema]


def test_a_fault_is_quoted_once_and_both_calls_are_paid() -> None:
    """The second message has the fault in words; the answer is the second reply's."""
    model = scripted(said(PASS | {"severity": "high"}), said(FAIL))
    done = asked(model)
    assert done.answer == FAIL
    assert done.calls == 2
    assert done.usage.output == 100
    assert "severity is for failing steps only: wanted null" in model.asked[1][-1].text
    assert model.asked[1][2].role == "assistant"
    assert "--- repaired ---" in done.raw


def test_two_faults_are_a_missing_grade_with_both_replies() -> None:
    """No third try, no neutral: the reason, and what was said."""
    done = asked(scripted(Reply(text="it is fine", usage=USAGE), Reply(text="really", usage=USAGE)))
    assert done.answer is None
    assert done.missing is not None
    assert done.missing.reason == "no JSON"
    assert done.calls == 2
    assert "it is fine" in done.raw
    assert "really" in done.raw


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(text="I would rather not.", stop="refusal"), "refusal"),
        (Reply(text='{"validity": "pa', stop="length"), "truncated"),
        (Reply(text="{}", stop="length"), "truncated"),
        (ProviderError("status 400: bad request"), "provider error"),
        (KeyError("choices"), "provider error"),
    ],
)
def test_what_no_repair_mends_is_asked_once(reply: Reply | Exception, reason: str) -> None:
    """A refusal, a cut-off reply and a failed call each have their reason."""
    model = scripted(reply)
    done = asked(model)
    assert len(model.asked) == 1
    assert done.missing is not None
    assert done.missing.reason == reason
    assert done.answer is None


def test_a_repair_that_fails_is_a_provider_error() -> None:
    """The first reply is kept and paid for."""
    done = asked(scripted(Reply(text="hm", usage=USAGE), ProviderError("gone")))
    assert done.missing is not None
    assert (done.missing.reason, done.missing.detail) == ("provider error", "gone")
    assert done.calls == 1
    assert done.raw == "hm"


def test_a_cost_that_is_not_known_is_none() -> None:
    """Neither 0 nor the cost of the other call alone."""
    done = asked(scripted(Reply(text="hm", usage=USAGE), Reply(text="hm", usage=None)))
    assert done.cost_usd is None
    assert done.usage.output is None
    assert Pricing(per_million=(1, 1))("m", Usage(output=3)) is None


def test_what_the_provider_charges_goes_before_the_table() -> None:
    """Its own figure stands."""
    assert asked(scripted(said(PASS, cost_usd=0.5))).cost_usd == 0.5


def test_a_very_long_reply_is_cut_on_file() -> None:
    """The first 8,000 characters, and how many there were."""
    done = asked(scripted(Reply(text="x" * 50_000, stop="length")))
    assert len(done.raw) < 8_100
    assert "50,000 in all" in done.raw


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def paced(clock: Clock, attempts: int = 5) -> Pace:
    return Pace(attempts=attempts, sleep=clock.sleep, clock=clock, rng=random.Random(3))


def test_what_may_pass_is_tried_again_with_growing_waits() -> None:
    """Each wait is between half and all of twice the one before."""
    clock = Clock()
    busy = ProviderError("overloaded", transient=True)
    done = asked(scripted(busy, busy, busy, said(PASS)), paced(clock))
    assert done.answer == PASS
    assert len(clock.slept) == 3
    for number, seconds in enumerate(clock.slept):
        assert 0.5 * 2**number <= seconds <= 2**number


def test_attempts_end() -> None:
    """After the last one the grade is missing, with what the provider said."""
    clock = Clock()
    model = scripted(ProviderError("overloaded", transient=True))
    done = asked(model, paced(clock, attempts=3))
    assert len(model.asked) == 3
    assert done.missing is not None
    assert done.missing.detail == "overloaded"


def test_a_pause_that_was_asked_for_holds_for_all() -> None:
    """After a rate limit no other call starts before its time."""
    clock = Clock()
    starts: list[float] = []

    def reply(_: object, n: int) -> Reply | Exception:
        starts.append(clock.now)
        return ProviderError("429", transient=True, retry_after=30.0) if n == 1 else said(PASS)

    model = FakeModel(reply)
    pace = paced(clock)

    async def both() -> None:
        await ask(model, QUESTION, pace=pace, price=PRICE)
        await ask(model, QUESTION, pace=pace, price=PRICE)

    asyncio.run(both())
    assert starts == [0.0, 30.0, 30.0]
