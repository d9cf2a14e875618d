"""Signals and grades as OpenTelemetry events, which tracing tools show beside the spans.

One `gen_ai.evaluation.result` a signal or grade of a turn, as the GenAI semantic conventions
define it, in OTLP's JSON.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turncurve.model import Grade, Run, Turn

EVENT = "gen_ai.evaluation.result"
_SPAN = re.compile(r"([0-9a-f]{32})/([0-9a-f]{16})")

LOSSES = ("events hold signals and grades alone: no text, no tools, no usage",)


def request(
    run: Run, signals: Sequence[Mapping[str, float]], *, names: frozenset[str]
) -> dict[str, Any]:
    """The events of one run as one OTLP request of log records.

    Where the run was read from spans, each event has the trace and span of its turn, so that a
    backend joins them; else both ids are hashes of the run's id and the turn's number.

    Args:
        run: The run.
        signals: Signals of each turn by name, without those that are missing.
        names: The signals to write.
    """
    records: list[dict[str, Any]] = []
    for turn, known in zip(run.turns, signals, strict=True):
        about = _about(run, turn)
        for name in sorted(names.intersection(known)):
            score = _attribute("gen_ai.evaluation.score.value", float(known[name]))
            records.append(_record(about, name, [score]))
        records += [_record(about, "validity", [*_of_grade(grade)]) for grade in turn.grades]
    resource = [_attribute("service.name", "turncurve")]
    scope = {"name": "turncurve"}
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": resource},
                "scopeLogs": [{"scope": scope, "logRecords": records}],
            }
        ]
    }


def _about(run: Run, turn: Turn) -> dict[str, Any]:
    """What all events of a turn share."""
    match = _SPAN.fullmatch(turn.record) if isinstance(turn.record, str) else None
    trace, span = (match[1], match[2]) if match else _made_ids(run.id, turn.index)
    attributes = [
        _attribute("gen_ai.conversation.id", run.id),
        _attribute("turncurve.turn", turn.index),
    ]
    about: dict[str, Any] = {"traceId": trace, "spanId": span, "attributes": attributes}
    if turn.started_at is not None:
        ended = turn.started_at + (turn.seconds or 0.0)
        about["timeUnixNano"] = str(int(ended * 1e9))
    return about


def _made_ids(run: str, turn: int) -> tuple[str, str]:
    text = run.encode("utf-8", "replace")
    trace = hashlib.blake2b(text, digest_size=16).hexdigest()
    span = hashlib.blake2b(text + f"\0{turn}".encode(), digest_size=8).hexdigest()
    return trace, span


def _of_grade(grade: Grade) -> Iterator[dict[str, Any]]:
    """A grade's label, or why there is none; a missing grade has no score."""
    yield _attribute("turncurve.grader", grade.grader)
    if grade.rubric is not None:
        yield _attribute("turncurve.rubric", grade.rubric)
    if grade.validity is not None:
        yield _attribute("gen_ai.evaluation.score.label", grade.validity)
    if grade.missing_reason is not None:
        yield _attribute("gen_ai.evaluation.explanation", grade.missing_reason)
        yield _attribute("error.type", "missing_grade")


def _record(
    about: Mapping[str, Any], name: str, attributes: list[dict[str, Any]]
) -> dict[str, Any]:
    own = [_attribute("gen_ai.evaluation.name", name), *attributes]
    return {**about, "eventName": EVENT, "attributes": [*about["attributes"], *own]}


def _attribute(key: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        typed: dict[str, Any] = {"stringValue": value.encode("utf-8", "replace").decode()}
    elif isinstance(value, int):
        typed = {"intValue": str(value)}
    else:
        typed = {"doubleValue": value}
    return {"key": key, "value": typed}
