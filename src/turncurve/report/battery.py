"""The battery in words, tables and drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turncurve.analysis.battery import Battery
from turncurve.analysis.battery_rates import RunRates
from turncurve.analysis.slope import Slope
from turncurve.report.battery_words import (
    RATE_WORDS,
    confound_facts,
    dependence_facts,
    first_error_facts,
    looked_at,
    missing_facts,
    sentence,
    signature_words,
    slope_facts,
)
from turncurve.report.blocks import Block, Facts, Picture, Said, Table
from turncurve.report.estimate_words import level_of, limits_of, value_of
from turncurve.report.figures import ABSENT, amount, interval, signed
from turncurve.report.forest import ForestRow, forest_svg
from turncurve.report.layout import visible
from turncurve.report.slope_words import (
    TURNS,
    header_of,
    limits_in_words,
    p_words,
    slope_cells,
    step_of,
)

TITLE = "does degradation survive its confounds"
SHOWN = 10
"""Runs in the table; JSON has them all."""
NAME = 20
"""Characters of a name in a table."""
_PER = f"change of the failing share per {TURNS} turns"


def battery_blocks(result: Battery) -> tuple[Block, ...]:
    """The finding, the slopes and what they survive, then everything else that steps say."""
    return tuple(_blocks(result))


def _blocks(result: Battery) -> Iterator[Block]:
    yield Said(sentence(result))
    yield Facts(title="What was looked at", pairs=tuple(looked_at(result)))
    yield _slope_table("Slopes", "model", result.slopes, f"{TURNS} turns")
    yield _forest("Slopes, drawn", [*result.slopes, *_confounds(result)])
    yield Facts(title="Behind the slopes", pairs=tuple(slope_facts(result)))
    for slope in result.axes:
        if slope.estimate.value is not None:
            yield _slope_table(f"By {slope.per}", "model", [slope], step_of(slope)[1])
    yield _slope_table("What goes with it", "turns", _confounds(result), f"{TURNS} turns")
    yield Facts(title="Confounds", pairs=tuple(confound_facts(result)))
    if result.groups.each:
        yield _groups_table(result)
        yield _groups_forest(result)
    yield _signatures_table(result)
    yield _rates_table(result)
    yield _stretches_table(result)
    yield Facts(title="Do failures bring failures", pairs=tuple(dependence_facts(result)))
    yield Facts(title="First failure", pairs=tuple(first_error_facts(result)))
    yield Facts(title="Missing grades", pairs=tuple(missing_facts(result.missing)))
    yield _runs_table(result.runs)
    yield Facts(title="Limits", pairs=tuple(_limits(result)))


def _confounds(result: Battery) -> list[Slope]:
    phase, length, outcome = result.phase, result.length, result.outcome
    found = [
        *(phase.explore, phase.act, phase.difference, phase.standardised),
        *(length.between, length.difference),
        *(outcome.succeeded, outcome.failed, outcome.difference),
    ]
    return [slope for slope in found if slope.estimate.value is not None]


def _slope_table(title: str, first: str, slopes: Sequence[Slope], per: str) -> Table:
    rows = tuple((slope.title, *slope_cells(slope)) for slope in slopes)
    header = header_of(slopes[0], first, per) if slopes else (first, f"per {per}", "", "p", "df")
    return Table(title=title, header=header, rows=rows, align="<>>>>")


def _forest(title: str, slopes: Sequence[Slope]) -> Picture:
    rows = [
        ForestRow(
            label=slope.title,
            value=_times(slope, slope.estimate.value),
            low=_times(slope, slope.estimate.low),
            high=_times(slope, slope.estimate.high),
            said=_said(slope),
            second=i >= 2,
        )
        for i, slope in enumerate(slopes)
    ]
    svg = forest_svg(rows, label="Slopes of the failing share with intervals", axis=_PER)
    return Picture(title=title, svg=svg, caption=_CAPTION)


_CAPTION = (
    "Filled: the default slope and the one at equal complexity and phase. Hollow: other models, "
    "and what goes with the slope. An interval that holds 0 is no sign of no change."
)


def _times(slope: Slope, value: float | None) -> float | None:
    return None if value is None else value * step_of(slope)[0]


def _said(slope: Slope) -> str:
    if slope.estimate.value is None:
        return "not known"
    return f"p {p_words(slope.p)}" if slope.p is not None else "no p value"


def _groups_table(result: Battery) -> Table:
    groups = result.groups
    rows = tuple(
        (
            visible(one.name, NAME),
            f"{one.n_runs:,}",
            *slope_cells(one.slope)[:3],
            p_words(one.q),
            ABSENT if one.difference is None else p_words(one.difference.p),
        )
        for one in groups.each
    )
    first = visible(groups.each[0].name, NAME)
    return Table(
        title=f"By {groups.by}",
        header=(str(groups.by), "runs", f"{TURNS} turns", "interval", "p", "q", "differs"),
        rows=rows,
        align="<>>>>>>",
        notes=(
            f"q: p with all {groups.n_tested:,} tested looked at (Benjamini-Hochberg). differs: p "
            f"of the difference from {first}; one that is told from 0 beside one that is not is no "
            "difference. JSON has the slopes at equal complexity and phase.",
        ),
    )


def _groups_forest(result: Battery) -> Picture:
    rows = [
        row
        for one in result.groups.each
        for row in (
            ForestRow(
                label=one.name,
                value=_times(one.slope, one.slope.estimate.value),
                low=_times(one.slope, one.slope.estimate.low),
                high=_times(one.slope, one.slope.estimate.high),
                said=_said(one.slope),
            ),
            ForestRow(
                label="complexity and phase held",
                value=_times(one.controlled, one.controlled.estimate.value),
                low=_times(one.controlled, one.controlled.estimate.low),
                high=_times(one.controlled, one.controlled.estimate.high),
                said=_said(one.controlled),
                second=True,
            ),
        )
    ]
    svg = forest_svg(rows, label=f"Slopes by {result.groups.by} with intervals", axis=_PER)
    caption = (
        "Filled: turn alone. Hollow: at equal complexity and phase. Intervals are not adjusted."
    )
    return Picture(title=f"By {result.groups.by}, drawn", svg=svg, caption=caption)


def _signatures_table(result: Battery) -> Table:
    rows = []
    for one in result.signatures.each:
        slope = one.slope.estimate
        by_turn = ABSENT if slope.value is None else signed(TURNS * slope.value)
        shares = (value_of(one.early), value_of(one.late), limits_of(one.change))
        cells = (by_turn, p_words(one.p_adjusted), signature_words(one))
        rows.append((one.name, *shares, *cells))
    margin, span = result.signatures.margin, result.signatures.span
    return Table(
        title="Three ways to get worse",
        header=("", "early", "late", "late - early", f"{TURNS} turns", "p", "verdict"),
        rows=tuple(rows),
        align="<>>>>><",
        notes=(
            "errors: turns that fail. flailing: neither fail nor get on nor loop. stuck: go round "
            "in circles. Early and late are the first and last third of a run; p counts all three "
            f"(Holm). clean: within {margin:g} over {span:,.0f} turns.",
        ),
    )


def _rates_table(result: Battery) -> Table:
    level = level_of(result.rates[0].pooled)
    rows = tuple(
        (
            RATE_WORDS[rate.name],
            ABSENT if rate.wilson is None else f"{rate.wilson.n_successes:,}/{rate.wilson.n:,}",
            value_of(rate.pooled),
            limits_of(rate.pooled),
            ABSENT if rate.wilson is None else interval(rate.wilson.low, rate.wilson.high),
            value_of(rate.by_run),
        )
        for rate in result.rates
    )
    return Table(
        title="Graded turns that",
        header=("", "turns", "share", f"{level} interval", "Wilson", "mean of runs"),
        rows=rows,
        align="<>>>>>",
        notes=(
            "Wilson takes turns as independent, which they are not: it is what published tables "
            f"show. The interval before it is over {result.unit}s.",
        ),
    )


def _stretches_table(result: Battery) -> Table:
    rows = tuple(
        (
            one.kind.replace("_", " "),
            f"{one.n:,}",
            f"{one.n_runs_with:,}",
            amount(one.mean_length.value, digits=2),
            interval(one.mean_length.low, one.mean_length.high, digits=2),
            value_of(one.share_longer),
            ABSENT if one.longest is None else f"{one.longest:,}",
            f"{one.n_censored:,}",
        )
        for one in result.stretches
    )
    why = tuple(f"{one.kind.replace('_', ' ')}: {one.why}." for one in result.stretches if one.why)
    return Table(
        title="How long it lasts",
        header=("", "n", "runs", "mean", "interval", "> 1 turn", "longest", "cut off"),
        rows=rows,
        align="<>>>>>>>",
        notes=(
            *why,
            "A cascade is a failure and those that follow from it. cut off: those that reach their "
            "run's last graded turn and may have gone on, which makes the mean too low.",
        ),
    )


def _runs_table(runs: Sequence[RunRates]) -> Table:
    worst = sorted(runs, key=lambda run: (-run.n_fail / run.n_graded, -run.n_graded))[:SHOWN]
    rows = tuple(
        (
            visible(run.run, NAME),
            f"{run.n_fail:,}/{run.n_graded:,}",
            interval(run.error_low, run.error_high, digits=2),
            ABSENT if run.first_error is None else f"{run.first_error:,}",
            ABSENT if run.n_looping is None else f"{run.n_looping:,}",
            ABSENT if run.slope is None else signed(TURNS * run.slope),
        )
        for run in worst
    )
    more = len(runs) - len(worst)
    return Table(
        title="Runs that fail most",
        header=("run", "failing", "Wilson", "first", "looping", f"per {TURNS} turns"),
        rows=rows,
        align="<>>>>>",
        notes=(f"JSON has the other {more:,}.",) if more > 0 else (),
    )


def _limits(result: Battery) -> Iterator[tuple[str, str]]:
    yield (
        "cause",
        "a slope within runs goes with the turn; runs cut and padded at equal turns tell why.",
    )
    yield (
        "grader",
        (
            "a grader that sees less late in a run bends every slope here: hold its grades against "
            "labels (turncurve validate)."
        ),
    )
    yield (
        "complexity",
        (
            "is judged by the grader that judges failing, so holding it may take out, or put in, "
            "what is its own error."
        ),
    )
    if result.verdict.verdict == "clean":
        yield "clean", f"{limits_in_words(result.slopes[0])} per {TURNS} turns is not ruled out."
