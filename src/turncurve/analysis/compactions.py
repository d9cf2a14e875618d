"""How often runs were compacted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.over_runs import share_of_runs
from turncurve.analysis.own_runs import SUBAGENT, own_runs
from turncurve.stats.estimate import Estimate, absent
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCount:
    """How many runs had so many compactions."""

    compactions: int
    n_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactions:
    """Compactions a run, over the runs whose format can tell.

    Attributes:
        n_runs: Runs, without those of sub-agents.
        n_runs_known: Runs whose format can tell whether they were compacted.
        n_compactions: Compactions in all; None where no format can tell.
        counts: The distribution: 0, 1, 2, ... up to the most of any run.
        median: Compactions of the middle run.
        share: Share of the known runs with one or more.
        excluded: Reason to number of runs left out.
        why: Why it is absent.
    """

    n_runs: int
    n_runs_known: int = 0
    n_compactions: int | None = None
    counts: tuple[CompactionCount, ...] = ()
    median: float | None = None
    share: Estimate
    excluded: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None


_UNKNOWN = "compactions not known"
_SHARE = "share of runs with a compaction"


def compactions(table: TurnTable, *, level: float = 0.95) -> Compactions:
    """How many compactions the runs had, as a distribution.

    Args:
        table: Runs; a run is known if its `compaction` column is (0 for none), or if a compaction
            stands among its events. Runs of sub-agents are left out, and counted.
        level: Confidence level.

    Returns:
        The distribution; absent with `why` if no run is known.
    """
    own = own_runs(table)
    excluded = excluded_counts({SUBAGENT: ~own})
    table = table.select(own)
    counts = _counts(table)
    known = counts[~np.isnan(counts)].astype(np.int64)
    n = len(known)
    if n == 0:
        why = "no file can tell whether a context was compacted"
        share = absent(_SHARE, why, level=level)
        return Compactions(n_runs=table.n_runs, share=share, excluded=excluded, why=why)
    return Compactions(
        n_runs=table.n_runs,
        n_runs_known=n,
        n_compactions=int(known.sum()),
        counts=tuple(
            CompactionCount(compactions=many, n_runs=int(n_runs))
            for many, n_runs in enumerate(np.bincount(known))
        ),
        median=float(np.median(known)),
        share=share_of_runs(
            _SHARE,
            int((known > 0).sum()),
            n,
            level=level,
            excluded={_UNKNOWN: table.n_runs - n, **excluded},
        ),
        excluded=excluded,
    )


def _counts(table: TurnTable) -> NDArray[np.float64]:
    """Compactions of each run, NaN where its format cannot tell; shape (n_runs,)."""
    compacted = table.events.run[table.events.kind == "compaction"]
    events = np.bincount(compacted, minlength=table.n_runs)
    column = table.columns.get("compaction")
    if column is None:
        return np.where(events > 0, events, np.nan)
    told = ~np.isnan(column)
    n_told = np.bincount(table.run[told], minlength=table.n_runs)
    summed = np.bincount(table.run[told], weights=column[told], minlength=table.n_runs)
    return np.where((n_told > 0) | (events > 0), np.maximum(summed, events), np.nan)
