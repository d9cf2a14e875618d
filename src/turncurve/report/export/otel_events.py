"""Signals and grades as OpenTelemetry events, which tracing tools show beside the spans.

One `gen_ai.evaluation.result` a signal or grade of a turn, as the GenAI semantic conventions
define it, in OTLP's JSON.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turncurve import __version__
from turncurve.model import Grade, Run, Turn

EVENT = "gen_ai.evaluation.result"
_OF_GRADE = ("grader", "rubric", "complexity", "dependency", "severity", "looping", "construct")
_SPAN = re.compile(r"([0-9a-f]{32})/([0-9a-f]{16})")

MOST_EVENTS = 1_000
"""Events of one request, give or take a turn: a collector takes some megabytes at once."""

LOSS = "events hold signals and grades alone: no text, no tools"


def requests(
    run: Run, signals: Sequence[Mapping[str, float]], *, names: frozenset[str]
) -> Iterator[dict[str, Any]]:
    """The events of one run as OTLP requests of log records.

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
        if len(records) >= MOST_EVENTS:
            yield _request(records)
            records = []
    if records:
        yield _request(records)


def _request(records: list[dict[str, Any]]) -> dict[str, Any]:
    resource = {"attributes": [_attribute("service.name", "turncurve")]}
    scope = {"scope": {"name": "turncurve", "version": __version__}, "logRecords": records}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}


def _about(run: Run, turn: Turn) -> dict[str, Any]:
    """What all events of a turn share."""
    match = _SPAN.fullmatch(turn.record) if isinstance(turn.record, str) else None
    trace, span = (match[1], match[2]) if match else _made_ids(run.id, turn.index)
    known = {"scenario": run.scenario, "condition": run.condition, "trial": run.trial}
    attributes = [
        _attribute("gen_ai.conversation.id", run.id),
        _attribute("turncurve.turn", turn.index),
        *_known("turncurve.", known),
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
    known = {name: getattr(grade, name) for name in _OF_GRADE}
    yield from _known("turncurve.", known)
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


def _known(prefix: str, values: Mapping[str, str | float | None]) -> Iterator[dict[str, Any]]:
    for name, value in values.items():
        if value is not None:
            yield _attribute(prefix + name, value)


def _attribute(key: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        typed: dict[str, Any] = {"stringValue": value.encode("utf-8", "replace").decode()}
    elif isinstance(value, bool):
        typed = {"boolValue": value}
    elif isinstance(value, int):
        typed = {"intValue": str(value)}
    else:
        typed = {"doubleValue": value}
    return {"key": key, "value": typed}
