"""The scorers: was the shift handed over, and how good was each turn by a checkable rubric."""

from __future__ import annotations

import json
import re

from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import store
from ticket_desk.world import queue_of

RUBRIC = {
    "call worked": "the tool call gave no error",
    "not done before": "the same call was not made before in this run, but for one repeated at "
    "once after a time-out",
    "number in note": "the note of a ticket update begins with the ticket's number (rule 1)",
    "no restricted data": "a query leaves customer_pii alone (rule 2)",
    "limited": "a query has a LIMIT of 200 or less (rule 3)",
}
NUMBERS_NEEDED = 0.75
"""Share of the notes that must bear the number for a shift to count as handed over."""


@scorer(metrics=[accuracy()])
def handed_over() -> Scorer:
    """C if the queue is empty, and notes and data were handled by the rules, save for few."""

    async def score(state: TaskState, target: Target) -> Score:
        del state, target
        notes = [e for e in tool_calls() if e.function == "update_ticket" and e.error is None]
        numbered = sum(checks(event)["number in note"] for event in notes)
        emptied = len(notes) == len(queue_of(store().get("scenario")))
        good = emptied and numbered >= NUMBERS_NEEDED * len(notes)
        said = f"{len(notes)} tickets updated, {numbered} with their number"
        return Score(value="C" if good else "I", explanation=said)

    return score


@scorer(metrics=[mean()])
def turn_quality() -> Scorer:
    """The share of the rubric's checks that each turn passes; a turn without a call has none."""

    async def score(state: TaskState, target: Target) -> Score:
        del state, target
        scores, failed = judge_turns()
        known = [value for value in scores if value is not None]
        metadata = {
            "turncurve.quality": scores,
            "turncurve.scale": [0, 1],
            "rubric": RUBRIC,
            "failed": failed,
        }
        return Score(value=round(sum(known) / len(known), 4), metadata=metadata)

    return score


def tool_calls() -> list[ToolEvent]:
    """The sample's tool calls, in order."""
    return [event for event in transcript().events if isinstance(event, ToolEvent)]


def judge_turns() -> tuple[list[float | None], dict[str, list[str]]]:
    """The score of each turn, and the names of the checks that it failed, by turn."""
    results = {event.id: event for event in tool_calls()}
    scores: list[float | None] = []
    failed: dict[str, list[str]] = {}
    before: set[str] = set()
    retry = ""
    for event in transcript().events:
        if not isinstance(event, ModelEvent):
            continue
        made = [results[c.id] for c in event.output.message.tool_calls or [] if c.id in results]
        made = [result for result in made if result.function != "submit"]
        verdicts: list[tuple[str, bool]] = []
        for result in made:
            key = json.dumps([result.function, result.arguments], sort_keys=True)
            verdicts += checks(result).items()
            verdicts.append(("not done before", key not in before or key == retry))
            before.add(key)
            timed_out = result.error is not None and result.error.type == "timeout"
            retry = key if timed_out else ""
        scores.append(round(sum(ok for _, ok in verdicts) / len(verdicts), 4) if verdicts else None)
        bad = [name for name, ok in verdicts if not ok]
        if bad:
            failed[str(len(scores))] = bad
    return scores, failed


def checks(event: ToolEvent) -> dict[str, bool]:
    """The checks that apply to one call by itself."""
    found = {"call worked": event.error is None}
    if event.function == "update_ticket":
        number = f"[{event.arguments['ticket']}]"
        found["number in note"] = str(event.arguments["note"]).startswith(number)
    if event.function == "run_query":
        sql = str(event.arguments["sql"])
        limit = re.search(r"\bLIMIT (\d+)", sql)
        found["no restricted data"] = "customer_pii" not in sql
        found["limited"] = limit is not None and int(limit[1]) <= 200
    return found
