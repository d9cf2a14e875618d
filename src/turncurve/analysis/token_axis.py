"""Can turns be told from tokens?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from turncurve.analysis.own_runs import own_runs
from turncurve.table import TurnTable

Separability: TypeAlias = Literal["separable", "not separable", "not known"]

MOST_ALIKE = 0.95
"""Correlation within runs above which turns and tokens are one."""
MIN_TURNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAxis:
    """Whether a change with the turn index could be told from one with the context.

    Attributes:
        verdict: "not separable" where turn and context go together within runs.
        correlation: Of turn and context tokens within runs; None where no run has tokens.
        variance_inflation: 1 / (1 - correlation**2): what telling them apart costs in variance.
        n_runs: Runs with tokens at three turns or more.
        why: The verdict in a sentence, with what would tell.
    """

    verdict: Separability
    correlation: float | None
    variance_inflation: float | None
    n_runs: int
    why: str


def token_axis(table: TurnTable) -> TokenAxis:
    """The correlation of turn and context tokens about each run's own means.

    Args:
        table: Runs; those of sub-agents are left out.
    """
    tokens = table.columns.get("context_tokens", np.full(len(table.turn), np.nan))
    known = ~np.isnan(tokens) & own_runs(table)[table.run]
    run, turn, size = table.run[known], table.turn[known].astype(np.float64), tokens[known]
    n = np.bincount(run, minlength=table.n_runs)
    enough = n[run] >= MIN_TURNS
    run, turn, size = run[enough], turn[enough], size[enough]
    n_runs = int((n >= MIN_TURNS).sum())
    if not n_runs:
        why = "no run has context tokens at three turns"
        return TokenAxis(
            verdict="not known", correlation=None, variance_inflation=None, n_runs=0, why=why
        )
    for column in (turn, size):
        column -= (np.bincount(run, weights=column, minlength=table.n_runs) / np.maximum(n, 1))[run]
    spread = np.sqrt((turn**2).sum() * (size**2).sum())
    correlation = float((turn * size).sum() / spread) if spread > 0 else 0.0
    rest = 1 - correlation**2
    alike = abs(correlation) > MOST_ALIKE
    why = f"turn and context correlate by {correlation:.3f} within runs" + (
        ": which of them counts cannot be told; runs with a padded, a cut and the usual context "
        "at equal turns would tell"
        if alike
        else ""
    )
    return TokenAxis(
        verdict="not separable" if alike else "separable",
        correlation=correlation,
        variance_inflation=1 / rest if rest > 1e-12 else None,
        n_runs=n_runs,
        why=why,
    )
