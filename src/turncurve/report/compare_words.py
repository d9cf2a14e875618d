"""A comparison of two conditions in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.compare import Comparison, SideSummary
from turncurve.analysis.comparison.amounts import Amount
from turncurve.analysis.comparison.difference import Difference
from turncurve.analysis.comparison.place import Place
from turncurve.analysis.comparison.suite_error import SuiteError
from turncurve.report.figures import amount, counted, interval, signed
from turncurve.report.layout import visible
from turncurve.stats.estimate import Estimate

LONGEST_NAME = 32


def name_of(side: SideSummary) -> str:
    """A condition's name, short enough for a sentence; the end of a long one tells it apart."""
    name = visible(side.name)
    return name if len(name) <= LONGEST_NAME else f"…{name[-LONGEST_NAME + 1 :]}"


def headline(result: Comparison) -> str:
    """The verdict in a sentence, the difference over turns, and how far a cliff or knee moved."""
    return " ".join(headline_parts(result)).rstrip()


def headline_parts(result: Comparison) -> tuple[str, str]:
    """The verdict in a sentence, and the sentences after it."""
    a, b = name_of(result.a), name_of(result.b)
    verdict, difference = result.judged.verdict, result.difference
    if difference is None or verdict in ("not comparable", "too few"):
        return f"{b} cannot be compared with {a} turn by turn: {result.judged.why}.", ""
    opening = {
        "worse": f"{b} is worse than {a}",
        "better": f"{b} is better than {a}",
        "mixed": f"{b} is both worse and better than {a}:",
        "different": f"{b} differs from {a}",
    }.get(verdict, f"No difference between {b} and {a} is seen")
    rest = f"{_over_turns(result, difference)}{_moved(result)}"
    return f"{opening}{_where(result, difference)}.", rest


def _where(result: Comparison, difference: Difference) -> str:
    """Where the verdict is sure: ` at 6 of 30 turns, first at turn 15, and over all turns`."""
    found = result.judged
    n = sum(point.difference is not None for point in difference.points)
    what = "turns" if difference.bucket == 1 else "buckets of turns"
    parts = [
        f"{f'{way} ' if found.verdict == 'mixed' else ''}at {len(turns):,} of {n:,} {what}, first "
        f"at turn {turns[0]:,}"
        for way, turns in (
            ("worse", found.worse_at), ("better", found.better_at), ("", found.different_at)
        )
        if turns
    ]  # fmt: skip
    if found.over_turns is not None:
        way = f"{found.over_turns} " if found.verdict == "mixed" else ""
        parts.append(f"{way}in the mean over turns 1 to {difference.horizon:,}")
    return f" {', and '.join(parts)}" if parts else ""


def _over_turns(result: Comparison, difference: Difference) -> str:
    area = difference.area
    where = f"over turns 1 to {difference.horizon:,}, {counted(area.n_clusters, 'scenario')},"
    limits = interval(area.low, area.high)
    said = f"{_title(result)} {where} differs by {signed(area.value)} {limits}"
    if area.low is None or area.high is None or result.judged.over_turns is not None:
        return f"{said}."
    if area.low > 0 or area.high < 0:
        return (
            f"{said} as a mean chosen beforehand; together with all turns, as judged here, the "
            f"limits are {interval(difference.area_band_low, difference.area_band_high)}."
        )
    return f"{said}."


def _title(result: Comparison) -> str:
    name = (result.signal or "").replace("_", " ")
    return name[:1].upper() + name[1:]


def _moved(result: Comparison) -> str:
    places = result.places
    if places is None or places.moved.value is None:
        return ""
    size = int(places.moved.value)
    way = (
        f"{abs(size)} {'turn' if abs(size) == 1 else 'turns'} {'later' if size > 0 else 'earlier'}"
    )
    limits = interval(places.moved.low, places.moved.high, digits=0)
    moved = "stays" if size == 0 else f"comes {way}"
    return (
        f" Its {places.what} {moved}: turn {places.b.turn:,}, was {places.a.turn:,}; moved by "
        f"{size:+d} {limits}{'' if places.moved.low is not None else ' (no interval)'}."
    )


def compared(result: Comparison) -> Iterator[tuple[str, str]]:
    """What was compared, and what was left out."""
    yield "signal", f"{result.signal or 'none'}: {result.why_signal}."
    yield (
        "pairs",
        f"{counted(result.n_scenarios, 'scenario')} that both have"
        + (", run by run of the same trial." if result.pair_by == "trial" else "."),
    )
    for letter, side in (("A", result.a), ("B", result.b)):
        trials = _trials(side)
        alone = ""
        if side.n_alone:
            named = ", ".join(visible(one, 40) for one in side.alone[:3])
            alone = (
                f" Left out: {counted(side.n_alone, 'scenario')} that the other has not ({named}"
                f"{', ...' if side.n_alone > 3 else ''})."
            )
        yield (
            letter,
            f"{visible(side.name)}: {counted(side.n_runs, 'run')}, {trials}, up to "
            f"{counted(side.n_turns, 'turn')}.{alone}{_excluded(side)}",
        )


def _trials(side: SideSummary) -> str:
    if side.fewest_trials == side.most_trials:
        return f"{side.most_trials:,} of each scenario"
    return f"{side.fewest_trials:,} to {side.most_trials:,} of each scenario"


def _excluded(side: SideSummary) -> str:
    if not side.excluded:
        return ""
    return f" Runs left out: {'; '.join(f'{why}: {n:,}' for why, n in side.excluded.items())}."


def over_turns(result: Comparison) -> Iterator[tuple[str, str]]:
    """The difference over turns, who is left, and the margin."""
    difference, left = result.difference, result.who_is_left
    if difference is None or left is None:
        yield "difference", f"none: {result.no_difference or result.judged.why}."
        return
    area = difference.area
    yield (
        f"turns 1 to {difference.horizon:,}",
        f"{signed(area.value)} {interval(area.low, area.high)} for this mean by itself; with all "
        f"turns {interval(difference.area_band_low, difference.area_band_high)}.",
    )
    yield "run again", suite_words(difference.area_suite, difference.no_area_suite)
    yield "who is left", f"{left.verdict}: {left.why}."
    yield "same runs", f"over runs that last: {_of(left.balanced)}."
    yield "ends counted", f"failures at the floor, successes at their last: {_of(left.composite)}."
    yield (
        "reach the end",
        f"share of runs that get to turn {difference.horizon:,}: {_of(left.reach)}.",
    )
    margin = difference.noninferiority
    if margin is not None:
        word = "shown" if margin.shown else "not shown"
        yield (
            "margin",
            f"that B is no worse by more than {margin.margin:g} is {word}: it holds at "
            f"{margin.n_shown:,} of {margin.n_points:,} turns; surely worse at {margin.n_worse:,}.",
        )


def suite_words(suite: SuiteError | None, why_not: str | None) -> str:
    """What running the same scenarios again would give."""
    if suite is None:
        return f"whether these scenarios would agree again is not known: {why_not}."
    trials = f"{suite.n_trials_a:,} and {suite.n_trials_b:,} trials"
    return (
        f"on these scenarios again: {signed(suite.value)} {interval(suite.low, suite.high)}, over "
        f"{trials} of {counted(suite.n_scenarios, 'scenario')}."
    )


def _of(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"not known ({estimate.reason})"
    limits = interval(estimate.low, estimate.high)
    return f"{signed(estimate.value)} {limits}, {counted(estimate.n_clusters, 'scenario')}"


def places(result: Comparison) -> Iterator[tuple[str, str]]:
    """Cliff or knee of either, and the movement."""
    found = result.places
    if found is None:
        return
    yield "A", _place(found.a)
    yield "B", _place(found.b)
    moved = found.moved
    if moved.value is None:
        yield "moved", f"{moved.reason}."
    else:
        limits = interval(moved.low, moved.high, digits=0)
        why = f" ({moved.warnings[0]})" if moved.warnings else ""
        yield (
            "moved",
            f"{moved.value:+.0f} {limits} turns{why}, the interval being that of the movement "
            "itself.",
        )


def _place(place: Place) -> str:
    if place.verdict is None:
        return f"its shape cannot be told: {place.reason}."
    if place.turn is None:
        return f"{place.verdict}."
    turns = place.turns_confidence_set
    maybe = f" (it may be {min(turns):,} to {max(turns):,})" if len(turns) > 1 else ""
    size = f"{signed(place.size)} {interval(place.low, place.high)}"
    return f"{place.verdict} at turn {place.turn:,}{maybe}: {size}."


def first_error(result: Comparison) -> Iterator[tuple[str, str]]:
    """The time to the first error, and its ratio."""
    found = result.first_error
    yield "rule", f"{found.why}."
    if found.ratio.value is None:
        yield "ratio", f"not known: {found.ratio.reason}."
        return
    yield (
        "mean turn",
        f"A {amount(found.a, digits=1)}, B {amount(found.b, digits=1)}, runs without one by turn "
        f"{found.horizon:,} counting as that; errors in {found.n_events_a:,} of "
        f"{found.n_runs_a:,} and {found.n_events_b:,} of {found.n_runs_b:,} runs.",
    )
    limits = interval(found.ratio.low, found.ratio.high, digits=2)
    why = f" ({found.ratio.warnings[0]})" if found.ratio.low is None else ""
    yield (
        "ratio",
        f"B / A {found.ratio.value:.2f} {limits}{why} over "
        f"{counted(found.n_scenarios, 'scenario')}; below 1, errors come sooner.",
    )


def limits(result: Comparison) -> Iterator[tuple[str, str]]:
    """What the numbers do not say."""
    yield (
        "units",
        "intervals and band are over scenarios: they say what other scenarios of the kind would "
        "give. Whether these would agree again stands apart, as run again.",
    )
    for note in result.notes:
        yield "note", f"{note}."
    yield "cause", "that B differs does not say what in B does it, unless nothing else was changed."


def change_interval(low: float | None, high: float | None) -> str:
    """The limits of a change, each with its sign and two digits: a scale may be small."""
    if low is None or high is None:
        return interval(low, high)
    return f"[{signed(low)}, {signed(high)}]"


def change_words(one: Amount) -> str:
    """The change of a figure with its interval; a dash where there is none."""
    change = one.change
    if change.value is None:
        return "–"
    if one.kind == "difference":
        return f"{signed(change.value)} {interval(change.low, change.high)}"
    return f"x{change.value:.2f} {interval(change.low, change.high, digits=2)}"
