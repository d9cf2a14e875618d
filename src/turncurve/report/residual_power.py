"""How many trials a residual needs, in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turncurve.analysis.residual_sizes import ResidualPower, SizedResidual
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import ABSENT, amount, counted, signed
from turncurve.report.plain import plain

SCHEMA_VERSION = "1.0"
TITLE = "power for a residual"


def residual_power_json(result: ResidualPower) -> dict[str, Any]:
    """The result as plain values."""
    return {"schema_version": SCHEMA_VERSION, **plain(result)}


def residual_power_blocks(result: ResidualPower) -> tuple[Block, ...]:
    """A sentence on the first residual, what each needs, what trials see, and how."""
    return tuple(_blocks(result))


def _blocks(result: ResidualPower) -> Iterator[Block]:
    yield Said(_sentence(result))
    n = result.settings.trials[0]
    yield Table(
        title="Trials that a residual needs",
        header=("residual", "observed", "formula", "each", "in all", "best in all", "tasks"),
        rows=tuple(_row(one) for one in result.sized),
        align=">>>>>>>",
        notes=(
            "each: trials of each stage and end-to-end runs, of each task, at which the analysis "
            "reached the power on made-up studies; the formula promises a little too much. best: "
            "stages that fail seldom get fewer. tasks: to see it in others of their kind, with "
            f"{n:,} trials each.",
            *(
                f"residual {signed(one.residual)}: best is {_split(one)} trials of the stages in "
                "order and end to end."
                for one in result.sized
                if one.best is not None
            ),
        ),
    )
    yield Table(
        title="The smallest deficit that trials see",
        header=("trials of each", "deficit"),
        rows=tuple((f"{one.n_trials:,}", amount(one.deficit)) for one in result.visible),
        align=">>",
        notes=("By the formula. A dash: not even if no end-to-end run ever succeeds.",),
    )
    yield Facts(title="How", pairs=tuple(_facts(result)))


def _sentence(result: ResidualPower) -> str:
    one, settings = result.sized[0], result.settings
    about = (
        f"Stages of {', '.join(f'{rate:g}' for rate in settings.rates)} predict "
        f"{amount(result.predicted)}; to tell it from {amount(one.observed)}, a residual of "
        f"{signed(one.residual)},"
    )
    each = one.simulated.trials[0] if one.simulated is not None else one.by_formula
    if each is None:
        return f"{about} no number of trials worth making suffices."
    return (
        f"{about} takes {each:,} trials of each stage and as many end-to-end runs"
        f"{' of each task' if settings.n_tasks > 1 else ''}, {one.n_equal:,} in all, for a chance "
        f"of {settings.power:.0%}."
    )


def _row(one: SizedResidual) -> tuple[str, ...]:
    return (
        signed(one.residual),
        amount(one.observed),
        _count(one.by_formula),
        _count(one.simulated.trials[0] if one.simulated is not None else one.by_formula),
        _count(one.n_equal),
        _count(one.n_best),
        _count(one.tasks),
    )


def _count(n: int | None) -> str:
    return ABSENT if n is None else f"{n:,}"


def _split(one: SizedResidual) -> str:
    *stages, whole = one.best or (0,)
    return f"{', '.join(f'{n:,}' for n in stages)} and {whole:,}"


def _facts(result: ResidualPower) -> Iterator[tuple[str, str]]:
    settings = result.settings
    yield "test", f"the residual's interval leaves out 0; two-sided, alpha {settings.alpha:g}."
    yield (
        "limits",
        (
            "Jeffreys posterior of the one task."
            if settings.n_tasks == 1
            else f"normal, of these {counted(settings.n_tasks, 'task')}, all with these rates."
        ),
    )
    studies = {one.simulated.n_studies for one in result.sized if one.simulated is not None}
    for n in studies:
        yield (
            "made up",
            (
                f"{counted(n, 'study', 'studies')} a number of trials, seed {settings.seed}; "
                "their power is known to about 1 %."
            ),
        )
    yield (
        "other tasks",
        (
            f"t over tasks whose true residuals have a standard deviation of {settings.task_sd:g}. "
            "More trials do not lower it; more tasks do."
        ),
    )
