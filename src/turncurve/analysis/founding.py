"""One run in four figures, from plain records."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.errors import InvariantError
from turncurve.stats.curve import mean_curve
from turncurve.stats.window_rule import rule_times

Record: TypeAlias = Mapping[str, Any]
FloatArray: TypeAlias = NDArray[np.float64]


def analyze_run(
    records: Sequence[Record],
    bucket_size: int = 10,
    window: int = 5,
    threshold: float = 0.7,
) -> dict[str, Any]:
    """Summarise how one long run degraded across its turns.

    The figures are those of the report, rounded. A record without a quality takes no part in the
    curve and in the window; one without an action takes no part in the rate.

    Args:
        records: One mapping a turn, in any order: `turn` (counts from 1), `quality` (in [0, 1], the
            same rubric at every turn), `context_tokens`, `action` (the tool's name and its
            normalised arguments; objects and lists are compared by their JSON with sorted names).
            All but `turn` may be missing or None; a number that is not finite counts as missing.
        bucket_size: Turns in a bucket.
        window: Graded turns in the rolling mean.
        threshold: The rolling mean below which a turn is bad.

    Returns:
        `curve`: one `{"turns", "mean_quality", "n"}` a bucket, where n counts graded turns, and the
        last label ends where the run does; `mean_quality` is None where no turn is graded.
        `first_bad_turn`: the last turn of the first window whose mean is strictly below the
        threshold, or None. `context_growth`: `{"start_tokens", "end_tokens", "tokens_per_turn"}`
        between the first and the last turn whose tokens are known (the rate is None for a single
        one), or None. `repeated_action_rate`: share of actions that the run had taken before; None
        where no record has an action, 0.0 where there is no record at all.

    Raises:
        InvariantError: A turn is no whole number from 1 up, or stands twice.
        TypeError: A quality or a number of tokens is no number (True and "0.9" are none), or an
            action can be compared neither as it is nor as JSON.
        ValueError: `bucket_size` or `window` is below 1.
    """
    if bucket_size < 1:
        raise ValueError(f"bucket_size: wanted at least 1 turn, got {bucket_size!r}")
    if not records:
        return {
            "curve": [],
            "first_bad_turn": None,
            "context_growth": None,
            "repeated_action_rate": 0.0,
        }
    rows = sorted(records, key=_turn)
    turn = np.array([_turn(row) for row in rows], dtype=np.int64)
    twice = turn[1:][np.diff(turn) == 0]
    if len(twice):
        raise InvariantError(f"analyze_run: turn {twice[0]} stands twice")
    quality = _numbers(rows, "quality")
    return {
        "curve": _curve(turn, quality, bucket_size),
        "first_bad_turn": _first_bad_turn(turn, quality, window, threshold),
        "context_growth": _growth(turn, _numbers(rows, "context_tokens")),
        "repeated_action_rate": _repeated(rows),
    }


def _turn(row: Record) -> int:
    turn = row.get("turn")
    if isinstance(turn, bool) or not isinstance(turn, int | np.integer) or turn < 1:
        raise InvariantError(f"analyze_run: wanted a whole turn counting from 1, got {turn!r}")
    return int(turn)


def _numbers(rows: Sequence[Record], key: str) -> FloatArray:
    return np.array([_number(row, key) for row in rows], dtype=np.float64)


def _number(row: Record, key: str) -> float:
    value = row.get(key)
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError(
            f"analyze_run: {key} of turn {_turn(row)}: wanted a number or None, got {value!r}"
        )
    try:
        number = float(value)
    except OverflowError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def _curve(turn: NDArray[np.int64], quality: FloatArray, size: int) -> list[dict[str, Any]]:
    bucket = (turn - 1) // size
    found = mean_curve(quality, np.zeros_like(turn), bucket)
    means = dict(zip(found.bucket.tolist(), found.value.tolist(), strict=True))
    counts = dict(zip(found.bucket.tolist(), found.n_turns.tolist(), strict=True))
    last = int(turn[-1])
    return [
        {
            "turns": f"{b * size + 1}-{min((b + 1) * size, last)}",
            "mean_quality": round(means[b], 3) if b in means else None,
            "n": counts.get(b, 0),
        }
        for b in np.unique(bucket).tolist()
    ]


def _first_bad_turn(
    turn: NDArray[np.int64], quality: FloatArray, window: int, threshold: float
) -> int | None:
    times = rule_times(
        quality, np.zeros_like(turn), turn, n_runs=1, window=window, threshold=threshold
    )
    return int(times.time[0]) if times.event[0] else None


def _growth(turn: NDArray[np.int64], tokens: FloatArray) -> dict[str, float | None] | None:
    known = np.flatnonzero(~np.isnan(tokens))
    if not len(known):
        return None
    first, last = known[0], known[-1]
    span = int(turn[last] - turn[first])
    added = float(tokens[last] - tokens[first])
    return {
        "start_tokens": int(tokens[first]),
        "end_tokens": int(tokens[last]),
        "tokens_per_turn": round(added / span, 1) if span else None,
    }


def _repeated(rows: Sequence[Record]) -> float | None:
    actions = [_action(row) for row in rows if row.get("action") is not None]
    if not actions:
        return None
    return round((len(actions) - len(set(actions))) / len(actions), 3)


def _action(row: Record) -> Hashable:
    action: object = row["action"]
    try:
        hash(action)
    except TypeError:
        pass
    else:
        return action
    try:
        return "json", json.dumps(action, sort_keys=True)
    except (TypeError, ValueError) as problem:
        raise TypeError(
            f"analyze_run: action of turn {_turn(row)}: wanted a text or a JSON value, got "
            f"{action!r} ({problem})"
        ) from problem
