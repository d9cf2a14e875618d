"""The words on top: where quality starts and ends, how sure that is, when it goes bad."""

from __future__ import annotations

from dataclasses import dataclass

from turncurve.analysis.degradation import Curve, CurvePoint
from turncurve.analysis.first_error import FirstError
from turncurve.report.document import Report
from turncurve.report.figures import ABSENT, amount, counted, interval, place, signed
from turncurve.stats.estimate import Estimate

FEW_RUNS = 5
FEW_OF_ALL = 0.2
"""A bucket speaks for the runs if it has 5 of them, or half where they are few, and a fifth."""
LIKELY = 0.2
"""A chance of a false alarm from which the headline mentions it."""
NOTHING = "nothing can stand for quality: "

SUBJECTS = {
    "grades": "The share of failing turns",
    "rule": "The share of turns that fail by their signals",
    "rubric": "Quality",
    "tool_success": "The share of tool calls that work",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One plain sentence with its n and interval, and the sentences that go with it."""

    sentence: str
    details: tuple[str, ...] = ()


def headline(report: Report) -> Headline:
    """What the report says of quality, for one run or for many."""
    if report.summary.n_turns == 0:
        runs = counted(report.summary.n_runs, "run")
        return Headline(sentence=f"Nothing to report: {runs}, and not one turn.")
    ends = curve_ends(report.curves[0]) if report.quality.name and report.curves else None
    if ends is None:
        why = report.quality.why.removeprefix(NOTHING)
        return Headline(sentence=f"No quality signal: {why}.", details=_asked_in_vain(report))
    subject = SUBJECTS[report.quality.source]
    sentence, *details = _change(subject, report.curves[0], ends, quality_slope(report))
    rolling = next((e for e in report.first_errors if e.rule == "rolling_quality"), None)
    if rolling is not None and rolling.n_runs > 0:
        details.append(_goes_bad(rolling))
    return Headline(sentence=sentence, details=(*details, *_asked_in_vain(report)))


def _asked_in_vain(report: Report) -> tuple[str, ...]:
    """The signals that were asked for and have no value, and why."""
    absent = {gap.signal: gap for gap in report.missing if gap.n_missing == gap.n_turns}
    return tuple(
        f"{info.title} was asked for and has no value: {'; '.join(absent[name].reasons)}."
        for name, info in report.signals.items()
        if name in absent
    )


def curve_ends(curve: Curve) -> tuple[CurvePoint, CurvePoint] | None:
    """The first bucket and the last one that has enough runs to speak of; None without any."""
    points = curve.points
    if not points:
        return None
    most = max(point.n_runs for point in points)
    enough = max(FEW_OF_ALL * most, min(FEW_RUNS, most / 2))
    kept = [point for point in points if point.n_runs >= enough]
    return kept[0], kept[-1]


def quality_slope(report: Report) -> Estimate | None:
    """The mean change of the quality signal by turn within a run; None where it is not known."""
    mirrored = report.quality.source == "tool_success"
    name = "tool_error_rate" if mirrored else report.quality.name
    found = next((trend.slope for trend in report.trends if trend.signal == name), None)
    if found is None or found.value is None:
        return None
    return _negated(found) if mirrored else found


def _negated(slope: Estimate) -> Estimate:
    assert slope.value is not None
    return Estimate(
        estimand=slope.estimand,
        value=-slope.value,
        std_error=slope.std_error,
        low=None if slope.high is None else -slope.high,
        high=None if slope.low is None else -slope.low,
        level=slope.level,
        n_turns=slope.n_turns,
        n_runs=slope.n_runs,
    )


def _change(
    subject: str, curve: Curve, ends: tuple[CurvePoint, CurvePoint], slope: Estimate | None
) -> tuple[str, ...]:
    first, last = ends
    if first is last:
        why = "there is one bucket, so no curve"
        if len(curve.points) > 1:
            why = "no later bucket has enough runs to compare"
        return (f"{subject} is {_at(curve, first)}; {why}.",)
    if curve.n_runs == 1:
        return (
            f"{subject} {_of_one_run(curve, first, last)}.",
            "One run gives no interval, and so no verdict.",
        )
    between = f"from {_at(curve, first)} to {_at(curve, last)}"
    if slope is None or slope.low is None or slope.high is None or slope.value is None:
        return f"{subject} goes {between}.", "The slope within runs has no interval."
    rate = f"{_per_turn(slope.value)} a turn [{_per_turn(slope.low)}, {_per_turn(slope.high)}]"
    n = f"n = {counted(slope.n_runs, 'run')}"
    within = f"Within runs it changes by {rate}, {n}."
    if slope.low <= 0 <= slope.high:
        return f"No clear change: {_lower(subject)} goes {between}.", within
    verb = _verb(slope.value)
    if (last.value - first.value) * slope.value > 0:
        return f"{subject} {verb} {between}.", within
    return (
        f"{subject} {verb} within runs, by {rate}, {n}.",
        f"The mean over the runs still going goes {between}, as other runs drop out.",
    )


def _of_one_run(curve: Curve, first: CurvePoint, last: CurvePoint) -> str:
    start, end = amount(first.value, digits=2), amount(last.value, digits=2)
    if start == end:
        return f"is {start} in {_place(curve, first)} and in {_place(curve, last)}"
    return f"goes from {_at(curve, first)} to {end} ({_place(curve, last)})"


def _verb(difference: float) -> str:
    return "falls" if difference < 0 else "rises"


def _lower(subject: str) -> str:
    return subject[0].lower() + subject[1:]


def _per_turn(value: float) -> str:
    return signed(value)


def _at(curve: Curve, point: CurvePoint) -> str:
    ends = interval(point.low, point.high, digits=2)
    value = amount(point.value, digits=2) + ("" if ends == ABSENT else f" {ends}")
    return f"{value} ({_place(curve, point)}, n = {counted(point.n_runs, 'run')})"


def _place(curve: Curve, point: CurvePoint) -> str:
    return place(point.start, point.end, curve.axis)


def _goes_bad(result: FirstError) -> str:
    means = {
        "error": f"the share of good turns among {result.window}",
        "quality": "the rolling mean",
    }
    mean = means.get(result.signal or "", f"the mean of {result.window} turns")
    below = f"below {result.threshold:g}"
    if result.n_runs == 1:
        turn = result.first_turn
        when = f"is never {below}" if turn is None else f"is first {below} at turn {turn:g}"
        return f"{mean[0].upper()}{mean[1:]} {when}{_by_chance(result)}."
    of_runs = f"{result.n_events:,} of {counted(result.n_runs, 'run')}"
    seen = f"In {of_runs} {mean} is {below} at some turn"
    median = next((q for q in result.quantiles if q.p == 0.5), None)
    if median is None or median.turn is None:
        return f"{seen}{_by_chance(result)}."
    ends = interval(median.low, median.high, digits=0)
    by = f"turn {median.turn:g}" + ("" if ends == ABSENT else f" {ends}")
    others = "; counting the others for as long as they lasted" if result.n_censored else ""
    return f"{seen}{others}, the median is {by}{_by_chance(result)}."


def _by_chance(result: FirstError) -> str:
    chance = result.false_alarm
    if chance is None or chance.value is None or chance.value < LIKELY:
        return ""
    return f"; a run in which nothing changes would do so with a chance of {chance.value:.2f}"
