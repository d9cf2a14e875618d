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


@modelapi(name="turncurvetest")
class Provider(ModelAPI):
    """Answers by the model's name and the turn that is asked about."""

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        del tools, tool_choice, config
        turns = [int(n) for m in input for n in re.findall(r"Judge turn (\d+) only", m.text)]
        CALLS.append(turns[0])
        output = ModelOutput.from_content(self.model_name, reply(self.model_name, turns[0]))
        output.usage = ModelUsage(input_tokens=1_000, output_tokens=50, total_tokens=1_050)
        return output
