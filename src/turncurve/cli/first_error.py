"""`turncurve first-error`: when runs first go wrong, and whether that gets likelier."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.cli.options import (
    Reading,
    WholeNumber,
    finite,
    level_option,
    reading_options,
    rising,
    seed_option,
)
from turncurve.cli.output_options import Outputs, result_options

_RULES = (
    *("rolling_quality", "low_quality", "failing_grade"),
    *("schema_violation", "rule_breach", "tool_error"),
)
_EXITS = ("fail_finish", "crash", "user_abort", "budget", "success_finish")


@click.command("first-error")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@result_options
@click.option(
    "--rule",
    "rule",
    type=click.Choice(_RULES),
    multiple=True,
    help="What counts as an error; can be given several times. Without it, all that apply.",
)
@click.option(
    "--window",
    type=WholeNumber(min=1),
    default=5,
    show_default=True,
    help="Graded turns in the mean of rolling_quality.",
)
@click.option(
    "--threshold",
    type=float,
    callback=finite,
    help="Quality below which a turn, or a rolling mean, is bad, on the signal's own scale.",
)
@click.option(
    "--scale",
    "quality_scale",
    nargs=2,
    type=float,
    callback=rising,
    metavar="LOW HIGH",
    help="Lowest and highest score of the rubric, where the files do not say.",
)
@click.option(
    "--tie",
    type=click.Choice(["first", "midpoint"]),
    default="first",
    show_default=True,
    help="Where survival runs flat at exactly a half: the first such turn, or the middle.",
)
@click.option(
    "--horizon",
    type=WholeNumber(min=1),
    metavar="TURN",
    help="Turn to which mean turns are restricted; without it, as far as five runs of each "
    "condition were followed.",
)
@click.option(
    "--alike",
    type=click.Choice(["scenario", "condition", "model", "agent"]),
    default="scenario",
    show_default=True,
    help="Runs that would have the same chance of an error at a turn: trials of a scenario under "
    "one condition and model, or all runs of a condition, a model, an agent.",
)
@click.option(
    "--competing",
    type=click.Choice(_EXITS),
    multiple=True,
    default=_EXITS[:3],
    show_default=True,
    help="Exits after which a run can have no error any more; runs of others are censored.",
)
@click.option(
    "--flat",
    type=click.FloatRange(min=1, min_open=True),
    default=1.25,
    show_default=True,
    callback=finite,
    help="Factor of change over a doubling of the turn below which a chance counts as flat.",
)
@level_option
@seed_option
@reading_options
def first_error(  # noqa: PLR0913, PLR0917 - the options of a command line
    paths: Sequence[str],
    outputs: Outputs,
    rule: tuple[str, ...],
    window: int,
    threshold: float | None,
    quality_scale: tuple[float, float] | None,
    level: float,
    seed: int,
    reading: Reading,
    **given: object,
) -> None:
    """When runs first go wrong, and whether that gets likelier the longer they run.

    Runs of one scenario are its trials. PATH is a trace file, a folder of them, a pattern, a store,
    or - for standard input.

    Exit status: 0 done; 2 a usage error, no run could be read, no run has what a rule goes by, or
    --strict and an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.analysis.first_error_settings import FirstErrorSettings  # noqa: PLC0415 -- light
    from turncurve.analysis.first_error_study import first_error_study  # noqa: PLC0415
    from turncurve.analysis.settings import Settings  # noqa: PLC0415
    from turncurve.cli.results import read_table_of, write_result  # noqa: PLC0415
    from turncurve.report.first_error import (  # noqa: PLC0415
        TITLE,
        first_error_blocks,
        first_error_json,
    )

    table, n_problems = read_table_of(paths, reading)
    curve = Settings(
        window=window, threshold=threshold, quality_scale=quality_scale, level=level, seed=seed
    )
    settings = FirstErrorSettings(rules=rule, reading=curve, **given)  # type: ignore[arg-type]
    result = first_error_study(table, settings)
    document, blocks = first_error_json(result), first_error_blocks(result)
    write_result(targets, TITLE, document, blocks, quiet=reading.quiet)
    if reading.strict and n_problems:
        click.get_current_context().exit(2)
