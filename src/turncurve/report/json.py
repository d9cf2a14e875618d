"""The report as JSON: schema 1.2, in `schema/report-1.json` beside this file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from turncurve import __version__
from turncurve.analysis.by_turn import TurnSeries
from turncurve.analysis.degradation import Curve
from turncurve.errors import ReadError
from turncurve.report.cut import cut
from turncurve.report.document import Report
from turncurve.report.headline import headline
from turncurve.report.plain import as_json_text, plain
from turncurve.report.problems import bounded, shortened

SCHEMA_VERSION = "1.2"


def to_json(report: Report) -> dict[str, Any]:
    """The report as plain mappings, lists, strings, finite numbers and None.

    Lists with an entry a file or run are cut; `cut` says which, and of how many.
    """
    top = headline(report)
    problems = bounded(report.origin.problems)
    first = report.first_errors[0] if report.first_errors else None
    whole = {
        "schema_version": SCHEMA_VERSION,
        "turncurve_version": __version__,
        "headline": top.sentence,
        "headline_details": list(top.details),
        "quality_signal": plain(report.quality),
        "settings": plain(report.settings),
        "inputs": plain(report.origin.inputs),
        "unread": plain(report.origin.unread),
        "summary": plain(report.summary),
        "conditions": plain(report.conditions),
        "curves": _rows(report.curves),
        "panels": _rows(report.panels, "panel", "min_turns"),
        "segments": _rows(report.segments, "segment"),
        "drop": plain(report.drop),
        "by_turn": {series.signal: _series(series) for series in report.by_turn},
        "reach": plain(report.reach),
        "signals": {
            name: _without(plain(info), "name", "curve") for name, info in report.signals.items()
        },
        "known_signals": {
            name: _without(plain(info), "name", "curve")
            for name, info in report.known_signals.items()
        },
        "first_bad_turn": report.first_bad_turn,
        "time_to_first_error": plain(first),
        "time_to_first": plain(report.first_errors),
        "trends": plain(report.trends),
        "regrounding": plain(report.regrounding),
        "context": plain(report.context),
        "repeated_action_rate": plain(report.repetition.rate.value),
        "repetition": plain(report.repetition),
        "cost": plain(report.cost),
        "completion": plain(report.completion),
        "compactions": plain(report.compactions),
        "success_by_length": plain(report.success_by_length),
        "missing": plain(report.missing),
        "coverage": plain(report.coverage),
        "events": plain(report.events),
        "problems": [problem_row(problem) for problem in problems.listed],
        "n_problems": problems.n_problems,
        "n_files_with_problems": problems.n_files,
        "problems_by_file": plain(problems.by_file),
    }
    document, cuts = cut(whole)
    return document | {"cut": plain(cuts)}


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every report follows."""
    text = resources.files("turncurve.report").joinpath("schema/report-1.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _rows(curves: Sequence[Curve], *of_curve: str) -> list[dict[str, Any]]:
    return [
        {name: plain(getattr(curve, name)) for name in ("signal", "axis", *of_curve)} | plain(point)
        for curve in curves
        for point in curve.points
    ]


def _series(series: TurnSeries) -> dict[str, Any]:
    return _without(plain(series), "signal")


def _without(mapping: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in keys}


def problem_row(problem: ReadError) -> dict[str, Any]:
    """A problem as a JSON object."""
    return {
        "path": as_json_text(str(problem.path)),
        "record": plain(problem.record),
        "reason": as_json_text(shortened(problem.reason)),
        "fix": None if problem.fix is None else as_json_text(shortened(problem.fix)),
        "kept": problem.kept,
    }
