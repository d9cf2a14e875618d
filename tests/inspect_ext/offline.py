"""Inspect evaluations without a network: scripted answers on mockllm, and two tools."""

from __future__ import annotations

import gc
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("INSPECT_DISPLAY", "none")

from inspect_ai import Task, eval, score
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import Scorer
from inspect_ai.tool import Tool, ToolCall, ToolChoice, ToolError, ToolInfo, tool

Script = Callable[[int, Sequence[ChatMessage]], ModelOutput]
"""Maps the turn, from 1, and the conversation so far to the answer."""


@tool
def lookup() -> Tool:
    """A tool that fails for a key that begins with `bad`."""

    async def execute(key: str) -> str:
        """Look a record up.

        Args:
            key: Its key.
        """
        if key.startswith("bad"):
            raise ToolError(f"no record {key}")
        return f"the record {key}"

    return execute


def calls(*keys: str, text: str = "") -> ModelOutput:
    """An answer that looks up each key, in parallel."""
    output = ModelOutput.from_content("mockllm", text)
    output.choices[0].message.tool_calls = [
        ToolCall(id=f"call-{number}-{key}", function="lookup", arguments={"key": key})
        for number, key in enumerate(keys)
    ]
    output.choices[0].stop_reason = "tool_calls"
    return output


def uses(name: str, **arguments: Any) -> ModelOutput:
    """An answer that calls one tool."""
    return ModelOutput.for_tool_call("mockllm", name, arguments)


def submits(answer: str = "done") -> ModelOutput:
    """The answer that ends a react agent."""
    return uses("submit", answer=answer)


def says(text: str) -> ModelOutput:
    """An answer that calls nothing."""
    return ModelOutput.from_content("mockllm", text)


def words(plan: str) -> Script:
    """The script of a plan: `k3` looks up k3, `k1+k2` both at once, `!` submits, `"x` says x."""
    answers = plan.split()

    def answer(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        del messages
        word = answers[turn - 1] if turn <= len(answers) else "!"
        if word == "!":
            return submits()
        return says(word[1:]) if word.startswith('"') else calls(*word.split("+"))

    return answer


def mock(script: Script, name: str = "mockllm/model") -> Model:
    """mockllm that answers by script; usage is set, so that no tokenizer is fetched."""

    def answer(
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        del tools, tool_choice, config
        turn = 1 + sum(message.role == "assistant" for message in messages)
        output = script(turn, messages)
        read = sum(len(message.text) for message in messages) + 40
        output.usage = ModelUsage(input_tokens=read, output_tokens=8, total_tokens=read + 8)
        return output

    return get_model(name, custom_outputs=answer, memoize=False)


def judge(answer: Callable[[int, str], str | Exception], name: str = "mockllm/judge") -> Model:
    """A grader: maps the turn that it is asked about, and the prompt, to its reply."""

    def script(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        del turn
        prompt = next(m.text for m in reversed(messages) if m.role == "user")
        asked = next(m.text for m in messages if m.role == "user")
        found = re.search(r"Judge turn (\d+) only", asked)
        reply = answer(int(found[1]) if found else 0, prompt)
        if isinstance(reply, Exception):
            raise reply
        return ModelOutput.from_content(name, reply)

    return mock(script, name)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the warnings of Inspect's own leaks from the tests, by collecting them here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
        gc.collect()


def run(task: Task, script: Script, folder: Path, **options: Any) -> EvalLog:
    """Evaluate a task; its log stands in the folder."""
    with quiet():
        (log,) = eval(task, model=mock(script), log_dir=str(folder), display="none", **options)
    return log


def rescore(log: EvalLog, scorer: Scorer) -> EvalLog:
    """Score a finished log once more."""
    with quiet():
        return score(log, scorer, action="append", display="none")


def metrics(log: EvalLog, scorer: str = "signals_scorer") -> dict[str, float]:
    """The metrics of a scorer by name."""
    assert log.results is not None
    (score,) = [one for one in log.results.scores if one.name == scorer]
    return {name: metric.value for name, metric in score.metrics.items()}


def record(log: EvalLog, position: int = 0, scorer: str = "signals_scorer") -> dict[str, Any]:
    """What the scorer left of a sample."""
    scores = (log.samples or [])[position].scores or {}
    metadata = scores[scorer].metadata or {}
    found: dict[str, Any] = json.loads(json.dumps(metadata["turncurve.graded_turns"]))
    return found
