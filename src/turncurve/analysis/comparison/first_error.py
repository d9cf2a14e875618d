"""How many turns go by before the first error, of two conditions over the same scenarios."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.pairs import Pairs, Side
from turncurve.analysis.comparison.settings import CompareSettings
from turncurve.analysis.error_rules import RULES, Rule, RuleTest
from turncurve.analysis.settings import Settings
from turncurve.errors import UnknownNameError
from turncurve.stats.bootstrap import MIN_UNITS
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.event_free_turns import UnitTimes, common_horizon, mean_ratio, unit_times
from turncurve.stats.paired_curve import MIN_PAIRS
from turncurve.stats.window_rule import RuleTimes, rule_times

BoolArray: TypeAlias = NDArray[np.bool_]

_RATIO = "Mean turn of the first error, up to the horizon: that of b over that of a."
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstErrorRatio:
    """The time to the first error of two conditions.

    Attributes:
        rule: What counts as an error; None where no rule has values in both.
        why: What the rule goes by, or why none can be gone by.
        horizon: Last turn that is looked at: half of the scenarios, and at least 5, are followed to
            it on either side, or had the error before. A run without an error by then counts as
            this turn.
        a: Mean turn of the first error of a, up to the horizon; scenarios weigh the same.
        b: That of b.
        ratio: b over a: below 1, errors come sooner.
        n_scenarios: Scenarios with runs at risk on both sides.
        n_runs_a: Runs at risk.
        n_runs_b: Runs at risk.
        n_events_a: Those with an error by the horizon.
        n_events_b: Those with an error by the horizon.
        survival_a: Share free of error just after turns 1, 2, ... of the horizon.
        survival_b: Likewise.
    """

    rule: Rule | None
    why: str
    horizon: int | None
    a: float | None
    b: float | None
    ratio: Estimate
    n_scenarios: int = 0
    n_runs_a: int = 0
    n_runs_b: int = 0
    n_events_a: int = 0
    n_events_b: int = 0
    survival_a: tuple[float, ...] = ()
    survival_b: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _Timed:
    """The runs of a side that are at risk, with what the rule says of them."""

    side: Side
    times: RuleTimes
    used: BoolArray

    def of_units(self, position: NDArray[np.int64], n_units: int) -> UnitTimes:
        unit = position[self.side.scenario[self.used]]
        known = unit >= 0
        time, event = self.times.time[self.used][known], self.times.event[self.used][known]
        return unit_times(
            time, event, unit[known], n_units=n_units,
            n_turns=int(self.side.table.turn.max()), entry=self.times.entry,
        )  # fmt: skip


def first_error_ratio(
    pairs: Pairs, settings: CompareSettings, threshold: float | None
) -> FirstErrorRatio:
    """The ratio of the restricted mean times to the first error, paired by scenario.

    Args:
        pairs: Both conditions, with the same columns.
        settings: Rule, scale, level, seed.
        threshold: Quality below which a turn is bad, the same for both; None for the rule's own.

    Raises:
        UnknownNameError: There is no such rule.
    """
    if settings.rule is not None and settings.rule not in RULES:
        raise UnknownNameError("rule", settings.rule, RULES)
    asked = Settings(
        quality_scale=settings.quality_scale, threshold=threshold, window=settings.window
    )
    for rule in RULES if settings.rule is None else (settings.rule,):
        tests = [RULES[rule](side.table, asked) for side in (pairs.a, pairs.b)]
        timed = [_timed(side, test) for side, test in zip((pairs.a, pairs.b), tests, strict=True)]
        if all(one is not None for one in timed):
            return _ratio(rule, tests[0], [one for one in timed if one is not None], settings)
    named = "a rule" if settings.rule is None else f"the rule {settings.rule}"
    why = f"{named} for errors needs values, and a threshold, in both conditions"
    return FirstErrorRatio(
        rule=settings.rule, why=why, horizon=None, a=None, b=None,
        ratio=absent(_RATIO, why, level=settings.level),
    )  # fmt: skip


def _timed(side: Side, test: RuleTest) -> _Timed | None:
    if test.threshold is None:
        return None
    times = rule_times(
        test.values,
        side.table.run,
        side.table.turn,
        n_runs=side.table.n_runs,
        window=test.window,
        threshold=test.threshold,
    )
    return _Timed(side, times, times.at_risk) if times.at_risk.any() else None


def _ratio(
    rule: Rule, test: RuleTest, timed: list[_Timed], settings: CompareSettings
) -> FirstErrorRatio:
    of = [set(one.side.scenario[one.used].tolist()) for one in timed]
    common = sorted(of[0] & of[1])
    position = np.full(max(of[0] | of[1]) + 1, -1, dtype=np.int64)
    position[common] = np.arange(len(common))
    units = [one.of_units(position, len(common)) for one in timed]
    n_turns = min(one.at_risk.shape[1] for one in units)
    horizon = common_horizon(
        *(replace(one, followed=one.followed[:, :n_turns]) for one in units),
        min_units=max(MIN_PAIRS, -(-len(common) // 2)),
    )
    at_risk = [one.used & (position[one.side.scenario] >= 0) for one in timed]
    events = [
        int((one.times.event & used & (one.times.time <= horizon)).sum())
        for one, used in zip(timed, at_risk, strict=True)
    ]
    nothing = FirstErrorRatio(
        rule=rule,
        why=_words(test),
        horizon=horizon or None,
        a=None,
        b=None,
        ratio=absent(_RATIO, _why_nothing(horizon), level=settings.level),
        n_scenarios=len(common),
        n_runs_a=int(at_risk[0].sum()),
        n_runs_b=int(at_risk[1].sum()),
        n_events_a=events[0],
        n_events_b=events[1],
    )
    if horizon < 1 or sum(events) == 0:
        return nothing
    found = mean_ratio(
        *units,
        horizon=horizon,
        rng=np.random.default_rng([settings.seed, 4]),
        level=settings.level,
        resamples=min(settings.resamples, _RESAMPLES),
    )
    few = f"with fewer than {MIN_UNITS} scenarios there is no interval by resampling"
    return replace(
        nothing,
        a=found.old,
        b=found.new,
        ratio=Estimate(
            estimand=_RATIO,
            value=found.ratio,
            low=found.low,
            high=found.high,
            level=settings.level,
            method="restricted means of Kaplan-Meier, bootstrap over scenarios",
            n_runs=int(at_risk[0].sum() + at_risk[1].sum()),
            n_clusters=len(common),
            assumptions=("runs that end without an error would have gone on like the others",),
            warnings=(few,) if found.low is None else (),
            seed=settings.seed,
            n_resamples=found.n_resamples,
        ),
        survival_a=tuple(found.old_survival.tolist()),
        survival_b=tuple(found.new_survival.tolist()),
    )


def _words(test: RuleTest) -> str:
    below = f" (below {test.threshold:g})" if test.signal == "quality" else ""
    return f"an error is the first {test.words}{below}"


def _why_nothing(horizon: int) -> str:
    if horizon < 1:
        return f"fewer than {MIN_PAIRS} scenarios have runs at risk in both"
    return f"no run of either has an error by turn {horizon}"
