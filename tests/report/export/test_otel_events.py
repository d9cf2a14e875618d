"""Signals and grades as events that a tracing backend takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turncurve.model import Grade, Run, Turn
from turncurve.report.export.otel_events import requests

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
RUN = Run(
    id="r",
    format="hand",
    path="hand.json",
    scenario="shed",
    trial=2,
    turns=(
        Turn(
            index=1,
            record=f"{TRACE}/{SPAN}",
            started_at=1_700_000_000.0,
            seconds=1.5,
            grades=(
                Grade(
                    grader="g",
                    rubric="v1",
                    validity="fail",
                    severity="high",
                    looping=True,
                    construct="hindsight",
                ),
                Grade(grader="h", validity=None, missing_reason="no answer"),
            ),
        ),
        Turn(index=4, record=17),
    ),
)
SIGNALS = [{"quality": 0.5, "context_tokens": 9.0}, {"quality": 1.0}]
NAMES = frozenset({"quality", "cost_usd"})


def records(run: Run = RUN) -> list[dict[str, Any]]:
    return [
        record
        for request in requests(run, SIGNALS, names=NAMES)
        for resource in request["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def attributes(record: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: one["value"] for one in record["attributes"]}


def test_a_known_signal_is_an_event_and_an_unknown_one_none() -> None:
    """Of the names asked for, those that the turn has: no 0 where nothing is known."""
    names = [attributes(record)["gen_ai.evaluation.name"]["stringValue"] for record in records()]
    assert names == ["quality", "validity", "validity", "quality"]


def test_values_have_the_types_of_the_protocol() -> None:
    """Scores are doubles, whole numbers and times are texts as OTLP's JSON has them."""
    first = records()[0]
    assert first["eventName"] == "gen_ai.evaluation.result"
    assert first["timeUnixNano"] == "1700000001500000000"
    known = attributes(first)
    assert known["gen_ai.evaluation.score.value"] == {"doubleValue": 0.5}
    assert known["turncurve.turn"] == {"intValue": "1"}
    assert known["turncurve.trial"] == {"intValue": "2"}
    assert known["turncurve.scenario"] == {"stringValue": "shed"}
    assert "turncurve.condition" not in known


def test_a_grade_is_a_label_with_its_grader() -> None:
    """A missing grade has an explanation in place of the label, and neither has a score."""
    given, missing = (attributes(record) for record in records()[1:3])
    assert given["gen_ai.evaluation.score.label"] == {"stringValue": "fail"}
    assert given["turncurve.grader"] == {"stringValue": "g"}
    assert given["turncurve.rubric"] == {"stringValue": "v1"}
    assert given["turncurve.severity"] == {"stringValue": "high"}
    assert given["turncurve.looping"] == {"boolValue": True}
    assert given["turncurve.construct"] == {"stringValue": "hindsight"}
    assert "error.type" not in given
    assert missing["gen_ai.evaluation.explanation"] == {"stringValue": "no answer"}
    assert missing["error.type"] == {"stringValue": "missing_grade"}
    for grade in (given, missing):
        assert "gen_ai.evaluation.score.value" not in grade
    assert "gen_ai.evaluation.score.label" not in missing


def test_spans_are_those_of_the_trace_else_made() -> None:
    """A turn that was a span keeps its ids; any other has ids of its run and number alone."""
    first, last = records()[0], records()[-1]
    assert (first["traceId"], first["spanId"]) == (TRACE, SPAN)
    assert (len(last["traceId"]), len(last["spanId"])) == (32, 16)
    assert "timeUnixNano" not in last
    assert records()[-1] == last
    other = records(replace(RUN, id="s"))[-1]
    assert other["traceId"] != last["traceId"]
    assert other["spanId"] != last["spanId"]


def test_a_run_without_turns_is_no_request() -> None:
    """Nothing is sent about a run that has nothing to tell."""
    assert [*requests(replace(RUN, turns=()), [], names=NAMES)] == []
