"""What stands beside the tables of first errors: tests, means, chains, what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.first_error_groups import GroupFirstErrors
from turncurve.analysis.first_error_study import ConditionRatio, ConditionTests, RuleFirstErrors
from turncurve.report.figures import ABSENT, amount, counted, interval
from turncurve.report.sentences import Fact, estimate
from turncurve.stats.estimate import Estimate
from turncurve.stats.log_rank import LogRank
from turncurve.stats.ratio import Ratio
from turncurve.stats.two_state import TwoState


def first_error_facts(rule: RuleFirstErrors) -> Iterator[Fact]:
    """The hazard's figures, each condition's mean, the tests between conditions, the chain."""
    hazard = rule.hazard
    yield "verdict", f"{hazard.verdict}: {hazard.why}."
    yield "a doubling, alike", f"{_doubling(hazard.within)} From turn {hazard.from_turn} on."
    yield f"from turn {hazard.from_turn + 1} on", _doubling(hazard.without_first)
    yield "a doubling, all runs", f"{_doubling(hazard.pooled)} Runs that differ make it fall."
    if hazard.n_alone:
        yield "alike to no other", f"{counted(hazard.n_alone, 'run')}: they say nothing of it."
    for group in rule.groups:
        yield from _group(group, several=len(rule.groups) > 1)
    if rule.tests is not None:
        yield from _tests(rule.tests)
    if rule.recurrence is not None:
        yield "errors come back", _chain(rule.recurrence)
    first = rule.groups[0].times
    yield "rule", f"{first.why}."
    for warning in dict.fromkeys(w for group in rule.groups for w in group.times.warnings):
        yield "mind", warning


def _doubling(result: Estimate) -> str:
    if result.value is None:
        limits = interval(result.low, result.high, digits=2)
        return f"not known{'' if limits == ABSENT else f' {limits}'}: {result.reason}."
    return (
        f"times {amount(result.value, digits=2)} {interval(result.low, result.high, digits=2)}, "
        f"from {counted(result.n_runs, 'run')}, {counted(result.n_clusters, 'independent unit')}."
    )


def _group(group: GroupFirstErrors, *, several: bool) -> Iterator[Fact]:
    of = f"{group.condition}: " if several else ""
    yield "mean turns", f"{of}{_mean(group.mean_turns)}."
    if group.delay is not None:
        yield (
            "alarm after onset",
            f"{of}median {group.delay.median:g} turns, at most {group.delay.largest}, in "
            f"{counted(group.delay.n_runs, 'run')}.",
        )
    if several and group.times.n_excluded:
        left_out = "; ".join(f"{why} {n:,}" for why, n in group.times.n_excluded.items())
        yield "left out", f"{of}{left_out}."


def _mean(result: Estimate) -> str:
    return f"{result.estimand.removesuffix('.')}: {estimate(result, digits=1)}"


def _tests(tests: ConditionTests) -> Iterator[Fact]:
    yield "conditions, log-rank", _log_rank(tests.by_turn, "all runs, taken as independent")
    within = tests.within_scenarios
    if within.statistic is not None:
        yield (
            "within scenarios",
            _log_rank(within, f"runs of the same of {counted(within.n_strata, 'scenario')}"),
        )
    for each in tests.ratios:
        yield "ratio of hazards", _ratio(each)


def _log_rank(test: LogRank, what: str) -> str:
    if test.statistic is None:
        return "no turn with an error had two conditions at risk."
    return (
        f"chi-squared {test.statistic:.2f}, df {test.df}, {p_value(test.p)}; "
        f"{what}, {counted(test.n_runs, 'run')}."
    )


def p_value(p: float | None) -> str:
    """`p .031`, `p < .0001`."""
    if p is None:
        return f"p {ABSENT}"
    return "p < .0001" if p < 1e-4 else f"p {p:.4f}"


def _ratio(each: ConditionRatio) -> str:
    ratio = each.ratio
    where = (
        f"within {counted(ratio.n_compared, 'scenario')}"
        if each.within_scenarios
        else "over all runs, taken as independent"
    )
    if ratio.value is None:
        return f"{each.condition} over {each.control}: not known, too few first errors to compare."
    return (
        f"{each.condition} over {each.control}: {amount(ratio.value, digits=2)} "
        f"{interval(ratio.low, ratio.high, digits=2)}, {where}; first errors compared: "
        f"{ratio.n_events[0]:,} and {ratio.n_events[1]:,}."
    )


def _chain(chain: TwoState) -> str:
    recover = "no turn follows an error" if chain.recover is None else _share(chain.recover)
    ends = "" if chain.share is None else f"; in the end {_share(chain.share)} of turns in error"
    return (
        f"after a turn without error one comes with a chance of {_share(chain.start)}; after one "
        f"with error none does with a chance of {recover}{ends}; "
        f"{counted(chain.n_turns, 'pair')} of turns."
    )


def _share(ratio: Ratio) -> str:
    limits = interval(ratio.low, ratio.high)
    return amount(ratio.value) + ("" if limits == ABSENT else f" {limits}")
