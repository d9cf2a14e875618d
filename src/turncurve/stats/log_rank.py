"""Do groups of runs have their first event at different turns?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from turncurve.stats.stratum_cells import StratumCells, stratum_cells

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRank:
    """The log-rank test.

    Attributes:
        statistic: Chi-squared; None, as is `p`, where no turn with an event has two groups at risk.
        df: Groups that could differ, less one.
        p: Chance of a statistic as large where the groups have the same hazard at every turn.
        groups: Labels of the groups, in order.
        observed: Events of each group; shape (n_groups,).
        expected: Events that each would have had under equal hazards.
        n_strata: Strata in which groups could be compared; 1 where there are none.
        n_runs: Runs in all.
    """

    statistic: float | None
    df: int
    p: float | None
    groups: tuple[object, ...]
    observed: tuple[int, ...]
    expected: tuple[float, ...]
    n_strata: int
    n_runs: int


def log_rank(
    time: ArrayLike,
    event: ArrayLike,
    group: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    entry: ArrayLike | None = None,
) -> LogRank:
    """Compare groups' times to an event, turn by turn, within strata.

    At each turn with an event the events are shared out among the groups by their runs at risk, and
    what each group really had is compared with that. Within strata (scenarios, say) only runs of
    the same stratum are compared, so that scenarios need not be alike, nor be shared out alike.
    Runs are independent given their stratum: without strata, repeated scenarios break that.

    Args:
        time: Turn of the event, or the last turn seen; shape (n_runs,).
        event: True where the event was seen, False where the run is censored; shape (n_runs,).
        group: Which group the run belongs to, any labels; shape (n_runs,).
        stratum: Which stratum, any labels. None: all runs are of one.
        entry: The run is at risk only after this time. None: from the start.

    Raises:
        NotEnoughDataError: Fewer than two groups have a run.
        ValueError: A time is not after its entry, or not finite.

    References:
        Mantel (1966), Cancer Chemotherapy Reports 50:163-170; Peto & Peto (1972), JRSS A
        135:185-207.
    """
    cells = stratum_cells(time, event, group, stratum=stratum, entry=entry)
    expected, covariance = _expected(cells)
    observed = cells.events.sum(axis=1)
    statistic, df = _chi_squared(observed - expected, covariance)
    several = (cells.at_risk > 0).sum(axis=0) > 1
    return LogRank(
        statistic=statistic,
        df=df,
        p=None if statistic is None else float(chdtrc(df, statistic)),
        groups=cells.groups,
        observed=tuple(int(n) for n in observed),
        expected=tuple(expected.tolist()),
        n_strata=len(np.unique(cells.stratum[several])),
        n_runs=cells.n_runs,
    )


def _expected(cells: StratumCells) -> tuple[FloatArray, FloatArray]:
    """Events expected by group, and the covariance of observed less expected."""
    n, d = cells.at_risk.sum(axis=0), cells.events.sum(axis=0)
    share = cells.at_risk / n
    scale = d * np.where(n > 1, (n - d) / np.maximum(n - 1, 1), 0.0)
    return share @ d, np.diag(share @ scale) - (share * scale) @ share.T


def _chi_squared(difference: FloatArray, covariance: FloatArray) -> tuple[float | None, int]:
    """The statistic over the groups that were ever compared, and its degrees of freedom."""
    compared = np.flatnonzero(np.diag(covariance) > 1e-12)
    if len(compared) < 2:
        return None, max(len(difference) - 1, 1)
    rest = compared[:-1]
    inner = covariance[np.ix_(rest, rest)]
    rank = int(np.linalg.matrix_rank(inner, hermitian=True))
    solved = np.linalg.pinv(inner, hermitian=True) @ difference[rest]
    return float(difference[rest] @ solved), rank
