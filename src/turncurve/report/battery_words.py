"""What the battery says, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.battery import Battery
from turncurve.analysis.battery_dependence import Dependence, SerialDependence
from turncurve.analysis.battery_missing import MissingGradesTest
from turncurve.analysis.battery_rates import Rate
from turncurve.analysis.battery_signatures import Signature
from turncurve.analysis.battery_verdict import NOTHING_HELD
from turncurve.analysis.slope import Slope
from turncurve.report.estimate_words import shown
from turncurve.report.figures import amount, counted, interval, signed
from turncurve.report.layout import visible
from turncurve.report.slope_words import limits_in_words, moved, p_words, slope_sentence

RATE_WORDS = {
    "error_rate": "fail",
    "neutral_rate": "are neutral",
    "productive_rate": "pass",
    "loop_rate": "loop",
}
NAME = 40
"""Characters of a run's id."""


def sentence(result: Battery) -> str:
    """By how much errors rise, whether that survives its controls, and which kind of worse."""
    alone, held = result.slopes[0], result.slopes[1]
    if alone.estimate.value is None:
        return f"Whether errors rise along runs is not known: {alone.estimate.reason}."
    opening = (
        f"Errors {moved(alone)} per 10 turns ({limits_in_words(alone)}) within "
        f"{counted(alone.estimate.n_runs, 'run')}{_of_tasks(result)}{_by_tokens(result)}"
    )
    return f"{opening}{_verdict(result, held)} {_kinds(result)}".rstrip()


def _of_tasks(result: Battery) -> str:
    return f" of {counted(result.n_clusters, 'task')}" if result.unit == "task" else ""


def _by_tokens(result: Battery) -> str:
    slope = next((one for one in result.axes if one.per == "100k tokens"), None)
    if slope is None or slope.estimate.value is None:
        return ""
    return f" (per 100k tokens they {moved(slope)}, {limits_in_words(slope)})"


def _verdict(result: Battery, held: Slope) -> str:
    found = result.verdict
    if not held.controls:
        beside = NOTHING_HELD
    else:
        at_equal = f"at equal {' and '.join(held.controls)}"
        beside = f"{at_equal} they {moved(held)} ({limits_in_words(held)})"
    known = held.estimate.value is not None
    if found.verdict == "finding":
        joined = beside if beside == NOTHING_HELD else f"and {beside}"
        return f", {joined}: a finding."
    settle = "" if found.settle is None else f" What would settle it: {found.settle}."
    if found.verdict == "clean":
        return f"; {found.why}: clean."
    if found.why.startswith("told") and known:
        return f", but {beside}: the finding does not survive its controls.{settle}"
    return f": inconclusive, {found.why}.{settle}"


def _kinds(result: Battery) -> str:
    found = [one for one in result.signatures.each if one.verdict == "finding"]
    if not found:
        return ""
    said = ", ".join(
        f"{'more' if one.way == 'rises' else 'fewer'} {_SHORT[one.name]} late" for one in found
    )
    return f"Told apart: {said}."


_SHORT = {"errors": "errors", "flailing": "neutral turns", "stuck": "loops"}


def rate_sentence(rate: Rate) -> str:
    """`0.287 [0.25, 0.324] of graded turns fail`, with Wilson's limits beside."""
    verb = RATE_WORDS[rate.name]
    if rate.pooled.value is None or rate.wilson is None:
        return f"how many graded turns {verb} is not known: {rate.pooled.reason}"
    return (
        f"{shown(rate.pooled)} of graded turns {verb}: {rate.wilson.n_successes:,} of "
        f"{rate.wilson.n:,} (as if turns were independent "
        f"{interval(rate.wilson.low, rate.wilson.high)}); mean over runs {shown(rate.by_run)}"
    )


def looked_at(result: Battery) -> Iterator[tuple[str, str]]:
    """What the battery is of, and what was left out."""
    tasks = f" of {counted(result.n_clusters, 'task')}" if result.unit == "task" else ""
    yield "graded", f"{counted(result.n_turns, 'turn')} of {counted(result.n_runs, 'run')}{tasks}."
    if result.excluded:
        left_out = "; ".join(f"{reason}: {n:,}" for reason, n in result.excluded.items())
        yield "left out", f"{left_out}."
    for warning in result.warnings:
        yield "mind", f"{warning}."


def slope_facts(result: Battery) -> Iterator[tuple[str, str]]:
    """Who owns the default slope, what has no p, and what to mind."""
    weight = result.slopes[0].weight
    if weight is not None:
        yield (
            "who owns it",
            (
                f"{counted(result.slopes[0].estimate.n_runs, 'run')} tell as much as "
                f"{weight.effective_runs:.1f} of equal weight; {weight.n_own_half:,} of them hold "
                f"half of it, {visible(weight.largest_run, NAME)} alone {weight.largest_share:.0%}."
            ),
        )
    for slope in (*result.slopes, *result.axes):
        said = [slope.no_p, *slope.estimate.warnings, slope.estimate.reason]
        for why in dict.fromkeys(one for one in said if one):
            yield slope.title, f"{why}."


def confound_facts(result: Battery) -> Iterator[tuple[str, str]]:
    """What phases explain, what length does, and why the outcome is no control."""
    phase = result.phase
    explained = phase.share_explained
    if phase.share_explore is not None:
        told = (
            f"; turn and looking correlate by {phase.correlation:.2f} within runs"
            if phase.correlation is not None
            else ""
        )
        yield "phase", f"{phase.share_explore:.0%} of {phase.n_turns:,} turns only look{told}."
    if explained.value is None:
        yield "explained by phase", f"not known: {explained.reason}."
    else:
        limits = interval(explained.low, explained.high, digits=2)
        yield "explained by phase", f"{explained.value:.0%} of the slope, {limits}."
    yield "length", f"{slope_sentence(result.length.difference)}."
    if result.outcome.difference.estimate.value is not None:
        yield "outcome", f"{result.outcome.warning}."


def signature_words(one: Signature) -> str:
    """The verdict in a cell."""
    return one.verdict if one.way is None else f"{one.verdict}: {one.way}"


def dependence_facts(result: Battery) -> Iterator[tuple[str, str]]:
    """Do failures come together, and how often Ljung-Box rejects."""
    for one in result.dependence:
        yield f"keeping {one.kept}", _dependence(one)
    for test in result.serial:
        yield f"Ljung-Box, lag {test.lags}", _serial(test)


def _dependence(one: Dependence) -> str:
    found = one.found
    if found is None:
        return f"not known: {one.why}."
    return (
        f"failures come {found.mean_length:.2f} in a row; in another order "
        f"{found.expected:.2f} {interval(found.low, found.high, digits=2)} (p "
        f"{p_words(found.p)}, {found.n_resamples:,} shuffles)."
    )


def _serial(test: SerialDependence) -> str:
    if test.rejected.value is None:
        return f"{test.of}: not known, {test.rejected.reason}."
    correlation = "" if test.mean_correlation is None else signed(test.mean_correlation)
    return (
        f"{test.of}: {shown(test.rejected)} of {counted(test.n_tested, 'run')} reject at .05; "
        f"neighbours correlate by {correlation} on average."
    )


def first_error_facts(result: Battery) -> Iterator[tuple[str, str]]:
    """When runs first fail."""
    found = result.first_error
    yield (
        "runs",
        f"{found.n_events:,} of {found.n_runs:,} fail; the others go on to their last grade.",
    )
    for q in found.quantiles:
        limits = interval(q.low, q.high, digits=0)
        at = f"turn {q.turn:g} {limits}" if q.turn is not None else f"not reached, {limits}"
        yield f"{q.p:.0%} of runs", f"{at}."


def missing_facts(found: MissingGradesTest) -> Iterator[tuple[str, str]]:
    """Where grades are missing, and how far they could move the slope."""
    yield "missing grades", f"{found.n_missing:,} of {found.n_tried:,} that were tried."
    if not found.n_missing:
        return
    slope = found.by_turn.estimate
    change = "not known" if slope.value is None else f"{signed(10 * slope.value)} per 10 turns"
    yield "by turn", f"{change}, p {p_words(found.by_turn.p)}: {found.verdict}."
    low, high = found.lowest_slope.value, found.highest_slope.value
    if low is not None and high is not None:
        reach = "and could be 0" if found.overturns else "and has one sign throughout"
        yield (
            "whatever they were",
            (
                f"the slope lies between {signed(10 * low)} and {signed(10 * high)} per 10 turns, "
                f"{reach}."
            ),
        )


def amount_or_dash(value: float | None) -> str:
    """Two decimals of a length, or a dash."""
    return amount(value, digits=2)
