"""A provider of Inspect's that grades without a network: `turncurvetest/NAME`."""

from __future__ import annotations

import json
import re
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)

PASS = {
    "validity": "pass",
    "complexity": "low",
    "dependency": "n/a",
    "severity": None,
    "looping": False,
    "repeats_turn": None,
}
FAIL = PASS | {"validity": "fail", "dependency": "independent", "severity": "high"}

MOODS: set[str] = set()
"""How `moody` is: in a bad mood it fails every turn."""
CALLS: list[int] = []
"""The turns that were asked about, in this process."""


def reply(name: str, turn: int) -> str:
    """`late` fails turns above 20, `dead` is down, `deaf` says no JSON at turns above 40."""
    if name == "dead":
        raise RuntimeError("401 no such key")
    if name == "deaf" and turn > 40:
        return "I am tired."
    if name == "turned" or (name == "moody" and "bad" in MOODS):
        return json.dumps(FAIL)
    return json.dumps(FAIL if name == "late" and turn > 20 else PASS)


def of_objective(messages: list[ChatMessage]) -> str:
    """Restates the objective, in other words after five turns of its own; judges by the words."""
    if "How near is the objective" in messages[-1].text:
        return json.dumps({"similarity": 4 if "as I was told" in messages[-1].text else 1})
    n_own = sum(message.role == "assistant" for message in messages)
    CALLS.append(n_own + 1)
    return "Do as I was told." if n_own <= 5 else "Write a poem."


@modelapi(name="turncurvetest")
class Provider(ModelAPI):
    """Answers by the model's name and the turn that is asked about."""

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        del tools, tool_choice, config
        turns = [int(n) for m in input for n in re.findall(r"Judge turn (\d+) only", m.text)]
        if turns:
            CALLS.append(turns[0])
            text = reply(self.model_name, turns[0])
        else:
            text = of_objective(input)
        output = ModelOutput.from_content(self.model_name, text)
        output.usage = ModelUsage(input_tokens=1_000, output_tokens=50, total_tokens=1_050)
        return output
