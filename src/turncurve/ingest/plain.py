"""Runs that are numbers already, as rows of a turn table."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from turncurve.model import ExitType
from turncurve.signals import SIGNALS
from turncurve.signals.action_key import text_key
from turncurve.signals.phase import action_phase
from turncurve.table import CallTable, EventTable, RunTable, TurnTable
from turncurve.table.columns import objects
from turncurve.table.plain import PlainRuns

_OWN = frozenset(
    (
        *("quality", "tool_error", "cost_usd", "seconds", "context_tokens"),
        *("cached_input_tokens", "output_tokens", "reasoning_tokens"),
    )
)
"""Signals that a file's column is, as it stands."""


def table_of_plain(plain: PlainRuns, sample: TurnTable) -> TurnTable | None:
    """The rows of all runs, by what the first one's are; None where that cannot be done.

    Args:
        plain: The runs.
        sample: The first run, measured as any other.
    """
    n_rows = len(plain.turn)
    columns: dict[str, Any] = {}
    for name, values in sample.columns.items():
        if name in plain.columns:
            columns[name] = plain.columns[name]
        elif name == "phase_explore" and plain.action is not None:
            phases = np.array([action_phase(one) for one in plain.actions], dtype=np.float64)
            columns[name] = phases[plain.action]
        elif np.isnan(values).all():
            columns[name] = np.full(n_rows, np.nan)
        elif name == "cost_estimated" and "cost_usd" in plain.columns:
            columns[name] = np.zeros(n_rows)
        else:
            return None
    named = set(plain.columns) - _OWN
    if named.intersection(SIGNALS) or not set(plain.columns) <= set(columns):
        return None
    return TurnTable(
        runs=_runs(plain, sample),
        run=np.repeat(np.arange(len(plain.id)), plain.n_turns),
        turn=plain.turn,
        columns=columns,
        calls=_calls(plain),
        events=EventTable(
            run=np.zeros(0, dtype=np.int64), turn=np.zeros(0, dtype=np.int64), kind=objects([])
        ),
        info=dict(sample.info),
    )


def _runs(plain: PlainRuns, sample: TurnTable) -> RunTable:
    n = len(plain.id)
    first = {f.name: getattr(sample.runs, f.name)[:1] for f in fields(RunTable)}
    columns = {name: np.repeat(value, n) for name, value in first.items()}
    exits = [(ExitType.SUCCESS_FINISH if s else ExitType.UNKNOWN).value for s in plain.success]
    known = [np.nan if s is None else float(s) for s in plain.success]
    columns |= {
        "id": objects(list(plain.id)),
        "scenario": objects(list(plain.scenario)),
        "condition": objects(list(plain.condition)),
        "trial": np.array([trial or 0 for trial in plain.trial], dtype=np.int64),
        "record": objects(list(plain.record)),
        "exit_type": objects(exits),
        "success": np.array(known, dtype=np.float64),
        "n_turns": plain.n_turns,
        "absent": objects([dict(first["absent"][0]) for _ in range(n)]),
    }
    return RunTable(**columns)


def _calls(plain: PlainRuns) -> CallTable:
    n = 0 if plain.action is None else len(plain.turn)
    keys = np.array([text_key(one) for one in plain.actions], dtype=np.uint64)
    failed = plain.columns.get("tool_error")
    return CallTable(
        row=np.arange(n, dtype=np.int64),
        key=keys[plain.action] if plain.action is not None else keys,
        result_key=np.zeros(n, dtype=np.uint64),
        failed=np.full(n, -1, dtype=np.int8) if failed is None or not n else failed.astype(np.int8),
        transient=np.zeros(n, dtype=np.bool_),
    )
