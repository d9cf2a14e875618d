"""`turncurve validate`: how far a grader can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from turncurve.cli.options import WholeNumber, finite, level_option, seed_option
from turncurve.cli.output_options import Outputs, result_options

if TYPE_CHECKING:
    from turncurve.analysis.judgements import Judgements
    from turncurve.analysis.ranges import Range
    from turncurve.errors import ReadError
    from turncurve.model import Construct

_CONSTRUCTS = click.Choice(["hindsight", "no_hindsight"])


def _ranges(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[Range, ...] | None:
    if value is None:
        return None
    from turncurve.analysis.ranges import parse_ranges  # noqa: PLC0415 -- light help

    try:
        return parse_ranges(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from problem


def _named(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for one in value:
        name, equals, path = one.partition("=")
        if not (equals and name and path):
            raise click.BadParameter(f"wanted NAME=PATH, got {one!r:.60}", ctx, param)
        if name in named:
            raise click.BadParameter(f"{name!r:.60} is given twice", ctx, param)
        named[name] = path
    return named


@click.command()
@click.argument("grades", metavar="GRADES")
@click.argument("labels", metavar="LABELS")
@result_options
@click.option("--grader", metavar="NAME", help="Whose grades, where GRADES has several graders.")
@click.option(
    "--labeller",
    metavar="NAME",
    help="Whose labels, where LABELS has several raters; without it, what most of them say.",
)
@click.option(
    "--retest",
    metavar="PATH",
    help="Grades of the same grader for the same turns, made again: its own noise.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    callback=_named,
    metavar="NAME=PATH",
    help="Grades of the same grader with something changed that should not matter (the position "
    "shown, a paraphrase, the order). Can be given several times.",
)
@click.option(
    "--traces",
    metavar="PATH",
    help="The traces that were judged, for the tokens that a turn read and for its phase.",
)
@click.option(
    "--positions",
    callback=_ranges,
    metavar="RANGES",
    help="Ranges of turns, as 1-3,4-6,7-10,11+; without it these, and the last split in ranges "
    "twice as long each while ten runs reach them.",
)
@click.option(
    "--lengths",
    callback=_ranges,
    metavar="RANGES",
    help="Ranges of input length in tokens (turns of the run where no tokens are known); without "
    "it, four that hold about as many turns each.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    callback=finite,
    default=0.1,
    show_default=True,
    help="Change of sensitivity, specificity or share of failing turns that does not matter.",
)
@click.option(
    "--grades-construct",
    type=_CONSTRUCTS,
    help="What the grader knew, where GRADES does not say.",
)
@click.option(
    "--labels-construct",
    type=_CONSTRUCTS,
    help="What those who labelled knew, where LABELS does not say.",
)
@click.option(
    "--resamples",
    type=WholeNumber(min=100),
    default=2_000,
    show_default=True,
    help="Number of resamples behind each interval.",
)
@level_option
@seed_option
@click.option("--strict", is_flag=True, help="Exit with 2 if any record was unreadable.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes on stderr.")
def validate(  # noqa: PLR0913, PLR0917 - the options of a command line
    grades: str,
    labels: str,
    outputs: Outputs,
    grader: str | None,
    labeller: str | None,
    retest: str | None,
    variants: dict[str, str],
    traces: str | None,
    positions: tuple[Range, ...] | None,
    lengths: tuple[Range, ...] | None,
    margin: float,
    grades_construct: Literal["hindsight", "no_hindsight"] | None,
    labels_construct: Literal["hindsight", "no_hindsight"] | None,
    resamples: int,
    level: float,
    seed: int,
    strict: bool,  # noqa: FBT001 - a flag of the command line
    quiet: bool,  # noqa: FBT001 - a flag of the command line
) -> None:
    """How far the grades in GRADES can be trusted, held against LABELS of the same turns.

    GRADES and LABELS are files, folders, patterns or stores that hold judgements by run and turn:
    files of `turncurve grade`, graded steps, TRAIL annotations, Who&When mistakes, or a table with
    a column `error` of 0 and 1. One of them may be - for standard input. Turns are matched by run
    id and turn. No model is called.

    Exit status: 0 done; 2 a usage error, nothing could be read or matched, labels with and without
    hindsight were mixed, or --strict and an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.analysis.validate_grader import (  # noqa: PLC0415 -- light help
        ValidationSettings,
        validate_grader,
    )
    from turncurve.cli.results import write_result  # noqa: PLC0415
    from turncurve.report.validate import (  # noqa: PLC0415
        TITLE,
        validation_blocks,
        validation_json,
    )

    named = [grades, labels, *filter(None, (retest, traces)), *variants.values()]
    if named.count("-") > 1:
        raise click.UsageError("only one input can be -")
    read = _Reader(quiet=quiet, traces=traces)
    result = validate_grader(
        read.judgements(grades, "GRADES", grades_construct),
        read.judgements(labels, "LABELS", labels_construct),
        retest=None if retest is None else read.judgements(retest, "retest", grades_construct),
        variants={
            name: read.judgements(path, f"variant {name}", grades_construct)
            for name, path in variants.items()
        },
        settings=ValidationSettings(
            grader=grader,
            labeller=labeller,
            positions=positions,
            lengths=lengths,
            margin=margin,
            level=level,
            seed=seed,
            resamples=resamples,
        ),
    )
    document, blocks = validation_json(result), validation_blocks(result)
    write_result(targets, TITLE, document, blocks, quiet=quiet)
    if strict and read.n_problems:
        click.get_current_context().exit(2)


class _Reader:
    """Reads sets of judgements, and counts what could not be read."""

    def __init__(self, *, quiet: bool, traces: str | None) -> None:
        self._quiet = quiet
        self._traces = traces
        self.n_problems = 0

    def judgements(self, path: str, name: str, construct: Construct | None) -> Judgements:
        """The judgements below a path.

        Raises:
            click.ClickException: There is none.
        """
        from turncurve.analysis.judgements import judgements_of, with_traces  # noqa: PLC0415
        from turncurve.cli.paths import given_paths  # noqa: PLC0415
        from turncurve.cli.reading import named_runs, tell_problems  # noqa: PLC0415

        told: list[ReadError] = []
        with given_paths([path]) as files:
            found = judgements_of(
                named_runs(files, told, quiet=self._quiet), name=name, construct=construct
            )
        if self._traces is not None and name == "GRADES":
            with given_paths([self._traces]) as files:
                found = with_traces(found, named_runs(files, told, quiet=self._quiet))
        self.n_problems += len(told)
        if not self._quiet:
            tell_problems(told)
        if not len(found.run):
            shown = "standard input" if path == "-" else Path(path)
            raise click.ClickException(
                f"{name}: {shown} holds no judgement of a turn; wanted graded steps, TRAIL "
                "annotations, Who&When mistakes, or records with run, turn and an error of 0 or 1"
            )
        return found
