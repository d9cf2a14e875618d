"""Runs to grade, made by hand."""

from __future__ import annotations

from turncurve.model import Message, Run, ToolCall, ToolResult, Turn

GOAL = "Find out why order 17 is late and tell the customer."


def turn(index: int, text: str | None = None, **more: object) -> Turn:
    """A turn with one call and its result."""
    said = f"I look at record {index}." if text is None else text
    given = {
        "tool_calls": (ToolCall(id=f"c{index}", name="look", arguments={"record": index}),),
        "tool_results": (
            ToolResult(
                call_id=f"c{index}", text=f"record {index} is fine", error=False, detector="flag"
            ),
        ),
        **more,
    }
    return Turn(index=index, text=said, **given)  # type: ignore[arg-type]


def run(n_turns: int = 5, *, name: str = "one", goal: str = GOAL, text: str | None = None) -> Run:
    """A run of so many turns with a goal before the first."""
    before = (Message(role="system", text="Be brief."), Message(role="user", text=goal))
    turns = tuple(
        turn(i, text, **({"before": before} if i == 1 else {})) for i in range(1, n_turns + 1)
    )
    return Run(id=name, turns=turns, format="hand", path="hand/made.jsonl", scenario=name)
