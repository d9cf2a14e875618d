"""Reliability over repeated trials in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turncurve.analysis.reliability import PassAt, Reliability
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import amount, counted, interval
from turncurve.report.layout import visible
from turncurve.report.plain import plain

SCHEMA_VERSION = "1.0"
TITLE = "reliability over trials"
NAME = 16
"""Characters of a condition's name in the table."""


def reliability_json(result: Reliability) -> dict[str, Any]:
    """The result as plain values."""
    return {"schema_version": SCHEMA_VERSION, **plain(result)}


def reliability_blocks(result: Reliability) -> tuple[Block, ...]:
    """A sentence for each condition, a table of every k, and what was left out."""
    return tuple(_blocks(result))


def _blocks(result: Reliability) -> Iterator[Block]:
    conditions = dict.fromkeys(each.condition for each in result.pass_hat_k)
    for condition in conditions:
        yield Said(_sentence(_of(result.pass_hat_k, condition), condition))
    yield _table(result, with_condition=len(conditions) > 1)
    yield Facts(title="What this is", pairs=tuple(_facts(result)))


def _of(rows: tuple[PassAt, ...], condition: str | None) -> list[PassAt]:
    return [each for each in rows if each.condition == condition]


def _sentence(rows: list[PassAt], condition: str | None) -> str:
    first, last = rows[0], rows[-1]
    where = f"{condition}: " if condition is not None else ""
    once = (
        f"a trial succeeds with a chance of {amount(first.value)} "
        f"{interval(first.low, first.high)} over {counted(first.n_scenarios, 'scenario')}"
    )
    if last.k == 1:
        more = "no scenario has a second trial, so nothing is known of doing it again"
    else:
        more = (
            f"all of {last.k} trials of a scenario succeed with a chance of {amount(last.value)} "
            f"{interval(last.low, last.high)}"
        )
    sentence = f"{where}{once}; {more}."
    return sentence[:1].upper() + sentence[1:]


def _table(result: Reliability, *, with_condition: bool) -> Table:
    level = f"{100 * result.pass_hat_k[0].level:g} % interval"
    rows = tuple(
        (
            *([visible(every.condition or "", NAME)] if with_condition else []),
            str(every.k),
            amount(every.value),
            amount(every.std_error),
            interval(every.low, every.high),
            amount(some.value),
            interval(some.low, some.high),
            f"{every.n_scenarios:,}",
        )
        for every, some in zip(result.pass_hat_k, result.pass_at_k, strict=True)
    )
    notes = [
        f"k = {each.k} leaves out {counted(each.n_too_few, 'scenario')} with fewer trials."
        for each in result.pass_hat_k
        if each.n_too_few
    ]
    first = ("condition",) if with_condition else ()
    return Table(
        title="pass^k and pass@k",
        header=(*first, "k", "pass^k", "std err", level, "pass@k", level, "scenarios"),
        rows=rows,
        align="<" * with_condition + ">" * 7,
        notes=tuple(notes),
    )


def _facts(result: Reliability) -> Iterator[tuple[str, str]]:
    yield "estimator", f"{result.estimator}."
    yield "interval", f"{result.pass_hat_k[0].method}: for other scenarios of the same kind."
    yield "runs", f"{result.n_runs:,} with a known outcome."
    if result.excluded:
        left_out = "; ".join(f"{reason}: {n:,}" for reason, n in result.excluded.items())
        yield "left out", f"{left_out}."
