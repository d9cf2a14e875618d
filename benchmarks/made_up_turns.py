"""Turn tables of made-up runs, for benchmarks: agents that repeat, retry and get stuck."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turncurve.signals import SIGNALS
from turncurve.table import CallTable, EventTable, RunTable, SignalInfo, TurnTable

POOL = 25
"""Actions that an agent comes back to."""


def made_up_turns(n_runs: int, n_turns: int, *, seed: int) -> TurnTable:
    """Runs of `n_turns` turns with 1.2 calls each and all observed signals.

    Of the calls 55 % are new, 8 % the one just before again, the others from a pool; a fifth of the
    runs go round in circles of one to five calls for a while; one call in a hundred fails
    transiently.
    """
    rng = np.random.default_rng(seed)
    n = n_runs * n_turns
    calls_of_turn = rng.choice([0, 1, 2, 3], p=[0.05, 0.77, 0.13, 0.05], size=n)
    row = np.repeat(np.arange(n), calls_of_turn)
    calls = _calls(rng, row, row // n_turns, n_runs)
    errors = np.bincount(row[calls.failed == 1], minlength=n).astype(np.float64)
    columns = {name: rng.random(n).round(3) for name in SIGNALS if SIGNALS[name].observe}
    columns |= {
        "n_tool_calls": calls_of_turn.astype(np.float64),
        "n_tool_results": calls_of_turn.astype(np.float64),
        "n_tool_results_known": calls_of_turn.astype(np.float64),
        "n_tool_errors": errors,
        "context_tokens": 3000.0 + 850.0 * np.tile(np.arange(n_turns), n_runs),
    }
    return TurnTable(
        runs=_runs(n_runs, n_turns),
        run=np.repeat(np.arange(n_runs), n_turns),
        turn=np.tile(np.arange(1, n_turns + 1), n_runs),
        columns=columns,
        calls=calls,
        events=EventTable(run=_none(0), turn=_none(0), kind=_same(None, 0)),
        info=_info(columns),
    )


def _info(columns: dict[str, NDArray[np.float64]]) -> dict[str, SignalInfo]:
    return {name: SIGNALS[name].info for name in columns}


def _calls(
    rng: np.random.Generator, row: NDArray[np.int64], run: NDArray[np.int64], n_runs: int
) -> CallTable:
    n = len(row)
    pool = rng.integers(1, 2**63, size=(n_runs, POOL)).astype(np.uint64)
    key = pool[run, np.minimum(rng.exponential(8, n).astype(int), POOL - 1)]
    new = rng.random(n) < 0.55
    key[new] = rng.integers(1, 2**63, int(new.sum())).astype(np.uint64)
    again = np.flatnonzero((rng.random(n) < 0.08) & (np.diff(run, prepend=-1) == 0))
    key[again] = key[again - 1]
    place = np.arange(n) - np.searchsorted(run, np.arange(n_runs))[run]
    start, length = rng.integers(10, 60, n_runs), rng.integers(8, 40, n_runs)
    length[rng.random(n_runs) < 0.8] = 0
    circling = (place >= start[run]) & (place < (start + length)[run])
    around = rng.integers(1, 6, n_runs)
    key[circling] = pool[run[circling], place[circling] % around[run[circling]]]
    answer = np.where(rng.random(n) < 0.6, 0, rng.integers(0, 5, n)).astype(np.uint64)
    answer[circling] = 0
    result_key = key * np.uint64(0x9E3779B97F4A7C15) ^ answer * np.uint64(0xC2B2AE3D27D4EB4F)
    result_key[rng.random(n) < 0.01] = 0
    failed = (rng.random(n) < 0.1).astype(np.int8)
    transient = (failed == 1) & (rng.random(n) < 0.1)
    return CallTable(row=row, key=key, result_key=result_key, failed=failed, transient=transient)


def _runs(n_runs: int, n_turns: int) -> RunTable:
    known: dict[str, Any] = {
        "id": np.array([f"run-{i}" for i in range(n_runs)], dtype=object),
        "scenario": np.array([f"scenario-{i % 500}" for i in range(n_runs)], dtype=object),
        "trial": np.arange(n_runs) // 500 + 1,
        "n_turns": np.full(n_runs, n_turns),
        "agent": _same("main", n_runs),
        "format": _same("turns", n_runs),
        "path": _same("made-up.jsonl", n_runs),
        "exit_type": _same("unknown", n_runs),
        "absent": _same({}, n_runs),
        "notes": _same((), n_runs),
    }
    for field in fields(RunTable):
        unknown = np.full(n_runs, np.nan) if "Float" in str(field.type) else _same(None, n_runs)
        known.setdefault(field.name, unknown)
    return RunTable(**known)


def _none(n: int) -> NDArray[np.int64]:
    return np.zeros(n, dtype=np.int64)


def _same(value: object, n: int) -> NDArray[np.object_]:
    array = np.empty(n, dtype=object)
    array[:] = [value] * n
    return array
