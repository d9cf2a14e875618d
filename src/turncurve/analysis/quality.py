"""Which signal stands for quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable

Source: TypeAlias = Literal["grades", "rubric", "tool_success", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySignal:
    """The signal that stands for quality, and why that one.

    Attributes:
        name: Column of the turn table; None where nothing can stand for quality.
        source: What it comes from.
        why: A sentence for people.
        low: Lowest value of its scale, or of the data where the scale is not known.
        high: Highest value, likewise.
        better: The good direction of the column itself.
    """

    name: str | None
    source: Source
    why: str
    low: float | None = None
    high: float | None = None
    better: Literal["high", "low"] | None = None


def pick_quality(table: TurnTable) -> QualitySignal:
    """The best quality signal that the table has: grades, else rubric score, else tool success."""
    graded = _n_known(table, "error")
    if graded:
        return QualitySignal(
            name="error",
            source="grades",
            why=f"quality is read from the grades of {graded:,} turns: 1 is failing, 0 is not",
            low=0.0,
            high=1.0,
            better="low",
        )
    if _n_known(table, "quality"):
        return _rubric(table)
    answered = _n_known(table, "tool_success")
    if answered:
        return QualitySignal(
            name="tool_success",
            source="tool_success",
            why=(
                "there are no grades and no rubric scores, so the share of tool calls that worked "
                f"stands for quality ({answered:,} turns have one)"
            ),
            low=0.0,
            high=1.0,
            better="high",
        )
    return QualitySignal(
        name=None,
        source="none",
        why=(
            "nothing can stand for quality: there are no grades, no rubric scores and no tool "
            "results whose outcome is known"
        ),
    )


def as_quality(table: TurnTable, picked: QualitySignal) -> NDArray[np.float64]:
    """The signal's column turned so that high is good; shape (n_turns,)."""
    if picked.name is None:
        return np.full(len(table.turn), np.nan)
    column = table.columns[picked.name]
    return 1 - column if picked.better == "low" else column


def default_threshold(picked: QualitySignal) -> float | None:
    """The rolling mean below which quality counts as bad where nobody says: 0.7 of the way up.

    That is 0.7 on a scale from 0 to 1, and 2.8 on one from 0 to 4. It is a convention, not a
    finding. None where the scale has no width.
    """
    if picked.low is None or picked.high is None or not picked.high > picked.low:
        return None
    return picked.low + 0.7 * (picked.high - picked.low)


def scale_of(table: TurnTable, signal: str) -> tuple[float | None, float | None]:
    """Lowest and highest value that a signal can have, as far as they are known for sure."""
    info = table.info.get(signal)
    low, high = (info.low, info.high) if info else (None, None)
    stated = _stated_scale(table) if signal == "quality" else None
    return stated or (low, high)


def _stated_scale(table: TurnTable) -> tuple[float, float] | None:
    runs = table.runs
    stated = ~np.isnan(runs.quality_low) & ~np.isnan(runs.quality_high)
    if not stated.any():
        return None
    return float(runs.quality_low[stated].min()), float(runs.quality_high[stated].max())


def _n_known(table: TurnTable, name: str) -> int:
    column = table.columns.get(name)
    return 0 if column is None else int(np.count_nonzero(~np.isnan(column)))


def _rubric(table: TurnTable) -> QualitySignal:
    column = table.columns["quality"]
    scored = _n_known(table, "quality")
    low, high, scale = _scale(table, column)
    return QualitySignal(
        name="quality",
        source="rubric",
        why=f"quality is the rubric score of {scored:,} turns, on a scale from {low:g} to {high:g} "
        f"({scale})",
        low=low,
        high=high,
        better="high",
    )


def _scale(table: TurnTable, column: NDArray[np.float64]) -> tuple[float, float, str]:
    lowest, highest = float(np.nanmin(column)), float(np.nanmax(column))
    stated = _stated_scale(table)
    if stated is not None:
        return *stated, "as given"
    if lowest >= 0 and highest <= 1:
        return 0.0, 1.0, "assumed, as all scores lie in it"
    return lowest, highest, "the lowest and highest score seen, as no scale is given"
