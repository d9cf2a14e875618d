"""Per-run, per-turn values: what the HTML page needs to name the worst runs at a turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable
from turncurve.table.turn_table import FloatArray

MAX_CELLS = 1_500_000
"""Values (runs x turns x signals) that one page holds; the rest of the runs are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The runs that a page can list, from the worst on the quality signal to the best.

    Attributes:
        table: The table the values come from.
        positions: Positions in `table.runs` of the runs that are listed, worst first.
        signals: Names of the signals whose values the page holds.
        n_omitted: Runs with turns that were left out to bound the page's size.
    """

    table: TurnTable
    positions: NDArray[np.int64]
    signals: tuple[str, ...]
    n_omitted: int

    def worst(self, n: int) -> Details:
        """The same of the `n` worst runs only."""
        kept = self.positions[:n]
        return replace(
            self, positions=kept, n_omitted=self.n_omitted + len(self.positions) - len(kept)
        )

    def run_rows(self) -> list[dict[str, Any]]:
        """One mapping a run: id, scenario, trial, condition, model, kind of end, its length.

        `turns` names the turns behind the values, and is None where they are 1, 2, ..., n.
        """
        offsets = self.table.offsets
        return [self._run_row(int(r), offsets[r], offsets[r + 1]) for r in self.positions]

    def values(self, signal: str) -> list[list[float | int | None]]:
        """The values of one signal, one list a run; 4 significant digits, None where missing."""
        column, offsets = self.table.columns[signal], self.table.offsets
        return [
            [_rounded(value) for value in column[offsets[r] : offsets[r + 1]].tolist()]
            for r in self.positions
        ]

    def _run_row(self, position: int, start: int, end: int) -> dict[str, Any]:
        runs, turns = self.table.runs, self.table.turn[start:end]
        regular = np.array_equal(turns, np.arange(1, len(turns) + 1))
        success = float(runs.success[position])
        return {
            "id": str(runs.id[position]),
            "scenario": _words(runs.scenario[position]),
            "trial": int(runs.trial[position]),
            "condition": _words(runs.condition[position]),
            "model": _words(runs.model[position]),
            "exit_type": _words(runs.exit_type[position]),
            "success": None if np.isnan(success) else bool(success),
            "n_turns": len(turns),
            "turns": None if regular else turns.tolist(),
        }


def details(
    table: TurnTable,
    *,
    quality: str | None = None,
    better: str | None = "high",
    max_cells: int = MAX_CELLS,
) -> Details:
    """What the page needs to rank runs at a turn.

    Args:
        table: The runs of the report.
        quality: Signal by whose mean over a run the runs are put in order; None keeps their order.
        better: The good direction of `quality`: "high" or "low".
        max_cells: Values that the page may hold; runs beyond it are left out, best first.
    """
    signals = tuple(
        name
        for name, info in table.info.items()
        if (info.curve or name == quality)
        and name in table.columns
        and not np.isnan(table.columns[name]).all()
    )
    lengths = np.diff(table.offsets)
    order = np.argsort(_badness(table, quality, better), kind="stable")[::-1]
    order = order[lengths[order] > 0]
    cells = np.cumsum(lengths[order]) * max(1, len(signals))
    kept = order[cells <= max_cells]
    return Details(
        table=table,
        positions=kept.astype(np.int64),
        signals=signals,
        n_omitted=len(order) - len(kept),
    )


def _badness(table: TurnTable, quality: str | None, better: str | None) -> FloatArray:
    """The mean over a run, turned so that more is worse; runs without a value are the best."""
    if quality is None or quality not in table.columns:
        return -np.arange(table.n_runs, dtype=np.float64)
    column = table.columns[quality]
    known = ~np.isnan(column)
    total = np.bincount(table.run[known], weights=column[known], minlength=table.n_runs)
    count = np.bincount(table.run[known], minlength=table.n_runs)
    mean = total / np.maximum(count, 1)
    return np.where(count > 0, mean if better == "low" else -mean, -np.inf)


def _rounded(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short


def _words(value: object) -> str | None:
    return None if value is None else str(value)
