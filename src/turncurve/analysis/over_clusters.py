"""Estimates of shares and coefficients with an interval over runs, or the reason for none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.cluster_bootstrap import (
    AT_ONCE,
    ClusterInterval,
    cluster_interval,
    draws,
    resampled_sums,
)
from turncurve.stats.confusion import share
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.proportion import clopper_pearson

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals over runs are found.

    Attributes:
        level: Confidence level.
        resamples: Draws of the runs.
        seed: Seed of the draws.
    """

    level: float = 0.95
    resamples: int = 2_000
    seed: int = 0

    def draw(self, n: int) -> Iterable[FloatArray]:
        """The draws of n runs, which are the same for everything that so many runs carry."""
        if n * self.resamples <= AT_ONCE:
            return _few_draws(n, self.seed, self.resamples)
        return draws(n, rng=np.random.default_rng(self.seed), resamples=self.resamples)


@lru_cache(maxsize=4)
def _few_draws(n: int, seed: int, resamples: int) -> tuple[FloatArray, ...]:
    """Draws that many estimates share, kept as drawing them takes longer than all else."""
    return tuple(draws(n, rng=np.random.default_rng(seed), resamples=resamples))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What is estimated, of how many turns and runs, and between which values it lies."""

    estimand: str
    n_turns: int
    n_runs: int
    lowest: float = -1.0
    highest: float = 1.0


def estimate_over_runs(
    sums: FloatArray,
    statistics: dict[str, tuple[Sized, Callable[[FloatArray], FloatArray], str]],
    resampling: Resampling,
) -> dict[str, Estimate]:
    """Several statistics of the same sums, each with its interval.

    Args:
        sums: What each run adds; shape (n_runs, *cells).
        statistics: By name what it is, how it follows from sums, and why it may be absent.
        resampling: How intervals are found; the same draws serve all.
    """
    drawn = resampled_sums(sums, resampling.draw)
    return {
        name: as_estimate(
            sized, cluster_interval(drawn, statistic, level=resampling.level), why, resampling
        )
        for name, (sized, statistic, why) in statistics.items()
    }


def share_over_runs(
    sized: Sized, part: FloatArray, whole: FloatArray, why: str, resampling: Resampling
) -> Estimate:
    """A share of turns, whose runs are resampled.

    Where the share is 0 or 1 in every run, resampling shows no spread; the limit is then Clopper
    and Pearson's for as many independent runs as the share is of.

    Args:
        sized: What is estimated.
        part: Of each run; shape (n_runs,).
        whole: Of each run; shape (n_runs,).
        why: Why it is absent where the whole is 0.
        resampling: How the interval is found.
    """
    both = np.stack([part, whole], axis=1)
    found = estimate_over_runs(
        both, {"share": (sized, lambda s: share(s[..., 0], s[..., 1]), why)}, resampling
    )["share"]
    if found.value not in (0.0, 1.0) or found.low is not None:
        return found
    n = int((whole > 0).sum())
    exact = clopper_pearson(round(found.value) * n, n, level=resampling.level)
    return Estimate(
        estimand=found.estimand,
        value=found.value,
        low=exact.low,
        high=exact.high,
        level=resampling.level,
        method=f"Clopper-Pearson for {n:,} runs: they all agree",
        n_turns=found.n_turns,
        n_runs=found.n_runs,
        n_clusters=n,
    )


def as_estimate(
    sized: Sized, interval: ClusterInterval, why: str, resampling: Resampling
) -> Estimate:
    """An interval over clusters as an estimate, kept between the values that there can be."""
    if interval.value is None:
        return absent(sized.estimand, why, level=resampling.level)
    warnings = []
    if interval.reason is not None:
        warnings.append(f"no interval: {interval.reason}")
    if interval.n_lost:
        warnings.append(f"{interval.n_lost:,} resamples in which it is undefined are left out")
    low, high = interval.low, interval.high
    drawn = interval.df is None and low is not None
    return Estimate(
        estimand=sized.estimand,
        value=interval.value,
        std_error=interval.std_error,
        low=None if low is None else max(low, sized.lowest),
        high=None if high is None else min(high, sized.highest),
        level=resampling.level,
        method=interval.method,
        df=interval.df,
        n_turns=sized.n_turns,
        n_runs=sized.n_runs,
        n_clusters=interval.n_clusters,
        warnings=tuple(warnings),
        seed=resampling.seed if drawn else None,
        n_resamples=resampling.resamples if drawn else None,
    )
