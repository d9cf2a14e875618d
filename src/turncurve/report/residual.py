"""The residual of matched stages in words, tables, pictures and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turncurve.analysis.residual import ProtocolResidual, Residual
from turncurve.analysis.residual_interventions import Contrast
from turncurve.analysis.residual_stages import StageRow, Use
from turncurve.report.blocks import Block, Facts, Picture, Said, Table
from turncurve.report.estimate_words import limits_of, reasons_of, value_of
from turncurve.report.figures import ABSENT, amount, interval, signed, usd
from turncurve.report.layout import visible
from turncurve.report.plain import plain
from turncurve.report.residual_picture import tasks_svg, waterfall_svg
from turncurve.report.residual_words import (
    LIMITS,
    basis_facts,
    headline,
    verdict_facts,
    warning_lines,
)

SCHEMA_VERSION = "1.0"
TITLE = "matched stages"
NAME = 18
"""Characters of a task's or stage's name in a table."""
MOST_TASKS = 40
"""Tasks in the table and the picture; JSON has all."""
PER_TASK = "Limits of a task are those of the Jeffreys posterior of its own trials."


def residual_json(result: Residual) -> dict[str, Any]:
    """The result as plain values: the primary protocol's on top, all of them in `protocols`."""
    rest = plain(result)
    primary = rest.pop("primary")
    rest["protocols"] = [_named(one) for one in rest["protocols"]]
    return {"schema_version": SCHEMA_VERSION, **_named(primary), **rest}


def _named(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict as a word, and what it rests on beside it."""
    return {
        **protocol,
        "verdict": protocol["verdict"]["verdict"],
        "judgement": protocol["verdict"],
    }


def residual_blocks(result: Residual) -> tuple[Block, ...]:
    """The verdict, both sides, tasks, stages, protocols, interventions, and what it rests on."""
    return tuple(_blocks(result))


def _blocks(result: Residual) -> Iterator[Block]:
    one = result.primary
    yield Said(headline(result))
    for line in warning_lines(result):
        yield Said(line)
    yield Facts(title="Verdict", pairs=tuple(verdict_facts(one.verdict)))
    yield _sides(one)
    yield _tasks(one)
    yield Picture(
        title="Predicted and observed by task",
        svg=tasks_svg(one.tasks[:MOST_TASKS]),
        caption="Filled: predicted by the stages; hollow: observed end to end. " + PER_TASK,
    )
    if one.stages:
        yield _stages(one)
        if one.stages[0].observed_reach is not None:
            yield Picture(
                title="How far runs come",
                svg=waterfall_svg(one.stages),
                caption="Share that passes all stages up to each one: filled as the stages "
                "predict, hollow as end-to-end runs do.",
            )
    yield from _graphs(one)
    if len(result.protocols) > 1:
        yield _protocols(result)
    if result.interventions:
        yield _interventions(result)
    yield from _use(one)
    yield Facts(title="What it rests on", pairs=tuple(basis_facts(result)))
    yield Facts(title="What it does not say", pairs=LIMITS)


def _sides(one: ProtocolResidual) -> Table:
    named = (
        ("predicted by stages", one.predicted),
        ("observed", one.observed),
        ("residual", one.residual),
        ("gamma", one.gamma),
    )
    rows = tuple(
        (name, value_of(each), amount(each.std_error), limits_of(each)) for name, each in named
    )
    notes = [*reasons_of(named)]
    if one.p_deficit is not None:
        notes.append(f"Posterior chance of a deficit: {amount(one.p_deficit)}.")
    return Table(
        title="Both sides",
        header=("", "value", "error", f"{100 * one.residual.level:g} % limits"),
        rows=rows,
        align="<>>>",
        notes=(*notes, "residual = predicted - observed; gamma = log(predicted / observed)."),
    )


def _tasks(one: ProtocolResidual) -> Table:
    rows = tuple(
        (
            visible(task.name, NAME),
            amount(task.predicted.value, digits=2),
            interval(task.predicted.low, task.predicted.high, digits=2),
            f"{task.observed.n_succeeded}/{task.observed.n}",
            amount(task.observed.value, digits=2),
            signed(task.residual),
            interval(task.low, task.high, digits=2),
        )
        for task in one.tasks[:MOST_TASKS]
    )
    left = len(one.tasks) - len(rows)
    notes = (PER_TASK, *([f"{left:,} more tasks are in the JSON."] if left else []))
    return Table(
        title="By task",
        header=("task", "predicted", "limits", "whole", "share", "residual", "limits"),
        rows=rows,
        align="<>>>>>>",
        notes=notes,
    )


def _stages(one: ProtocolResidual) -> Table:
    return Table(
        title="By stage: where it departs",
        header=("stage", "trials", "alone", "on the way", "share", "log ratio", "limits", "p adj."),
        rows=tuple(_stage(row) for row in one.stages),
        align="<>>>>>>>",
        notes=(
            "alone: from the checkpoint, tasks weighed by the runs that arrived. on the way: of "
            "the runs that arrived. log ratio above 0: worse on the way. p adj.: for a stage "
            "picked because it stands out.",
            *reasons_of((row.stage, row.log_ratio) for row in one.stages),
        ),
    )


def _stage(row: StageRow) -> tuple[str, ...]:
    return (
        visible(row.stage, NAME - 6),
        f"{row.n_succeeded}/{row.n}",
        amount(row.alone, digits=2),
        f"{row.n_passed}/{row.n_arrived}" if row.n_arrived else ABSENT,
        amount(row.on_the_way, digits=2),
        signed(row.log_ratio.value),
        interval(row.log_ratio.low, row.log_ratio.high, digits=2),
        amount(row.p_adjusted),
    )


def _graphs(one: ProtocolResidual) -> Iterator[Table]:
    having = [task for task in one.tasks if task.chain is not None][:MOST_TASKS]
    if one.straight is None or not having:
        return
    gap = f"{signed(one.straight.value)} {limits_of(one.straight)}"
    yield Table(
        title="Graphs: where the product is wrong",
        header=("task", "by the graph", "by the product", "ways back", "steps"),
        rows=tuple(
            (
                visible(task.name, NAME),
                amount(task.predicted.value),
                amount(task.chain.straight),
                f"{task.chain.n_off}/{task.chain.n}",
                amount(task.chain.steps, digits=1),
            )
            for task in having
            if task.chain is not None
        ),
        align="<>>>>",
        notes=(
            f"A product of stages would predict less by {gap}: it takes a way back for a failure. "
            "ways back: trials that went neither to the next stage nor to failure.",
        ),
    )


def _protocols(result: Residual) -> Table:
    return Table(
        title="By protocol",
        header=("checkpoints", "tasks", "predicted", "residual", "limits", "verdict"),
        rows=tuple(
            (
                visible(one.protocol, NAME + 4),
                f"{len(one.tasks)}",
                value_of(one.predicted),
                signed(one.residual.value),
                interval(one.residual.low, one.residual.high, digits=2),
                one.verdict.verdict,
            )
            for one in result.protocols
        ),
        align="<>>>><",
        notes=("Each at its own level; the first is the primary one.",),
    )


def _interventions(result: Residual) -> Table:
    named = [(one.intervention, one.difference) for one in result.interventions]
    return Table(
        title="Interventions: end-to-end success, paired by task",
        header=("with", "against", "with it", "without", "difference", "limits", "changed too"),
        rows=tuple(_contrast(one) for one in result.interventions),
        align="<<>>>><",
        notes=(*reasons_of(named), *_unexpected(result.interventions)),
    )


def _contrast(one: Contrast) -> tuple[str, ...]:
    return (
        visible(one.intervention, NAME - 4),
        one.control,
        f"{one.n_succeeded}/{one.n}",
        f"{one.control_succeeded}/{one.control_n}",
        signed(one.difference.value),
        limits_of(one.difference),
        ", ".join(one.changed) or ("nothing" if one.recorded else "not recorded"),
    )


def _unexpected(found: tuple[Contrast, ...]) -> Iterator[str]:
    for one in found:
        if one.unexpected:
            yield (
                f"{one.intervention}: {', '.join(one.unexpected)} changed too, so the difference "
                "is not that of the intervention alone."
            )


def _use(one: ProtocolResidual) -> Iterator[Table]:
    named = [*((row.stage, row.use) for row in one.stages), ("end to end", one.use)]
    known = [(name, use) for name, use in named if any(value is not None for value in _cells(use))]
    if not known:
        return
    yield Table(
        title="What a trial takes, on average",
        header=("", "turns", "tokens", "cost", "seconds"),
        rows=tuple(
            (
                visible(name, NAME),
                amount(use.turns, digits=1),
                amount(use.tokens, "tokens"),
                usd(use.cost_usd),
                amount(use.seconds, digits=1),
            )
            for name, use in known
        ),
        align="<>>>>",
    )


def _cells(use: Use) -> tuple[float | None, ...]:
    return use.turns, use.tokens, use.cost_usd, use.seconds
