"""A report document by the contract, with made-up data: what the HTML page is tested with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report.synthetic_runs import INFO, synthetic_runs, table_of
from turncurve.table import TurnTable

BUCKET = 10


def report_document(table: TurnTable | None = None) -> dict[str, Any]:
    """The JSON document of a report on `table`, or on 80 made-up runs."""
    table = table or table_of(synthetic_runs())
    reach = [int((table.runs.n_turns >= turn).sum()) for turn in range(1, _longest(table) + 1)]
    middle = int(np.median(table.runs.n_turns))
    long_runs = table.runs.n_turns >= middle
    balanced = table.select(long_runs)
    keep = balanced.turn <= middle
    panel = _rows(balanced.run[keep], balanced.turn[keep], _columns(balanced, keep), ("quality",))
    return {
        "schema_version": "1.2",
        "turncurve_version": "0.1.0",
        "headline": "Quality holds at 0.95 until about turn 30, then falls to 0.58 by turn 60.",
        "headline_details": ["In half of the runs the rolling mean drops below 0.7 by turn 47."],
        "quality_signal": {
            "name": "quality",
            "source": "rubric",
            "why": "the files carry a rubric score for each turn",
            "low": 0.0,
            "high": 1.0,
            "better": "high",
        },
        "settings": {
            "bucket": BUCKET,
            "window": 5,
            "threshold": 0.7,
            "axis": "turn",
            "event": "compaction",
            "level": 0.95,
            "seed": 20261130,
            "resamples": 2000,
        },
        "inputs": [{"path": "traces", "format": "synthetic", "n_runs": table.n_runs}],
        "unread": ["traces/README.md"],
        "summary": _summary(table),
        "curves": _rows(table.run, table.turn, table.columns, INFO),
        "panels": [{"panel": "balanced", "min_turns": middle, **row} for row in panel],
        "segments": _segments(table),
        "drop": {
            "sentence": "Quality falls 0.21 ± 0.05 at turn 31 in all five trials.",
            "step": None,
            "n_steps": 59,
            "n_findings": 1,
            "n_to_watch": 0,
            "shape": "cliff",
            "shape_turn": 31,
            "composition": "none seen",
            "event": None,
            "step_by_turn": None,
            "step_by_offset": None,
            "facts": [["cause", "a step at a turn does not say what made it."]],
        },
        "by_turn": {name: _by_turn(table, name) for name in INFO},
        "reach": {
            "turn": list(range(1, len(reach) + 1)),
            "n_runs": reach,
            "share": [n / max(1, table.n_runs) for n in reach],
        },
        "signals": {
            info.name: {
                "title": info.title,
                "unit": info.unit,
                "better": info.better,
                "denominator": info.denominator,
                "low": info.low,
                "high": info.high,
            }
            for info in INFO.values()
        },
        "events": [
            {"kind": "compaction", "turn": turn, "n_runs": n}
            for turn, n in sorted(Counter(table.events.turn.tolist()).items())
        ],
        **_findings(table),
    }


def _longest(table: TurnTable) -> int:
    return int(table.turn.max()) if len(table.turn) else 0


def _columns(table: TurnTable, keep: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    return {name: column[keep] for name, column in table.columns.items()}


def _interval(values: NDArray[np.float64]) -> dict[str, float | None]:
    value = float(values.mean())
    if len(values) < 2:
        return {"value": value, "std_error": None, "low": None, "high": None}
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return {
        "value": value,
        "std_error": error,
        "low": value - 1.96 * error,
        "high": value + 1.96 * error,
    }


def _rows(
    run: NDArray[Any], turn: NDArray[Any], columns: Any, names: Iterable[str]
) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        for start in range(1, int(turn.max(initial=0)) + 1, BUCKET):
            inside = (turn >= start) & (turn < start + BUCKET) & ~np.isnan(columns[name])
            if not inside.any():
                continue
            means = [columns[name][inside & (run == r)].mean() for r in np.unique(run[inside])]
            end = min(start + BUCKET - 1, int(turn.max()))
            rows.append(
                {
                    "signal": name,
                    "axis": "turn",
                    "from": start,
                    "to": end,
                    "n_runs": len(means),
                    "n_turns": int(inside.sum()),
                    **_interval(np.array(means)),
                    "partial": end - start + 1 < BUCKET,
                }
            )
    return rows


def _segments(table: TurnTable) -> list[dict[str, Any]]:
    first = dict(
        zip(table.events.run.tolist()[::-1], table.events.turn.tolist()[::-1], strict=True)
    )
    after = np.array(
        [t >= first.get(r, 10**9) for r, t in zip(table.run, table.turn, strict=True)], dtype=bool
    )
    rows = []
    for segment, keep in (("with_compaction", after), ("without_compaction", ~after)):
        part = _rows(table.run[keep], table.turn[keep], _columns(table, keep), ("quality",))
        rows += [{"segment": segment, **row} for row in part]
    return rows


def _by_turn(table: TurnTable, name: str) -> dict[str, list[Any]]:
    series: dict[str, list[Any]] = {
        key: [] for key in ("turn", "n_runs", "n_turns", "value", "std_error", "low", "high")
    }
    for turn in range(1, _longest(table) + 1):
        values = table.columns[name][table.turn == turn]
        values = values[~np.isnan(values)]
        none = {"value": None, "std_error": None, "low": None, "high": None}
        row = {
            "turn": turn,
            "n_runs": len(values),
            "n_turns": len(values),
            **(_interval(values) if len(values) else none),
        }
        for key, value in row.items():
            series[key].append(value)
    return series


def _summary(table: TurnTable) -> dict[str, Any]:
    context = table.columns["context_tokens"]
    return {
        "n_runs": table.n_runs,
        "n_turns": len(table.turn),
        "max_turns": _longest(table),
        "median_turns": float(np.median(table.runs.n_turns)),
        "n_scenarios": len(set(table.runs.scenario)),
        "n_succeeded": int((table.runs.success == 1).sum()),
        "n_failed": int((table.runs.success == 0).sum()),
        "input_tokens": int(context.sum()),
        "cached_input_tokens": int(context.sum() * 0.8),
        "output_tokens": int(table.columns["output_tokens"].sum()),
        "max_context_tokens": int(context.max(initial=0)),
        "cost_usd": float(table.columns["cost_usd"].sum()),
        "n_tool_calls": len(table.turn),
        "n_tool_results": len(table.turn),
        "n_tool_errors": int(table.columns["tool_error_rate"].sum()),
        "n_format_errors": None,
        "n_compactions": len(table.events.turn),
        "n_missing_grades": None,
        "error_rate": None,
        "exits": dict(Counter(str(text) for text in table.runs.exit_text)),
        "exit_types": dict(Counter(table.runs.exit_type)),
        "n_subagent_runs": 0,
        "n_runs_without_turns": 0,
    }


def estimate(value: float | None, spread: float = 0.0, **more: Any) -> dict[str, Any]:
    """The JSON form of an `Estimate`."""
    bounds = (None, None) if value is None else (value - spread, value + spread)
    return {
        "estimand": more.pop("estimand", "mean over runs"),
        "value": value,
        "std_error": spread / 1.96 or None,
        "low": bounds[0],
        "high": bounds[1],
        "level": 0.95,
        "method": "t over runs",
        "n_runs": 80,
        "n_turns": 3000,
        "warnings": [],
        "reason": None if value is not None else "no run succeeded",
        **more,
    }


def _first_error(rule: str, n: int, shift: float, alarm: float | None) -> dict[str, Any]:
    turns = list(range(5, 95, 3))
    survival = [float(np.exp(-((t * shift / 70) ** 3))) for t in turns]
    half = [0.02 + 0.0015 * t for t in turns]
    return {
        "rule": rule,
        "estimand": "turn of the first bad turn, over runs",
        "window": 5,
        "threshold": 0.7,
        "n_runs": n,
        "n_events": n // 3,
        "n_censored": n - n // 3,
        "n_excluded": {"fewer than 5 graded turns": 2},
        "quantiles": [
            {"p": 0.1, "turn": 38, "low": 35, "high": 41},
            {"p": 0.25, "turn": 47, "low": 44, "high": 50},
            {"p": 0.5, "turn": 62, "low": 56, "high": None},
            {"p": 0.75, "turn": None, "low": None, "high": None},
        ],
        "survival": {
            "turn": turns,
            "survival": survival,
            "low": [max(0.0, s - h) for s, h in zip(survival, half, strict=True)],
            "high": [min(1.0, s + h) for s, h in zip(survival, half, strict=True)],
            "n_at_risk": [max(1, int(n * (1 - t / 97))) for t in turns],
        },
        "first_turn": 33,
        "false_alarm": estimate(alarm, 0.01) if alarm is not None else None,
        "why": "of 10,000 flat curves with this noise",
    }


def _findings(table: TurnTable) -> dict[str, Any]:
    n = table.n_runs
    rolling = _first_error("rolling_quality", n, 1.0, 0.03)
    quantiles = [{"p": p, "turn": t, "low": t - 3, "high": t + 4} for p, t in ((0.5, 38),)]
    bins = [(1, 20, 21, 19), (21, 40, 30, 24), (41, 60, 17, 10), (61, 97, 9, 2)]
    return {
        "first_bad_turn": 62,
        "time_to_first_error": rolling,
        "time_to_first": [rolling, _first_error("tool_error", n, 1.6, None)],
        "trends": [
            {
                "signal": "quality",
                "n_runs": 61,
                "n_alarmed": 33,
                "first_alarm": {"p": 0.5, "turn": 44, "low": 41, "high": 49},
                "slope": estimate(-0.0062, 0.0011),
                "baseline_turns": 10,
                "false_alarm": 0.05,
            }
        ],
        "regrounding": {
            "signal": "adherence",
            "target": 0.9,
            "turn": None,
            "why": "no rules were given, so adherence was not measured",
        },
        "context": {
            "start_tokens": 5500.0,
            "end_tokens": 61000.0,
            "tokens_per_turn": 1490.0,
            "slope": estimate(1490.0, 60.0, estimand="median growth per turn"),
            "crosses_100k": 64.0,
            "crosses_200k": None,
            "crossings": [
                {"tokens": 100000, "turn": 64, "kind": "extrapolated", "n_crossed": 0, "n_runs": n},
                {"tokens": 200000, "turn": None, "kind": "never", "n_crossed": 0, "n_runs": n},
            ],
            "n_spikes": 1,
            "spikes": [{"run": "astropy__astropy-12003/1", "turn": 12, "tokens_added": 9800}],
            "max_tokens": 89990.0,
        },
        "repeated_action_rate": 0.34,
        "repetition": {"rate": 0.34, "n_actions": 3000, "n_retries": 12, "n_spirals": 2},
        "cost": {
            "total_usd": 61.2,
            "source": "trace",
            "by_turn_known": True,
            "per_run": estimate(0.765, 0.08),
            "late_to_turn_5": {**estimate(2.9, 0.5), "late_turn": 50},
            "per_success": estimate(1.18, 0.2),
            "why": None,
        },
        "completion": {"turns": quantiles, "n_finished": 66, "n_censored": n - 66},
        "compactions": {"n_runs_with": 21, "per_run": estimate(0.31, 0.1)},
        "success_by_length": [
            {
                "from": a,
                "to": b,
                "n_runs": m,
                "n_succeeded": k,
                "value": k / m,
                "low": k / m - 0.1,
                "high": min(1.0, k / m + 0.1),
            }
            for a, b, m, k in bins
        ],
        "missing": [
            {
                "signal": "quality",
                "n_missing": 61,
                "n_turns": 3000,
                "reasons": {"the rubric gave no score for the turn": 61},
            },
            {
                "signal": "adherence",
                "n_missing": 3000,
                "n_turns": 3000,
                "reasons": {"no rules were given": 3000},
            },
        ],
        "coverage": None,
        "problems": [
            {
                "path": "traces/run-081.json",
                "record": "line 14",
                "reason": "wanted a JSON object, the line ends early",
                "fix": "copy the file again",
                "kept": True,
            }
        ],
    }
