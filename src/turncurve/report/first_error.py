"""First errors in words, tables and JSON."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from turncurve.analysis.error_hazard import ErrorHazard
from turncurve.analysis.first_error_groups import GroupFirstErrors, Incidence
from turncurve.analysis.first_error_study import FirstErrorStudy, RuleFirstErrors
from turncurve.analysis.hazard_spans import HazardSpan
from turncurve.analysis.turn_quantiles import Quantile
from turncurve.report import sentences
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import ABSENT, amount, counted, interval, span
from turncurve.report.first_error_facts import first_error_facts
from turncurve.report.layout import visible
from turncurve.report.plain import plain

SCHEMA_VERSION = "1.0"
TITLE = "first errors"
NAME = 14
"""Characters of a condition's name in a table."""

_WHOSE = "These: running these scenarios again. Others: other scenarios of the kind."

T = TypeVar("T")

VERDICTS = {
    "rises": "Among runs alike, the chance of a first error rises along the run",
    "falls": "Among runs alike, the chance of a first error falls along the run",
    "flat": "Among runs alike, the chance of a first error stays as it is along the run",
    "cannot tell": "Whether the chance of a first error changes along a run cannot be told",
}


def first_error_json(result: FirstErrorStudy) -> dict[str, Any]:
    """The result as plain values, with each rule's sentence."""
    document = {"schema_version": SCHEMA_VERSION, **plain(result)}
    for row, rule in zip(document["rules"], result.rules, strict=True):
        row["sentence"] = sentence(rule)
    return document


def first_error_blocks(result: FirstErrorStudy) -> tuple[Block, ...]:
    """For each rule a sentence, when, as runs end, whether it gets likelier, and the rest."""
    return tuple(block for rule in result.rules for block in _blocks(rule))


def sentence(rule: RuleFirstErrors) -> str:
    """When runs of each condition have had an error, and whether it gets likelier."""
    name, several = sentences.RULES[rule.rule], len(rule.groups) > 1
    when = [
        f"First {name}{f' ({group.condition})' if several else ''}: "
        + sentences.first_error(group.times)
        for group in rule.groups
    ]
    hazard = rule.hazard
    factor = "" if hazard.within.value is None else f": {_factor(hazard)}"
    return f"{' '.join(when)} {VERDICTS[hazard.verdict]}{factor}."


def _factor(hazard: ErrorHazard) -> str:
    limits = interval(hazard.within.low, hazard.within.high, digits=2)
    return f"times {amount(hazard.within.value, digits=2)} {limits} for each doubling of the turn"


def _blocks(rule: RuleFirstErrors) -> Iterator[Block]:
    yield Said(sentence(rule))
    name = sentences.RULES[rule.rule]
    groups = [group for group in rule.groups if group.times.n_runs]
    if groups:
        yield _quantiles(name, rule.groups)
    for group in groups:
        if group.incidence is not None and group.incidence.turn:
            yield _by_turn(name, group, several=len(rule.groups) > 1)
    if rule.hazard.spans:
        yield _spans(name, rule.hazard)
    yield Facts(title=f"Beside it: {name}", pairs=tuple(first_error_facts(rule)))


def _quantiles(name: str, groups: Sequence[GroupFirstErrors]) -> Table:
    several, wider = len(groups) > 1, any(group.other_scenarios for group in groups)
    level = f"{100 * groups[0].times.level:g} %"
    rows = [
        (
            *([visible(group.condition or "", NAME)] if several else []),
            f"{100 * q.p:.0f} %",
            _turn(q.turn),
            interval(q.low, q.high, digits=0),
            *([_wider(group, at)] if wider else []),
        )
        for group in groups
        for at, q in enumerate(group.times.quantiles)
    ]
    return Table(
        title=f"When: first {name}",
        header=(
            *(("condition",) if several else ()),
            *("had it", "by turn", f"{level}, these" if wider else level),
            *((f"{level}, others",) if wider else ()),
        ),
        rows=tuple(rows),
        align="<" * several + ">>>" + ">" * wider,
        notes=(_WHOSE,) if wider else (),
    )


def _wider(group: GroupFirstErrors, at: int) -> str:
    if not group.other_scenarios:
        return ABSENT
    q: Quantile = group.other_scenarios[at]
    return interval(q.low, q.high, digits=0)


def _turn(turn: float | None) -> str:
    return "not reached" if turn is None else f"{turn:g}"


def _by_turn(name: str, group: GroupFirstErrors, *, several: bool) -> Table:
    curve, points = group.incidence, group.times.survival
    assert curve is not None
    competes = curve.n_competing > 0
    rows = []
    for turn in _doubling(int(curve.turn[0]), int(curve.turn[-1])):
        free = _at(points.turn, points.survival, turn, 1.0)
        low, high = (_at(points.turn, ends, turn, None) for ends in (points.low, points.high))
        ends = (
            amount(_at(curve.turn, curve.incidence, turn, 0.0), digits=2),
            interval(*_limits(curve, turn), digits=2),
        )
        gone_on = amount(1 - free, digits=2), interval(_rest(high), _rest(low), digits=2)
        rows.append((str(turn), *gone_on, *(ends if competes else ())))
    return Table(
        title=f"Had its first {name}, by turn",
        header=(
            *("by turn", "had all gone on", "interval"),
            *(("as runs end", "interval") if competes else ()),
        ),
        rows=tuple(rows),
        align=">>>>>" if competes else ">>>",
        notes=(*((f"Runs of {group.condition}.",) if several else ()), _ends_note(curve)),
    )


def _ends_note(curve: Incidence) -> str:
    if not curve.n_competing:
        return "No run ended badly without one, so that is also how it comes as runs end."
    ends = "; ".join(f"{exit_type} {n:,}" for exit_type, n in curve.ends.items())
    return (
        f"{counted(curve.n_competing, 'run')} ended badly without one ({ends}). As runs end: such "
        "a run has none. Had all gone on: it might have had one later, like the others."
    )


def _doubling(first: int, last: int) -> list[int]:
    turns = [2**k for k in range(last.bit_length()) if first <= 2**k < last]
    return [*turns, last]


def _at(turns: Sequence[float], values: Sequence[T], turn: int, before: T) -> T:
    """The value of a step function just after a turn."""
    position = bisect_right(turns, turn)
    return values[position - 1] if position else before


def _limits(curve: Incidence, turn: int) -> tuple[float | None, float | None]:
    return _at(curve.turn, curve.low, turn, None), _at(curve.turn, curve.high, turn, None)


def _rest(share: float | None) -> float | None:
    return None if share is None else 1 - share


def _spans(name: str, hazard: ErrorHazard) -> Table:
    return Table(
        title=f"Does it get likelier: first {name}",
        header=("turns", "not in error", "all runs", "interval", "alike", "interval", "errors"),
        rows=tuple(_span(each) for each in hazard.spans),
        align="<>>>>>>",
        notes=tuple(_span_notes(hazard)),
    )


def _span(each: HazardSpan) -> tuple[str, ...]:
    return (
        span(each.start, each.end),
        amount(each.accuracy),
        amount(each.hazard),
        interval(each.low, each.high),
        amount(each.within, digits=2),
        interval(each.within_low, each.within_high, digits=2),
        f"{each.n_events:,}",
    )


def _span_notes(hazard: ErrorHazard) -> Iterator[str]:
    yield (
        "Not in error: share of turns, which falls where errors stay. All runs: first errors a "
        "turn among runs without one so far, which falls as the runs that err soon leave. Alike: "
        f"the same over its mean, among runs of {hazard.alike}; the verdict goes by it alone."
    )
