"""Options that several commands share, each set handed over as one value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import click

from turncurve.analysis.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class WholeNumber(click.IntRange):
    """A whole number from `min` on, and an error that says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"wanted a whole number, at least {self.min}, got {value!r}", param, ctx)


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """The number as it is.

    Raises:
        click.BadParameter: It is NaN or infinite.
    """
    if value is None or math.isfinite(value):
        return value
    raise click.BadParameter(f"wanted a finite number, got {value:g}", ctx, param)


def rising(
    ctx: click.Context, param: click.Parameter, value: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Two numbers as they are.

    Raises:
        click.BadParameter: One is NaN or infinite, or the first is not below the second.
    """
    if value is None or -math.inf < value[0] < value[1] < math.inf:
        return value
    low, high = value
    raise click.BadParameter(f"wanted LOW below HIGH, got {low:g} {high:g}", ctx, param)


def in_order(*options: Callable[[F], F]) -> Callable[[F], F]:
    """All of the options, listed by `--help` in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def bundled(command: F, name: str, bundle: type[Any], leave: tuple[str, ...] = ()) -> F:
    """The command with those of its options that are fields of `bundle` given as one argument."""
    names = [field.name for field in fields(bundle) if field.name not in leave]

    @wraps(command)
    def with_bundle(**given: Any) -> Any:
        chosen = {field: given.pop(field) for field in names}
        return command(**{name: bundle(**chosen)}, **given)

    return cast(F, with_bundle)


level_option = click.option(
    "--level",
    type=click.FloatRange(0, 0.999999, min_open=True),
    default=Settings().level,
    callback=finite,
    show_default=True,
    help="Confidence level of every interval.",
)
seed_option = click.option(
    "--seed",
    type=WholeNumber(min=0),
    default=Settings().seed,
    show_default=True,
    help="Seed of every random procedure.",
)


def curve_options(command: F) -> F:
    """Add the options that make up `Settings`; the command gets them as `settings`."""
    defaults = Settings()
    add = in_order(
        click.option(
            "--bucket",
            type=WholeNumber(min=1),
            help="Turns in a bucket (tokens on --axis tokens, equal parts on --axis progress, at "
            "most 1000); without it, chosen from the longest run.",
        ),
        click.option(
            "--window",
            type=WholeNumber(min=1),
            default=defaults.window,
            show_default=True,
            help="Graded turns in the rolling mean behind the first bad turn.",
        ),
        click.option(
            "--threshold",
            type=float,
            callback=finite,
            help="Quality below which the rolling mean counts as bad, on the signal's own scale.",
        ),
        click.option(
            "--scale",
            "quality_scale",
            type=(float, float),
            callback=rising,
            metavar="LOW HIGH",
            help="Lowest and highest score that the rubric behind `quality` can give; without it, "
            "as the files state it, or 0 to 1 if all scores lie there.",
        ),
        click.option(
            "--axis",
            type=click.Choice(["turn", "tokens", "progress", "event"]),
            default=defaults.axis,
            show_default=True,
            help="What the curve runs along: turns, tokens sent so far, the share of the run, or "
            "turns from an event.",
        ),
        click.option(
            "--event",
            default=defaults.event,
            show_default=True,
            help="The kind of event that --axis event counts from.",
        ),
        level_option,
        seed_option,
    )
    return add(bundled(command, "settings", Settings, leave=("resamples",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read, as the command line says it."""

    format: str | None
    rules: Path | None
    output_schema: Path | None
    strict: bool
    quiet: bool
    condition_from: Literal["folder"] | None = None
    grades: Path | None = None
    leave_out: tuple[Path, ...] = ()
    """Files of ours that may lie among the traces; no option says them."""


_FORMAT = click.option(
    "--format",
    metavar="NAME",
    help="Read every file as this format; without it, each file's content decides. "
    "Names: turncurve formats.",
)
_CONDITION_FROM = click.option(
    "--condition-from",
    type=click.Choice(["folder"]),
    help="Take each run's condition from the name of its folder.",
)
_GRADES = click.option(
    "--grades",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Grades of these turns, as turncurve grade writes them.",
)
_CHECKS = (
    click.option(
        "--rules",
        type=EXISTING_FILE,
        metavar="FILE",
        help="YAML file of checkable instructions, for the signal `adherence`.",
    ),
    click.option(
        "--output-schema",
        type=EXISTING_FILE,
        metavar="FILE",
        help="JSON Schema of the agent's output, for the signal `schema_valid`.",
    ),
    click.option("--strict", is_flag=True, help="Exit with 2 if any record was unreadable."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no notes on stderr."),
)


def reading_options(command: F) -> F:
    """Add the options that say how files are read; the command gets them as `reading`."""
    add = in_order(_FORMAT, _CONDITION_FROM, _GRADES, *_CHECKS)
    return add(bundled(command, "reading", Reading, leave=("leave_out",)))


def text_reading_options(command: F) -> F:
    """As `reading_options`, for commands that go through runs with their text."""
    add = in_order(_FORMAT, _CONDITION_FROM, *_CHECKS)
    return add(bundled(command, "reading", Reading, leave=("grades", "leave_out")))


def importing_options(command: F) -> F:
    """As `reading_options`, without what is settled when a store is analysed."""
    add = in_order(_FORMAT, *_CHECKS)
    return add(
        bundled(command, "reading", Reading, leave=("condition_from", "grades", "leave_out"))
    )
