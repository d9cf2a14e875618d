"""Graders by Inspect: what is sent, what comes back, and what is said where it cannot be had."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import transcript
from inspect_ai.model import (
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)

from grading.fakes import FAIL, PASS, patient
from grading.runs import run
from turncurve.errors import GradeError
from turncurve.grading.grade import grade_run, grade_runs, run_grading
from turncurve.grading.inspect_model import InspectModel, inspect_grader
from turncurve.grading.model import GraderMessage, Member, ProviderError, Reply
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import GradeSettings, Session
from turncurve.inspect_ext.switches import LIVE

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")
"""Inspect names a parameter of tenacity by its old name."""

STEPS = load_rubric("steps")
MESSAGES = (
    GraderMessage(role="system", parts=("judge",)),
    GraderMessage(role="user", parts=("the run", "the step")),
)
USAGE = ModelUsage(
    input_tokens=200,
    input_tokens_cache_read=800,
    output_tokens=50,
    reasoning_tokens=20,
    total_tokens=1_050,
    total_cost=0.25,
)


def output(text: str, stop: Any = "stop", usage: ModelUsage | None = USAGE) -> ModelOutput:
    made = ModelOutput.from_content("mockllm", text, stop_reason=stop)
    made.usage = usage
    return made


def mock(
    answer: Callable[..., ModelOutput | Exception], name: str | None = None
) -> tuple[InspectModel, list[tuple[Any, Any]]]:
    """A grader by mockllm, and what it was sent: messages and configuration."""
    sent: list[tuple[Any, Any]] = []

    def reply(messages: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        del tools, tool_choice
        sent.append((messages, config))
        made = answer(len(sent))
        if isinstance(made, Exception):
            raise made
        return made

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    return InspectModel(model, name=name, isolated=True), sent


def reply_of(grader: InspectModel) -> Reply:
    return asyncio.run(grader.generate(MESSAGES, STEPS.schema))


def test_messages_and_schema_go_to_the_provider() -> None:
    """System and user as they are; the schema as a response schema."""
    grader, sent = mock(lambda _: output("{}"))
    reply_of(grader)
    messages, config = sent[0]
    assert [m.role for m in messages] == ["system", "user"]
    assert messages[1].text == "the run\n\nthe step"
    held = config.response_schema.json_schema.model_dump(exclude_none=True)
    assert held["properties"]["validity"]["enum"] == ["fail", "neutral", "pass"]
    assert held["properties"]["severity"]["type"] == ["string", "null"]
    assert held["additionalProperties"] is False


def test_parts_are_blocks_where_a_cache_goes_by_blocks() -> None:
    """Anthropic's prompt cache finds a common beginning by whole blocks."""
    grader, sent = mock(lambda _: output("{}"), name="anthropic/model")
    reply_of(grader)
    assert [part.text for part in sent[0][0][1].content] == ["the run\n\n", "the step\n\n"]


def test_usage_comes_back_in_the_normal_form() -> None:
    """Input without what was cached; cost as the provider says."""
    reply = reply_of(mock(lambda _: output("x"))[0])
    assert reply.usage is not None
    assert (reply.usage.input_uncached, reply.usage.cache_read) == (200, 800)
    assert (reply.usage.output, reply.usage.reasoning) == (50, 20)
    assert reply.usage.context_tokens == 1_000
    assert reply.cost_usd == 0.25


@pytest.mark.parametrize(
    ("stop", "known"),
    [
        ("stop", "end"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("content_filter", "refusal"),
    ],
)
def test_why_a_reply_ended(stop: str, known: str) -> None:
    """Cut off and refused are told apart from an end."""
    assert reply_of(mock(lambda _: output("x", stop))[0]).stop == known


def test_reasoning_is_no_part_of_the_text() -> None:
    """A block of reasoning is left out; the answer stands."""
    parts = [ContentReasoning(reasoning=json.dumps(FAIL)), ContentText(text=json.dumps(PASS))]
    made = ModelOutput.from_content("mockllm", parts)  # type: ignore[arg-type]
    made.usage = USAGE
    assert json.loads(reply_of(mock(lambda _: made)[0]).text) == PASS


def test_a_schema_that_is_refused_is_left_out_from_then_on() -> None:
    """Once refused, every later call goes without."""
    refused = ValueError("400: response_format of type json_schema is not supported")
    grader, sent = mock(lambda n: refused if n == 1 else output("x"))
    assert reply_of(grader).text == "x"
    assert reply_of(grader).text == "x"
    assert [config.response_schema is not None for _, config in sent] == [True, False, False]


def test_a_failed_call_is_a_provider_error() -> None:
    """The provider's words are in it; so is an error within an output."""
    with pytest.raises(ProviderError, match="ValueError: 401 no key"):
        reply_of(mock(lambda _: ValueError("401 no key"))[0])
    broken = output("")
    broken.error = "the server fell over"
    with pytest.raises(ProviderError, match="the server fell over"):
        reply_of(mock(lambda _: broken)[0])


def test_a_run_is_graded_by_it() -> None:
    """From `get_model` to grades, with a repair on the way."""
    grader, sent = mock(lambda n: output("hm" if n == 2 else json.dumps(PASS)))
    done = asyncio.run(grade_run(run(3), STEPS, grader))
    assert [t.grade.validity for t in done.turns if t.grade] == ["pass"] * 3
    assert len(sent) == 4
    assert done.turns[1].answers[0].calls == 2
    assert done.turns[1].answers[0].cost_usd == 0.5


def test_calls_leave_nothing_in_the_transcript_of_the_process() -> None:
    """Thousands of prompts are not held in memory."""
    grader, _ = mock(lambda _: output(json.dumps(PASS)))
    before = len(transcript().events)

    async def work() -> int:
        session = Session(STEPS, [Member(model=grader)], GradeSettings(), pace=patient())
        await grade_runs([run(5)], session)
        return len(transcript().events)

    async def main() -> None:
        assert await work() == before

    run_grading(main())
    assert len(transcript().events) == before


def test_a_grader_by_name() -> None:
    """Name and parameters are those asked for, with the limit on a reply among them."""
    grader = inspect_grader("mockllm/model", parameters={"temperature": 0.0})
    assert grader.name == "mockllm/model"
    assert grader.parameters == {"max_tokens": 4_096, "temperature": 0.0}


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("nobody/model", {}, "the grader 'nobody/model' cannot be had"),
        ("mockllm/model", {"temprature": 0}, "no parameter 'temprature'; known: "),
        ("mockllm/model", {"response_schema": 1}, "no parameter 'response_schema'"),
        ("mockllm/model", {"temperature": "hot"}, "cannot be had"),
        ("openai/gpt-5-mini", {}, "'openai/gpt-5-mini' cannot be had: PrerequisiteError: ERROR: "),
    ],
)
def test_what_cannot_be_had_is_said(name: str, parameters: dict[str, Any], words: str) -> None:
    """An unknown provider or parameter, and a package or key that is not there."""
    with pytest.raises(GradeError) as problem:
        inspect_grader(name, parameters=parameters)
    assert words in str(problem.value)


def test_without_inspect_the_extra_is_named() -> None:
    """Where Inspect is not installed, the error says how to have it."""
    code = (
        "import sys; sys.modules['inspect_ai'] = None; sys.modules['inspect_ai.model'] = None\n"
        "from turncurve.grading.inspect_model import inspect_grader\n"
        "inspect_grader('openai/x')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'turncurve[inspect]'" in done.stderr


def test_what_inspect_says_of_its_hooks_is_not_a_result(tmp_path: Path) -> None:
    """Standard output is of the results alone: a fresh process, where Inspect loads a hook."""
    code = "from turncurve.grading.inspect_model import inspect_grader as g; g('mockllm/model')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, LIVE: str(tmp_path)},
    )
    assert done.stdout == ""
    assert "hooks enabled" in done.stderr
