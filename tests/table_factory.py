"""Hand-made turn tables for tests: say only what the test is about, the rest is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turncurve.table import CallTable, EventTable, RunTable, SignalInfo, TurnTable

Values = Sequence[float | None] | NDArray[np.float64]

_INFO = {
    "quality": ("high", None, None),
    "error": ("low", 0.0, 1.0),
    "adherence": ("high", 0.0, 1.0),
    "schema_valid": ("high", 0.0, 1.0),
    "tool_error": ("low", 0.0, 1.0),
    "tool_error_rate": ("low", 0.0, 1.0),
    "tool_success": ("high", 0.0, 1.0),
    "context_tokens": (None, 0.0, None),
    "output_tokens": (None, 0.0, None),
    "cost_usd": ("low", 0.0, None),
}


def make_table(
    runs: Mapping[str, Mapping[str, Values]],
    *,
    turns: Mapping[str, Sequence[int]] | None = None,
    success: Mapping[str, bool | None] | None = None,
    scenario: Mapping[str, str] | None = None,
    compaction_turns: Mapping[str, Sequence[int]] | None = None,
    actions: Mapping[str, Sequence[str]] | None = None,
    quality_scale: tuple[float, float] | None = None,
    info: Mapping[str, SignalInfo] | None = None,
    **run_columns: Mapping[str, Any],
) -> TurnTable:
    """A turn table of these runs, in the order given.

    Args:
        runs: Run id to its columns, one value a turn; None is unknown (NaN). `{}` has no turn.
        turns: Turn numbers of a run where they are not 1, 2, 3, ...
        success: Run id to whether it succeeded.
        scenario: Run id to its scenario; by default each run has none.
        compaction_turns: Run id to the first turns after a compaction. If given, every run gets a
            `compaction` column.
        actions: Run id to one action key a turn, which fills the call table.
        quality_scale: Lowest and highest value of the rubric, for every run.
        info: Meaning of columns where the plain guess is wrong.
        run_columns: Any other field of `RunTable` by name (`exit_type=`, `trial=`, `absent=`, ...),
            each a mapping of run id to value.
    """
    ids = list(runs)
    turn_of = {name: _turns(runs[name], (turns or {}).get(name)) for name in ids}
    lengths = np.array([len(turn_of[name]) for name in ids], dtype=np.int64)
    names = sorted({column for columns in runs.values() for column in columns})
    columns = {
        column: _concatenate([_column(runs[name].get(column), len(turn_of[name])) for name in ids])
        for column in names
    }
    if compaction_turns is not None:
        columns["compaction"] = _concatenate(
            [_counts(turn_of[name], compaction_turns.get(name, ())) for name in ids]
        )
    run = np.repeat(np.arange(len(ids), dtype=np.int64), lengths)
    return TurnTable(
        runs=_run_table(ids, lengths, success, scenario, quality_scale, run_columns),
        run=run,
        turn=np.concatenate([np.zeros(0, dtype=np.int64), *turn_of.values()]),
        columns=columns,
        calls=_calls(ids, lengths, actions or {}),
        events=_events(ids, compaction_turns or {}),
        info={**{name: _guess(name) for name in columns}, **(info or {})},
    )


def _turns(columns: Mapping[str, Values], given: Sequence[int] | None) -> NDArray[np.int64]:
    if given is not None:
        return np.asarray(given, dtype=np.int64)
    longest = max((len(values) for values in columns.values()), default=0)
    return np.arange(1, longest + 1, dtype=np.int64)


def _column(values: Values | None, n: int) -> NDArray[np.float64]:
    if values is None:
        return np.full(n, np.nan)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _counts(turn: NDArray[np.int64], compactions: Sequence[int]) -> NDArray[np.float64]:
    return np.array([list(compactions).count(int(t)) for t in turn], dtype=np.float64)


def _concatenate(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(0), *parts])


def _guess(name: str) -> SignalInfo:
    better, low, high = _INFO.get(name, (None, None, None))
    return SignalInfo(name=name, title=name, better=better, low=low, high=high)


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _run_table(
    ids: list[str],
    lengths: NDArray[np.int64],
    success: Mapping[str, bool | None] | None,
    scenario: Mapping[str, str] | None,
    quality_scale: tuple[float, float] | None,
    given: Mapping[str, Mapping[str, Any]],
) -> RunTable:
    low, high = quality_scale or (np.nan, np.nan)
    defaults: dict[str, Any] = {
        "trial": 1,
        "agent": "main",
        "format": "test",
        "path": "test",
        "exit_type": "unknown",
        "absent": {},
        "notes": (),
        "quality_low": low,
        "quality_high": high,
    }
    known = {"success": success or {}, "scenario": scenario or {}, **given}
    columns: dict[str, Any] = {"id": _objects(ids), "n_turns": lengths}
    floats = {
        *("success", "score", "quality_low", "quality_high", "grader_tokens", "total_cost_usd"),
        *("total_input_tokens", "total_cached_input_tokens", "total_output_tokens"),
    }
    for field in RunTable.__dataclass_fields__:
        if field in columns:
            continue
        values = [known.get(field, {}).get(name, defaults.get(field)) for name in ids]
        if field == "trial":
            columns[field] = np.array(values, dtype=np.int64)
        elif field in floats:
            columns[field] = _column(values, len(ids))
        else:
            columns[field] = _objects(values)
    return RunTable(**columns)


def _calls(
    ids: list[str], lengths: NDArray[np.int64], actions: Mapping[str, Sequence[str]]
) -> CallTable:
    starts = np.cumsum(lengths) - lengths
    rows, keys = [], []
    for name, start in zip(ids, starts, strict=True):
        for offset, action in enumerate(actions.get(name, ())):
            rows.append(int(start) + offset)
            keys.append(int.from_bytes(blake2b(action.encode(), digest_size=8).digest(), "little"))
    n = len(rows)
    return CallTable(
        row=np.array(rows, dtype=np.int64),
        key=np.array(keys, dtype=np.uint64),
        result_key=np.zeros(n, dtype=np.uint64),
        failed=np.full(n, -1, dtype=np.int8),
        transient=np.zeros(n, dtype=np.bool_),
    )


def _events(ids: list[str], compactions: Mapping[str, Sequence[int]]) -> EventTable:
    pairs = [(i, turn) for i, name in enumerate(ids) for turn in compactions.get(name, ())]
    return EventTable(
        run=np.array([run for run, _ in pairs], dtype=np.int64),
        turn=np.array([turn for _, turn in pairs], dtype=np.int64),
        kind=_objects(["compaction"] * len(pairs)),
    )
