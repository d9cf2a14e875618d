"""Which signal stands for quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.settings import Settings
from turncurve.errors import NotEnoughDataError, UnknownNameError
from turncurve.readers.graded_turns import BY_RULE
from turncurve.table import TurnTable

SHOWN_TURNS = 12
"""Turns that are named where only some were graded."""

Source: TypeAlias = Literal["grades", "rule", "rubric", "tool_success", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySignal:
    """The signal that stands for quality, and why that one.

    Attributes:
        name: Column of the turn table; None where nothing can stand for quality.
        source: What it comes from.
        why: A sentence for people.
        low: Lowest value of its scale; None where the scale is not known.
        high: Highest value, likewise.
        better: The good direction of the column itself.
    """

    name: str | None
    source: Source
    why: str
    low: float | None = None
    high: float | None = None
    better: Literal["high", "low"] | None = None


def pick_quality(table: TurnTable, settings: Settings | None = None) -> QualitySignal:
    """The best quality signal that the table has: grades, else rubric score, else tool success.

    Args:
        table: The runs.
        settings: May state the rubric's scale. Else it is the one that the files state; where they
            state none, scores that all lie in [0, 1] are taken to be on that scale, and the scale
            of any others is not known.
    """
    graded = _n_known(table, "error")
    if graded:
        by_rule = _is_by_rule(table)
        read = f"verdicts {BY_RULE}, which nobody read, on" if by_rule else "the grades of"
        return QualitySignal(
            name="error",
            source="rule" if by_rule else "grades",
            why=(
                f"quality is read from {read} {graded:,} turns{chosen_turns(table, 'error')}: "
                "1 is failing, 0 is not"
            ),
            low=0.0,
            high=1.0,
            better="low",
        )
    if _n_known(table, "quality"):
        return _rubric(table, settings)
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


def _is_by_rule(table: TurnTable) -> bool:
    """Whether the verdicts of some run come from its signals alone."""
    return any(note.endswith(BY_RULE) for notes in table.runs.notes for note in notes)


def chosen_signal(
    table: TurnTable, signal: str | None, settings: Settings | None = None
) -> tuple[str, str]:
    """The column that was asked for, or else the one that stands for quality; and why that one.

    Args:
        table: The runs.
        signal: A column; None for the one that stands for quality.
        settings: May state the rubric's scale.

    Raises:
        NotEnoughDataError: None was asked for, and nothing can stand for quality.
        UnknownNameError: There is no such column.
    """
    picked = pick_quality(table, settings)
    name = picked.name if signal is None else signal
    if name is None:
        raise NotEnoughDataError("turns with a score, a grade or a tool result", need=1, got=0)
    if name not in table.columns:
        raise UnknownNameError("signal", name, sorted(table.columns))
    return name, picked.why if name == picked.name else "the signal that was asked for"


def as_quality(table: TurnTable, picked: QualitySignal) -> NDArray[np.float64]:
    """The signal's column turned so that high is good; shape (n_turns,)."""
    if picked.name is None:
        return np.full(len(table.turn), np.nan)
    column = table.columns[picked.name]
    return 1 - column if picked.better == "low" else column


def default_threshold(picked: QualitySignal) -> float | None:
    """The rolling mean below which quality counts as bad where nobody says: 0.7 of the way up.

    That is 0.7 on a scale from 0 to 1, and 2.8 on one from 0 to 4. It is a convention, not a
    finding. None where the scale is not known.
    """
    if picked.low is None or picked.high is None:
        return None
    return picked.low + 0.7 * (picked.high - picked.low)


def scale_of(
    table: TurnTable, signal: str, settings: Settings | None = None
) -> tuple[float | None, float | None]:
    """Lowest and highest value that a signal can have, as far as they are known or assumed.

    For "quality" that is the scale that `pick_quality` goes by, never what the data span.

    Args:
        table: The runs.
        signal: A column.
        settings: May state the scale of "quality".
    """
    if signal == "quality":
        return _rubric_scale(table, settings).limits
    info = table.info.get(signal)
    return (info.low, info.high) if info else (None, None)


def chosen_turns(table: TurnTable, name: str) -> str:
    """Which turns have a value, in words, where whole turns have none in any run; else nothing.

    So a curve of turns 5, 15 and 30 says that it is one.
    """
    there = np.unique(table.turn)
    known = np.unique(table.turn[~np.isnan(table.column(name))])
    if len(known) == len(there):
        return ""
    if np.array_equal(known, there[: len(known)]):
        return f", up to turn {known[-1]} of {there[-1]}"
    shown = ", ".join(f"{turn}" for turn in known[:SHOWN_TURNS].tolist())
    more = f" and {len(known) - SHOWN_TURNS:,} more" if len(known) > SHOWN_TURNS else ""
    return f", all at {'turn' if len(known) == 1 else 'turns'} {shown}{more}"


def _n_known(table: TurnTable, name: str) -> int:
    column = table.columns.get(name)
    return 0 if column is None else int(np.count_nonzero(~np.isnan(column)))


def _rubric(table: TurnTable, settings: Settings | None) -> QualitySignal:
    scored = _n_known(table, "quality")
    scale = _rubric_scale(table, settings)
    low, high = scale.limits
    where = (
        f"a scale {scale.why}" if low is None else f"a scale from {low:g} to {high:g} ({scale.why})"
    )
    return QualitySignal(
        name="quality",
        source="rubric",
        why=(
            f"quality is the rubric score of {scored:,} turns{chosen_turns(table, 'quality')}, "
            f"on {where}"
        ),
        low=low,
        high=high,
        better="high",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    limits: tuple[float, float] | tuple[None, None]
    why: str


def _rubric_scale(table: TurnTable, settings: Settings | None) -> _Scale:
    """As the user states it, else as all files that state one do, else 0 to 1 if scores allow."""
    column = table.column("quality")
    runs = table.runs
    stated = {
        (low, high)
        for low, high in zip(runs.quality_low.tolist(), runs.quality_high.tolist(), strict=True)
        if low < high
    }
    given = settings.quality_scale if settings else None
    if given or len(stated) == 1:
        low, high = given or stated.pop()
        outside = int(np.count_nonzero((column < low) | (column > high)))
        why = "as given" + (f"; {outside:,} scores lie outside it" if outside else "")
        return _Scale(limits=(low, high), why=why)
    if stated:
        return _Scale(limits=(None, None), why="that is not known, as the files state several")
    if np.nanmin(column, initial=0.0) >= 0 and np.nanmax(column, initial=1.0) <= 1:
        return _Scale(limits=(0.0, 1.0), why="assumed, as all scores lie in it")
    return _Scale(limits=(None, None), why="that is not known, as no file states it")
