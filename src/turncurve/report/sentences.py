"""Each result in words: a label, and a sentence with its n and interval or the reason why not."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.compactions import Compactions
from turncurve.analysis.completion import Completion
from turncurve.analysis.context import ContextGrowth, Crossing
from turncurve.analysis.cost import Cost
from turncurve.analysis.first_error import FirstError
from turncurve.analysis.missing import Missing
from turncurve.analysis.regrounding import Regrounding
from turncurve.analysis.repetition import Repetition
from turncurve.analysis.success_by_length import LengthBin
from turncurve.analysis.trend import Trend
from turncurve.analysis.turn_quantiles import Quantile
from turncurve.report.document import Report
from turncurve.report.figures import ABSENT, HUGE, amount, counted, interval, signed, span, usd
from turncurve.report.layout import visible
from turncurve.stats.estimate import Estimate

Fact = tuple[str, str]

SHOWN_QUANTILES = (0.1, 0.5)

RULES = {
    "rolling_quality": "low rolling mean",
    "low_quality": "low quality",
    "failing_grade": "failing grade",
    "schema_violation": "schema violation",
    "rule_breach": "rule breach",
    "tool_error": "tool error",
}


def estimate(result: Estimate, unit: str = "", *, digits: int = 3) -> str:
    """`0.94 [0.91, 0.97]`, or the reason why there is none."""
    if result.value is None:
        return f"not known: {result.reason or 'no value'}"
    value = amount(result.value, unit, digits=digits)
    if result.low is None and result.high is None:
        return value
    return f"{value} {interval(result.low, result.high, unit, digits=digits)}"


def chance(result: Estimate) -> str:
    """A simulated chance: `0.43 [0.41, 0.45]`, or at most its upper limit where it is near 0."""
    if result.value is None or result.high is None or round(result.value, 2) > 0:
        return f"{estimate(result, digits=2)} (an interval of the simulation's error alone)"
    return f"at most {result.high:.1g}"


def first_error_facts(results: tuple[FirstError, ...]) -> Iterator[Fact]:
    """One a rule: median and tenth percentile, events, censored runs, false alarms."""
    for result in results:
        yield RULES.get(result.rule, result.rule), first_error(result)


def first_error(result: FirstError) -> str:
    """Quantiles with intervals, events and censored runs; never a mean."""
    if result.n_runs == 0:
        return f"not known: {result.why}."
    if result.n_runs == 1:
        turn = result.first_turn
        parts = ["not seen in the one run" if turn is None else f"at turn {turn} of the one run"]
    else:
        shown = [q for q in result.quantiles if q.p in SHOWN_QUANTILES]
        parts = [_quantile(q) for q in sorted(shown, key=lambda q: -q.p)]
        others = "" if result.n_censored == 1 else f" {result.n_censored:,}"
        rest = f", the other{others} ended first" if result.n_censored else ""
        parts.append(f"seen in {result.n_events:,} of {counted(result.n_runs, 'run')}{rest}")
    if result.n_excluded:
        why = "; ".join(f"{reason} {n:,}" for reason, n in result.n_excluded.items())
        parts.append(f"left out: {why}")
    if result.false_alarm is not None and result.false_alarm.value is not None:
        parts.append(
            "in a run that stays as it began, with this noise, it fires with a chance of "
            + chance(result.false_alarm)
        )
    return "; ".join(parts) + "."


def _quantile(quantile: Quantile) -> str:
    name = "median" if quantile.p == 0.5 else f"{round(100 * quantile.p)}th percentile"
    if quantile.turn is None:
        least = "" if quantile.low is None else f" (turn {quantile.low:g} or later)"
        return f"{name} not reached{least}"
    ends = interval(quantile.low, quantile.high, digits=0)
    return f"{name} turn {quantile.turn:.0f}" + ("" if ends == ABSENT else f" {ends}")


def context_facts(context: ContextGrowth) -> Iterator[Fact]:
    """Start, end, growth, crossings and spikes of the context."""
    if context.start_tokens is None:
        yield "context", f"not known: {context.why}."
        return
    n_measured = context.n_runs_measured
    middle = "" if n_measured == 1 else "median of " + counted(n_measured, "run") + ": "
    if n_measured < context.n_runs:
        middle = (
            f"median of the {n_measured:,} of {counted(context.n_runs, 'run')} with several turns: "
        )
    yield (
        "context",
        f"{middle}{amount(context.start_tokens, 'tokens')} to "
        f"{amount(context.end_tokens, 'tokens')} tokens, "
        f"{_grouped(context.tokens_per_turn)} a turn; largest "
        f"{amount(context.max_tokens, 'tokens')}.",
    )
    yield "reaches", "; ".join(_crossing(crossing) for crossing in context.crossings) + "."
    if context.n_spikes:
        largest = context.spikes[0]
        yield (
            "spikes",
            f"{counted(context.n_spikes, 'turn')} added far more than usual; the most "
            f"{amount(largest.tokens_added, 'tokens')} tokens at turn {largest.turn} of "
            f"{visible(largest.run, 60)}.",
        )


def _grouped(value: float | None) -> str:
    return f"{value:,.1f}" if value is not None and abs(value) < HUGE else amount(value)


def _crossing(crossing: Crossing) -> str:
    limit = f"{crossing.tokens // 1000}k"
    if crossing.kind == "never":
        return f"{limit} never on this course"
    if crossing.kind == "unknown" or crossing.turn is None:
        return f"{limit} not known"
    seen = f"{crossing.n_crossed} of {counted(crossing.n_runs, 'run')}"
    if crossing.kind == "extrapolated":
        return f"{limit} near turn {crossing.turn} if it goes on like this ({seen} got there)"
    ends = interval(crossing.low, crossing.high, digits=0)
    return f"{limit} at turn {crossing.turn}" + ("" if ends == ABSENT else f" {ends} ({seen})")


def cost_facts(cost: Cost) -> Iterator[Fact]:
    """Total, per run, per success, late against early."""
    if cost.total_usd is None:
        yield "cost", f"not known: {cost.why}."
        return
    source = {"estimated": " (estimated from prices)", "mixed": " (in part estimated)"}
    yield (
        "cost",
        f"{usd(cost.total_usd)}{source.get(cost.source or '', '')} over "
        f"{counted(cost.n_runs_with_cost, 'run')}; a run {estimate(cost.per_run, 'usd')}.",
    )
    yield "cost per success", f"{estimate(cost.per_success, 'usd')}."
    if cost.by_turn_known:
        turn = "" if cost.late_turn is None else f"turn {cost.late_turn} costs "
        times = " times turn 5" if cost.late_to_turn_5.value is not None else ""
        yield "late against early", f"{turn}{estimate(cost.late_to_turn_5, digits=2)}{times}."


def repetition_facts(repetition: Repetition) -> Iterator[Fact]:
    """Repeated actions by each way of counting, and spirals."""
    if repetition.rate.value is None:
        yield "repeated actions", f"not known: {repetition.why or repetition.rate.reason}."
        return
    yield (
        "repeated actions",
        f"{estimate(repetition.rate)} of {counted(repetition.n_actions, 'action')} were seen "
        f"before in their run; among the 10 before {estimate(repetition.window_rate)}, just before "
        f"{estimate(repetition.consecutive_rate)}, with the same result "
        f"{estimate(repetition.result_rate)}.",
    )
    if repetition.n_spirals:
        where = "; ".join(
            f"{visible(s.run, 60)} from turn {s.turn}" for s in repetition.spirals[:3]
        )
        more = f"; and {repetition.n_spirals - 3} more" if repetition.n_spirals > 3 else ""
        yield "spirals", f"{counted(repetition.n_spirals, 'run')}: {where}{more}."


def compaction_facts(compactions: Compactions) -> Iterator[Fact]:
    """How many, in how many runs."""
    if compactions.n_compactions is None:
        yield "compactions", f"not known: {compactions.why}."
        return
    if not compactions.n_compactions:
        known = counted(compactions.n_runs_known, "run")
        yield "compactions", f"none in {known} whose format can tell."
        return
    with_one = sum(c.n_runs for c in compactions.counts if c.compactions)
    yield (
        "compactions",
        f"{compactions.n_compactions:,}, in {with_one:,} of "
        f"{counted(compactions.n_runs_known, 'run')} whose format can tell.",
    )


def completion_facts(completion: Completion) -> Iterator[Fact]:
    """Turns to completion, with the runs that did not finish counted as such."""
    if completion.quantiles:
        middle = [q for q in completion.quantiles if q.p in {0.5, 0.9}]
        unknown = f" ({completion.n_unknown:,} with an unknown end)" if completion.n_unknown else ""
        yield (
            "turns to completion",
            f"{'; '.join(_quantile(q) for q in middle)}; {completion.n_finished:,} finished, "
            f"{completion.n_censored:,} did not{unknown}.",
        )
    else:
        yield "turns to completion", f"not known: {completion.why}."


def length_facts(bins: tuple[LengthBin, ...]) -> Iterator[Fact]:
    """Success of short and of long runs."""
    known = [b for b in bins if b.value is not None]
    if not known:
        yield "success by length", "not known: no run with a turn says whether it succeeded."
        return
    parts = [
        f"{span(b.start, b.end)} turns {amount(b.value, digits=2)} "
        f"{interval(b.low, b.high, digits=2)} ({b.n_succeeded:,} of {b.n_runs:,})"
        for b in known
    ]
    yield "success by length", "; ".join(parts) + "."


def trend_fact(trend: Trend, title: str) -> Fact:
    """How many runs stood out against their own first turns, against what chance alone gives."""
    if trend.n_runs == 0:
        return title, f"not watched: {trend.why}."
    slope = trend.slope
    by_turn = "" if slope.value is None else f"; {_slope(slope)}"
    return title, (
        f"{_MOVED[trend.direction]} its own first {trend.baseline_turns} turns in "
        f"{trend.n_alarmed:,} of {counted(trend.n_runs, 'run')}, by chance in at most "
        f"{trend.expected_by_chance:.1f}{by_turn}."
    )


_MOVED = {"down": "fell below", "up": "rose above", "either": "moved away from"}


def _slope(slope: Estimate) -> str:
    ends = (
        ""
        if slope.low is None or slope.high is None
        else f" [{signed(slope.low)}, {signed(slope.high)}]"
    )
    return f"slope {signed(slope.value)} a turn{ends}"


def regrounding_fact(result: Regrounding) -> Fact:
    """Up to which turn a signal surely keeps its target."""
    signal = result.signal.replace("_", " ")
    instead = "" if result.signal == "adherence" else f"no rule was checked, so {signal} is taken: "
    if result.turn is None:
        return (
            "re-grounding",
            f"{instead}no turn is sure to keep {signal} at {result.target:g}: {result.why}.",
        )
    until = "to the end, turn" if result.at_least else "up to turn"
    return "re-grounding", (
        f"{instead}{signal} surely stays at or above {result.target:g} {until} {result.turn} "
        f"(a {100 * result.level:g} % limit that holds in all buckets at once, "
        f"n = {counted(result.n_runs, 'run')})."
    )


def what_was_read(report: Report) -> str:
    """Counts of files, runs, turns, scenarios, successes and ends, in a sentence or two."""
    summary = report.summary
    parts = [counted(summary.n_runs, "run"), counted(summary.n_turns, "turn")]
    if summary.n_scenarios:
        parts.append(counted(summary.n_scenarios, "scenario"))
    named = [count for count in report.conditions if count.condition is not None]
    if named:
        parts.append(counted(len(named), "condition"))
    if summary.n_subagent_runs:
        parts.append(counted(summary.n_subagent_runs, "run") + " of sub-agents")
    if summary.max_turns is not None and summary.n_runs > 1:
        parts.append(f"longest {summary.max_turns:,}, median {summary.median_turns:g}")
    if summary.n_succeeded is not None and summary.n_failed is not None:
        parts.append(f"{summary.n_succeeded:,} succeeded, {summary.n_failed:,} failed")
    if summary.n_runs_without_turns:
        parts.append(f"{summary.n_runs_without_turns:,} without a turn")
    formats = sorted({source.format for source in report.origin.inputs})
    from_ = f" from {counted(len(report.origin.inputs), 'file')} ({', '.join(formats)})"
    return ", ".join(parts) + (from_ if formats else "") + "."


def title(report: Report, signal: str) -> str:
    """A signal's few words for people."""
    info = report.known_signals.get(signal)
    return visible(signal.replace("_", " ") if info is None else info.title, 40)


def missing_fact(gap: Missing, label: str) -> Fact:
    """How many turns lack a value, and why."""
    if len(gap.reasons) == 1:
        why = visible(next(iter(gap.reasons)))
        return label, f"{gap.n_missing:,} of {gap.n_turns:,} turns: {why}."
    reasons = "; ".join(f"{visible(why)} ({n:,})" for why, n in gap.reasons.items())
    return label, f"{gap.n_missing:,} of {gap.n_turns:,} turns: {reasons}."


def other_facts(report: Report) -> Iterator[Fact]:
    """Context, cost, repeated actions, compactions, completion, success by length, ends."""
    yield from context_facts(report.context)
    yield from cost_facts(report.cost)
    yield from repetition_facts(report.repetition)
    yield from compaction_facts(report.compactions)
    yield from completion_facts(report.completion)
    yield from length_facts(report.success_by_length)
    exits = sorted(report.summary.exits.items(), key=lambda item: -item[1])
    if exits:
        shown = [f"{visible(text, 40)} {n:,}" for text, n in exits[:6]]
        more = [f"{len(exits) - 6} other ways"] if len(exits) > 6 else []
        yield "runs ended", ", ".join(shown + more) + "."
