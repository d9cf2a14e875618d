"""Runs whose file holds their turns as numbers already, laid out in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turncurve.model import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRuns:
    """Several runs of one file whose rows all have the same columns, with a value in each.

    Attributes:
        sample: The first of the runs, read as any other: what it lacks, all of them lack.
        id: One id a run, each once; shape (n_runs,), as the next ones.
        scenario: Scenario of each run, or None.
        condition: Condition of each run, or None.
        trial: Trial that the file gives, or None.
        success: Whether it succeeded, or None.
        record: Where each run starts in the file.
        n_turns: Turns of each run, at least 1.
        turn: Turn of each row, rising within a run; shape (n_rows,).
        columns: Numbers by signal name, no NaN; each of shape (n_rows,).
        action: Position in `actions` of each row's action; None if rows have none.
        actions: Distinct actions, in the order they first come.
    """

    sample: Run
    id: Sequence[str]
    scenario: Sequence[str | None]
    condition: Sequence[str | None]
    trial: Sequence[int | None]
    success: Sequence[bool | None]
    record: Sequence[int]
    n_turns: NDArray[np.int64]
    turn: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.float64]]
    action: NDArray[np.int64] | None
    actions: Sequence[str]
