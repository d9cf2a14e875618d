"""`turncurve residual new|check|freeze|run`: a study of matched stages, from its file to trials."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from turncurve.cli.options import EXISTING_FILE, WholeNumber
from turncurve.cli.outputs import write_text
from turncurve.cli.progress import ProgressBar

KINDS = ("command", "callable", "inspect")
study_argument = click.argument("study", type=EXISTING_FILE, metavar="STUDY")


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="The file to write; it must be new."
)
def new(kind: str, output: str) -> None:
    r"""Write a study to change, of an agent of a KIND.

    \b
    command   a command line that works in a folder
    callable  a Python function that works in a folder
    inspect   an agent or a solver of Inspect
    """
    from turncurve.experiments.stage_study_file import study_text  # noqa: PLC0415

    if Path(output).exists():
        raise click.UsageError(f"{output} is there already; name a new file")
    write_text(output, study_text(kind))
    click.echo(f"wrote {output}", err=True)


@click.command()
@study_argument
@click.pass_context
def check(ctx: click.Context, study: Path) -> None:
    """Check that STUDY says what it should, and that all it names is there.

    Nothing is run but the Python files that it names, which are loaded.

    Exit status: 0 it does; 1 it does not; 2 a usage error.
    """
    from turncurve.cli.residual_words import study_words  # noqa: PLC0415 -- --help is light
    from turncurve.errors import StudyError  # noqa: PLC0415
    from turncurve.experiments.check_study import checked_study  # noqa: PLC0415

    try:
        checked = checked_study(study)
    except StudyError as problem:
        click.echo(f"turncurve: {problem}", err=True)
        ctx.exit(1)
    write_text("-", study_words(checked, str(study)))


@click.command()
@study_argument
def freeze(study: Path) -> None:
    """Freeze STUDY before its first trial: what it says and every file that it names, by hash.

    The hash stands beside it, in STUDY.frozen.json, and in every trial. A study that has changed
    is frozen anew once its version counts up; trials of two versions are never mixed.
    """
    from turncurve.cli.residual_words import frozen_words  # noqa: PLC0415 -- --help is light
    from turncurve.experiments import study_freeze  # noqa: PLC0415
    from turncurve.experiments.check_study import checked_study  # noqa: PLC0415

    checked_study(study)
    write_text("-", frozen_words(study_freeze.freeze(study), str(study)))


@click.command()
@study_argument
@click.option(
    "--trials",
    "trials",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("trials.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where trials are kept, a line each; those that are there are not made again.",
)
@click.option(
    "--workers",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Trials under way at once; Inspect has its own way.",
)
def run(study: Path, trials: Path, workers: int) -> None:
    """Make the trials of STUDY, which must be frozen.

    Each trial is on disk before it counts, so a run that is broken off goes on where it was. The
    agent works in copies of the study's folders, but it is not locked in: it can do what you can.
    """
    from turncurve.cli.residual_words import trials_words  # noqa: PLC0415 -- --help is light
    from turncurve.experiments.run_study import run_study  # noqa: PLC0415
    from turncurve.experiments.trial_file import Trial  # noqa: PLC0415

    with ProgressBar("trials", Console(stderr=True)) as bar:

        def on_trial(_: Trial, done: int, total: int) -> None:
            bar(done, total)

        made = run_study(study, trials, workers=workers, on_trial=on_trial)
    write_text("-", trials_words(made, str(trials)))
