"""Whether the evaluation runs are as long as the runs in production."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turncurve.analysis.over_runs import share_of_runs
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.run_lengths import CUT_SHORT, last_turns
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.order_statistics import SampleQuantile, sample_quantile
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The longest evaluation run against the lengths of production runs.

    Attributes:
        longest_eval: Turns of the longest evaluation run; None if there is none.
        production_p90: 90th percentile of the turns of production runs, an observed length.
        production_low: Lower end of its distribution-free interval; None where n is too small.
        production_high: Upper end; None where n is too small.
        n_eval_runs: Evaluation runs with a turn.
        n_production_runs: Production runs with a turn.
        n_production_unfinished: Those of them cut short or running still: they would be longer.
        covered: True if the longest evaluation run reaches the 90th percentile.
        certain: True if the whole interval says the same as `covered`.
        share_beyond: Share of production runs that are longer than the longest evaluation run.
        sentence: The finding in words.
    """

    longest_eval: int | None = None
    production_p90: float | None = None
    production_low: float | None = None
    production_high: float | None = None
    n_eval_runs: int = 0
    n_production_runs: int = 0
    n_production_unfinished: int = 0
    covered: bool | None = None
    certain: bool | None = None
    share_beyond: Estimate
    sentence: str


_SHARE = "share of production runs longer than the longest evaluation run"


def coverage(evals: TurnTable, production: TurnTable, *, level: float = 0.95) -> Coverage:
    """Whether the longest evaluation run is as long as the 90th percentile of production runs.

    Lengths are last turns; runs without a turn and runs of sub-agents are left out. A production
    run that was cut short or is running still would be longer, so many of those make the percentile
    a lower bound.

    Args:
        evals: The evaluation runs.
        production: The production runs.
        level: Confidence level.

    Returns:
        Both lengths, the share of production runs beyond the evaluation, and a sentence.
    """
    evals, production = (table.select(own_runs(table)) for table in (evals, production))
    eval_turns, turns = last_turns(evals), last_turns(production)
    unfinished = np.isin(production.runs.exit_type.astype(str), CUT_SHORT) & (turns > 0)
    eval_turns, turns = eval_turns[eval_turns > 0], turns[turns > 0]
    if len(eval_turns) == 0 or len(turns) == 0:
        which = "evaluation" if len(eval_turns) == 0 else "production"
        why = f"no {which} run has a turn"
        return Coverage(
            n_eval_runs=len(eval_turns),
            n_production_runs=len(turns),
            share_beyond=absent(_SHARE, why, level=level),
            sentence=f"Coverage is not known: {why}.",
        )
    longest = int(eval_turns.max())
    p90 = sample_quantile(turns, 0.9, level=level)
    covered = longest >= p90.value
    share = share_of_runs(_SHARE, int((turns > longest).sum()), len(turns), level=level)
    return Coverage(
        longest_eval=longest,
        production_p90=p90.value,
        production_low=p90.low,
        production_high=p90.high,
        n_eval_runs=len(eval_turns),
        n_production_runs=len(turns),
        n_production_unfinished=int(unfinished.sum()),
        covered=covered,
        certain=_certain(longest, p90, covered),
        share_beyond=share,
        sentence=_sentence(longest, p90, covered, share),
    )


def _certain(longest: int, p90: SampleQuantile, covered: bool) -> bool:  # noqa: FBT001
    end = p90.high if covered else p90.low
    return end is not None and (longest >= end if covered else longest < end)


def _sentence(longest: int, p90: SampleQuantile, covered: bool, share: Estimate) -> str:  # noqa: FBT001
    low = "?" if p90.low is None else f"{p90.low:g}"
    high = "?" if p90.high is None else f"{p90.high:g}"
    verdict = "reaches" if covered else "stops short of"
    return (
        f"The longest evaluation run ({longest} turns) {verdict} the 90th percentile of production "
        f"runs ({p90.value:g} turns, {share.level:.0%} interval {low} to {high}, n = {p90.n}); "
        f"{share.value:.1%} of production runs are longer."
    )
