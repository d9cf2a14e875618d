"""How often all of several trials of a scenario succeed, and how often at least one does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import SUBAGENT, own_runs
from turncurve.errors import NotEnoughDataError
from turncurve.model import ExitType
from turncurve.stats.mean import mean_with_interval
from turncurve.stats.pass_k import pass_at_k, pass_hat_k
from turncurve.stats.proportion import clopper_pearson
from turncurve.table import TurnTable

ESTIMATOR = (
    "pass^k: mean over scenarios of C(c, k) / C(n, k); "
    "pass@k: mean of 1 - C(n - c, k) / C(n, k); c of n trials succeeded"
)
CRASHED = "crashed before its outcome was judged"
NOT_JUDGED = "outcome not known"
NO_SCENARIO = "no scenario named"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassAt:
    """Chance of success in k trials, over the scenarios with at least k of them.

    Attributes:
        condition: The runs' condition; None where no run has one.
        k: Trials.
        value: Mean over scenarios of the unbiased estimate.
        std_error: Standard deviation of the scenarios' estimates over the root of their number;
            None with one scenario, or where all agree.
        low: Lower limit for the population of such scenarios; None with one scenario.
        high: Upper limit.
        level: Confidence level.
        method: How the limits were found.
        n_scenarios: Scenarios with at least k judged trials.
        n_too_few: Scenarios with fewer, which are left out.
    """

    condition: str | None
    k: int
    value: float
    std_error: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n_scenarios: int
    n_too_few: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How many scenarios of a condition came out with c successes in n trials."""

    condition: str | None
    n_trials: int
    n_succeeded: int
    n_scenarios: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """pass^k and pass@k of every condition, for each k up to the most trials of a scenario."""

    pass_hat_k: tuple[PassAt, ...]
    pass_at_k: tuple[PassAt, ...]
    outcomes: tuple[Outcomes, ...]
    estimator: str
    n_runs: int
    """Runs with an outcome that counts."""
    excluded: Mapping[str, int]
    """Reason to number of runs left out."""


def reliability(
    table: TurnTable, *, crashes_fail: bool = False, level: float = 0.95
) -> Reliability:
    """Estimate pass^k and pass@k of the scenarios that were run several times.

    The scenarios are the units: the interval says what other scenarios of the same kind would give.
    It is a t interval, kept within 0 and 1. Where every scenario succeeds in all trials, or fails
    in all, there is no spread to go by; the limit is then Clopper and Pearson's for scenarios that
    differ.

    Args:
        table: Runs; those of sub-agents are left out, and those whose outcome nobody judged are
            left out and counted.
        crashes_fail: Count a run that crashed before it was judged as a failure. Without it, it
            says as little of the agent as a run that was never started.
        level: Confidence level.

    Raises:
        NotEnoughDataError: No run has both a scenario and an outcome.

    References:
        Yao et al. (2024), arXiv 2406.12045, section 3.3 (pass^k); Chen et al. (2021), arXiv
        2107.03374, equation 1 (pass@k).
    """
    runs = table.runs
    own = own_runs(table)
    crashed = own & np.isnan(runs.success) & (runs.exit_type == ExitType.CRASH.value)
    success = np.where(crashed, 0.0, runs.success) if crashes_fail else runs.success
    judged = own & ~np.isnan(success)
    named = np.array([scenario is not None for scenario in runs.scenario], dtype=np.bool_)
    used = judged & named
    if not used.any():
        raise NotEnoughDataError(
            "reliability: runs with a scenario and a known success", need=1, got=0
        )
    counts = _counts(runs.condition[used], runs.scenario[used], success[used])
    return Reliability(
        pass_hat_k=_every_k(counts, pass_hat_k, level),
        pass_at_k=_every_k(counts, pass_at_k, level),
        outcomes=_outcomes(counts),
        estimator=ESTIMATOR,
        n_runs=int(used.sum()),
        excluded=excluded_counts(
            {
                SUBAGENT: ~own,
                CRASHED: own & ~judged & crashed,
                NOT_JUDGED: own & ~judged & ~crashed,
                NO_SCENARIO: judged & ~named,
            }
        ),
    )


_Counts = dict[str | None, NDArray[np.int64]]
"""Condition to successes and trials of its scenarios; shape (n_scenarios, 2)."""


def _counts(
    conditions: NDArray[np.object_], scenarios: NDArray[np.object_], success: NDArray[np.float64]
) -> _Counts:
    found: dict[str | None, dict[str, list[int]]] = {}
    for condition, scenario, succeeded in zip(conditions, scenarios, success, strict=True):
        pair = found.setdefault(condition, {}).setdefault(scenario, [0, 0])
        pair[0] += int(succeeded)
        pair[1] += 1
    return {name: np.array(list(found[name].values()), dtype=np.int64) for name in found}


def _every_k(
    counts: _Counts,
    estimate: Callable[[NDArray[np.int64], NDArray[np.int64], int], NDArray[np.float64]],
    level: float,
) -> tuple[PassAt, ...]:
    return tuple(
        _pass_at(condition, k, estimate(pairs[:, 0], pairs[:, 1], k), level)
        for condition, pairs in counts.items()
        for k in range(1, int(pairs[:, 1].max()) + 1)
    )


def _pass_at(condition: str | None, k: int, values: NDArray[np.float64], level: float) -> PassAt:
    known = values[~np.isnan(values)]
    mean = mean_with_interval(known, level=level)
    low, high, method = mean.low, mean.high, "t over scenarios"
    if low is not None and high is not None:
        low, high = max(low, 0.0), min(high, 1.0)
    elif mean.n > 1 and mean.value in (0.0, 1.0):
        share = clopper_pearson(round(mean.value) * mean.n, mean.n, level=level)
        low, high, method = share.low, share.high, "Clopper-Pearson: the scenarios agree"
    else:
        method = "no interval: one scenario, or scenarios that agree"
    return PassAt(
        condition=condition,
        k=k,
        value=mean.value,
        std_error=mean.std_error,
        low=low,
        high=high,
        level=level,
        method=method,
        n_scenarios=mean.n,
        n_too_few=len(values) - mean.n,
    )


def _outcomes(counts: _Counts) -> tuple[Outcomes, ...]:
    return tuple(
        Outcomes(condition=condition, n_trials=n, n_succeeded=c, n_scenarios=times)
        for condition, pairs in counts.items()
        for (n, c), times in sorted(Counter((int(n), int(c)) for c, n in pairs).items())
    )
