"""What the HTML page carries of a report: rounded, and bounded whatever was read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

DIGITS = 6
"""Significant digits of a curve's numbers on the page, which shows at most four."""
MAX_CURVES = 4_000_000
"""Bytes that the curves by bucket and by turn may take; the later signals are left out."""
MAX_ROWS = 500
"""Rows of a list with one entry a file, condition, exit or run that the page carries."""

_LISTS = ("inputs", "unread", "conditions", "problems_by_file")


def page_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """The report's JSON data as the page needs it.

    Numbers of curves are rounded, balanced panels of signals other than quality are not drawn, and
    long lists are cut. `left_out` says how much of each list is missing, and which signals have
    no curve on the page, or none by turn.

    Args:
        document: The report as JSON data, as `to_json` gives it.
    """
    kept = dict(document)
    left_out: dict[str, Any] = {}
    for name in _LISTS:
        rows = kept.get(name) or []
        kept[name] = rows[:MAX_ROWS]
        left_out[name] = _in_all(document, name, len(rows)) - len(kept[name])
    quality = (document.get("quality_signal") or {}).get("name")
    kept["panels"] = _rounded([row for row in _list(kept, "panels") if row["signal"] == quality])
    kept["segments"] = _rounded(_list(kept, "segments"))
    kept["time_to_first"] = [_survival(each) for each in _list(kept, "time_to_first")]
    kept["time_to_first_error"] = _survival(kept.get("time_to_first_error"))
    summary = kept.get("summary") or {}
    n_exits = _in_all(document, "summary.exits", len(summary.get("exits") or {}))
    kept["summary"] = _exits(summary, n_exits, left_out)
    kept["repetition"] = _spirals(kept.get("repetition"))
    room = MAX_CURVES - sum(_size(kept[name]) for name in ("panels", "segments", "time_to_first"))
    _fit_curves(kept, left_out, max(0, room))
    return kept | {"left_out": left_out}


def _fit_curves(kept: dict[str, Any], left_out: dict[str, Any], room: int) -> None:
    """Keep the curves by bucket of the first signals that fit, then those by turn."""
    rows: dict[str, list[Any]] = {}
    for row in _list(kept, "curves"):
        rows.setdefault(row["signal"], []).append(row)
    curves, no_curve, room = _fitting(rows, _rounded, room)
    by_turn, no_turns, _ = _fitting(kept.get("by_turn") or {}, _rounded, room)
    kept["curves"] = [row for each in curves.values() for row in each]
    kept["by_turn"] = by_turn
    left_out |= {"curves": no_curve, "by_turn": no_turns}


def _fitting(
    parts: Mapping[str, Any], short: Callable[[Any], Any], room: int
) -> tuple[dict[str, Any], list[str], int]:
    """The parts that fit, names of those that don't, and the room that is left."""
    kept: dict[str, Any] = {}
    absent = []
    for name, part in parts.items():
        shorter = short(part)
        size = _size(shorter)
        if size <= room:
            kept[name] = shorter
            room -= size
        else:
            absent.append(name)
    return kept, absent, room


def _survival(result: Any) -> Any:
    if not result or not result.get("survival"):
        return result
    return {**result, "survival": _rounded(result["survival"])}


def _in_all(document: Mapping[str, Any], name: str, n_listed: int) -> int:
    """Entries that a list would have if the JSON data were whole."""
    cut = (document.get("cut") or {}).get(name)
    return int(cut["of"]) if cut else n_listed


def _exits(summary: Mapping[str, Any], n_exits: int, left_out: dict[str, Any]) -> dict[str, Any]:
    exits = summary.get("exits") or {}
    most = sorted(exits, key=lambda text: -exits[text])[:MAX_ROWS]
    left_out["exits"] = n_exits - len(most)
    return {**summary, "exits": {text[:MAX_ROWS]: exits[text] for text in most}}


def _spirals(repetition: Any) -> Any:
    if not repetition or not repetition.get("spirals"):
        return repetition
    return {**repetition, "spirals": repetition["spirals"][:MAX_ROWS]}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(item) for name, item in value.items() if name != "std_error"}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(item) for item in value]
    return value


def _list(document: Mapping[str, Any], name: str) -> list[Any]:
    return list(document.get(name) or [])


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))
