"""A run as records of the format `turns`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turncurve.ingest import table_from_runs
from turncurve.model import Event, Run, ToolCall, ToolResult, Turn
from turncurve.report.export.turn_records import columns_of, losses, records
from turncurve.signals.phase import action_phase, turn_phase


def run(*turns: Turn) -> Run:
    return Run(id="r", format="hand", path="hand.json", success=True, turns=turns)


def calls(*names: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, arguments={"q": 1}) for name in names)


def test_columns_are_what_was_observed() -> None:
    """Signals that are worked out from others are not written, nor such as no turn has."""
    table = table_from_runs([run(Turn(index=1, values={"quality": 1.0, "mood": 3.0}))])
    columns = columns_of(table)
    assert {"quality", "mood"} <= set(columns)
    assert not {"repeated_action", "cost_usd", "spiral", "tool_error_rate"} & set(columns)


def test_what_is_not_known_is_none() -> None:
    """A record has each column, None where the turn lacks it."""
    (record,) = records(run(Turn(index=3)), [{"a": 1.0}], ["a", "b"])
    assert record["turn"] == 3
    assert (record["a"], record["b"], record["action"], record["trial"]) == (1.0, None, None, None)
    assert record["success"] is True


@pytest.mark.parametrize(
    "names",
    [("search",), ("search", "book"), ("execute_bash",), ("zap",), ("get_it", "zap"), ("update",)],
)
def test_an_action_tells_the_phase_of_its_calls_or_none(names: tuple[str, ...]) -> None:
    """What is read from the text never contradicts what the calls were."""
    turn = Turn(index=1, tool_calls=calls(*names))
    (record,) = records(run(turn), [{}], [])
    assert action_phase(record["action"]) in {turn_phase(turn), None}
    assert (turn_phase(turn) is not None) or action_phase(record["action"]) is None


def test_same_calls_are_the_same_action() -> None:
    """Equal calls have equal texts, and others have not."""
    turns = [calls("get", "put"), calls("get", "put"), calls("put", "get"), calls("get")]
    given = run(*(Turn(index=i, tool_calls=each) for i, each in enumerate(turns, start=1)))
    texts = [record["action"] for record in records(given, [{}] * 4, [])]
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


def test_losses_are_named() -> None:
    """What a record has no place for is said of the run that has it, and of no other."""
    plain = run(Turn(index=1, tool_calls=calls("get")))
    assert [*losses(plain)] == []
    rich = replace(
        run(Turn(index=1, tool_calls=calls("a", "b"), tool_results=(ToolResult(text="x"),))),
        parent="p",
        score=0.5,
        events=(Event(kind="limit", turn=2), Event(kind="compaction", turn=1)),
    )
    assert len([*losses(rich)]) == 5
    assert ["no turn" in loss for loss in losses(run())] == [True]
