"""A comparison of two conditions as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turncurve import __version__
from turncurve.analysis.compare import Comparison
from turncurve.analysis.comparison.amounts import Amount
from turncurve.analysis.comparison.difference import Difference, DifferencePoint
from turncurve.analysis.comparison.signals import SignalMove
from turncurve.report import compare_words as words
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import ABSENT, amount, interval, signed, span
from turncurve.report.plain import plain

SCHEMA_VERSION = "1.0"
TITLE = "two conditions compared"
SHOWN = 60
"""Turns, or buckets, in the table; JSON has them all."""
WIDE = 10.0
"""Differences from here on are shown with fewer digits."""
MOST_NAMES = 1_000
"""Names of scenarios of one side alone in JSON."""


def compare_json(result: Comparison) -> dict[str, Any]:
    """The result as plain values, led by the verdict."""
    whole = plain(result)
    found = whole.pop("judged")
    for side in ("a", "b"):
        whole[side]["alone"] = whole[side]["alone"][:MOST_NAMES]
    return {
        "schema_version": SCHEMA_VERSION,
        "turncurve_version": __version__,
        "verdict": found.pop("verdict"),
        "sentence": words.headline(result),
        **found,
        **whole,
    }


def compare_blocks(result: Comparison) -> tuple[Block, ...]:
    """The verdict in a sentence, the difference by turn and over turns, and what else changed."""
    return tuple(_blocks(result))


def _blocks(result: Comparison) -> Iterator[Block]:
    yield Said(words.headline(result))
    yield Facts(title="What was compared", pairs=tuple(words.compared(result)))
    yield Facts(title="Difference over turns, B - A", pairs=tuple(words.over_turns(result)))
    if result.difference is not None:
        yield by_turn_table(result.difference)
    if result.places is not None:
        yield Facts(title="Cliff or knee", pairs=tuple(words.places(result)))
    yield Facts(title="First error", pairs=tuple(words.first_error(result)))
    yield amounts_table(result)
    yield signals_table(result)
    yield Facts(title="Limits", pairs=tuple(words.limits(result)))


def by_turn_table(difference: Difference) -> Table:
    """Both conditions and their difference at every turn, with the naive interval and the band."""
    level = f"{100 * difference.level:g} %"
    shown = difference.points[:SHOWN]
    with_margin = difference.noninferiority is not None
    largest = max((abs(p.band_high or 0.0) for p in shown), default=0.0)
    digits = 2 if with_margin or largest >= WIDE else 3
    notes = [
        f"Alone: {level} interval of that turn by itself. Band: holds at all turns and for the "
        f"mean over turns together, {difference.n_tested:,} in the family"
        + (
            f", {difference.n_resamples:,} draws."
            if difference.n_resamples
            else ", by Bonferroni's inequality."
        )
    ]
    if len(difference.points) > SHOWN:
        notes.append(f"{SHOWN} of {len(difference.points):,} are shown; JSON has all.")
    few = [point for point in difference.points if point.difference is None]
    if few:
        notes.append(f"Without a difference: {len(few):,}, first turn {few[0].start:,}, where "
                     f"{few[0].reason}.")  # fmt: skip
    alike = sum(point.difference is not None and point.low is None for point in shown)
    if alike:
        notes.append(f"Without an interval: {alike:,}, where all pairs agree.")
    return Table(
        title="Difference by turn",
        header=("turn", "A", "B", "B - A", "alone", "band", "pairs", *(["margin"] * with_margin)),
        rows=tuple(_row(point, digits, with_margin=with_margin) for point in shown),
        align=">>>>>>>" + "<" * with_margin,
        notes=tuple(notes),
    )


def _row(point: DifferencePoint, digits: int, *, with_margin: bool) -> tuple[str, ...]:
    return (
        span(point.start, point.end),
        amount(point.a, digits=2),
        amount(point.b, digits=2),
        signed(point.difference),
        interval(point.low, point.high, digits=digits),
        interval(point.band_low, point.band_high, digits=digits),
        f"{point.n_pairs:,}",
        *([point.margin or ABSENT] if with_margin else []),
    )


def amounts_table(result: Comparison) -> Table:
    """Success, cost, tokens and turns of both, and what changed."""
    known = [one for one in result.amounts if one.change.value is not None]
    missing = [one for one in result.amounts if one.change.value is None]
    return Table(
        title="Runs as a whole",
        header=("", "A", "B", "change", "scenarios"),
        rows=tuple(_amount_row(one) for one in known),
        align="<>>>>",
        notes=tuple(f"{one.name}: absent, {one.change.reason}." for one in missing),
    )


def _amount_row(one: Amount) -> tuple[str, ...]:
    return (
        one.name,
        _figure(one, one.a.value),
        _figure(one, one.b.value),
        words.change_words(one),
        f"{one.change.n_clusters:,}",
    )


def _figure(one: Amount, value: float | None) -> str:
    return amount(value, one.unit, digits=1 if one.unit == "turns" else 3)


def signals_table(result: Comparison) -> Table:
    """The signals, those that moved first at the top."""
    moves = result.signals
    untested = [one for one in moves.signals if one.p is None]
    notes = [
        f"{moves.n_moved:,} of {moves.n_tested:,} tested moved; q holds the share of false ones to "
        f"{1 - result.settings.level:.2g} (Benjamini-Hochberg). A band pays for its turns and for "
        "the number of signals. A noisy signal is surely moved later than it moves."
    ]
    if untested:
        named = ", ".join(f"{one.signal} ({one.reason})" for one in untested)
        notes.append(f"Not tested: {named}.")
    return Table(
        title="Signals, those that moved first",
        header=("signal", "from turn", "B - A there", "band", "way", "q"),
        rows=tuple(signal_row(one) for one in moves.signals if one.p is not None),
        align="<>>><>",
        notes=tuple(notes),
    )


def signal_row(one: SignalMove) -> tuple[str, ...]:
    """A signal's cells: name, turn, difference, band, way, q."""
    return (
        one.signal,
        ABSENT if one.turn is None else f"{one.turn:,}",
        signed(one.difference) if one.moved else ABSENT,
        words.change_interval(one.low, one.high) if one.moved else ABSENT,
        one.way or "not seen",
        q_words(one.q),
    )


def q_words(value: float | None) -> str:
    """A p or q value in few characters."""
    if value is None:
        return ABSENT
    return "<.001" if value < 1e-3 else f"{value:.3f}"
