"""Options that several commands share, each set handed over as one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from turncurve.analysis.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def curve_options(command: F) -> F:
    """Add the options that make up `Settings`; the command gets them as `settings`."""

    @wraps(command)
    def with_settings(**given: Any) -> Any:
        names = ("bucket", "window", "threshold", "axis", "event", "level", "seed")
        chosen = {name: given.pop(name) for name in names}
        return command(settings=Settings(**chosen), **given)

    defaults = Settings()
    add = _options(
        click.option(
            "--bucket",
            type=click.IntRange(min=1),
            help="Turns in a bucket (tokens on --axis tokens, equal parts on --axis progress); "
            "without it, chosen from the longest run.",
        ),
        click.option(
            "--window",
            type=click.IntRange(min=1),
            default=defaults.window,
            show_default=True,
            help="Graded turns in the rolling mean behind the first bad turn.",
        ),
        click.option(
            "--threshold",
            type=float,
            help="Quality below which the rolling mean counts as bad, on the signal's own scale.",
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
        click.option(
            "--level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=defaults.level,
            show_default=True,
            help="Confidence level of every interval.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=defaults.seed,
            show_default=True,
            help="Seed of every random procedure.",
        ),
    )
    return add(cast(F, with_settings))


def reading_options(command: F) -> F:
    """Add the options that say how files are read; the command gets each under its name."""
    return _options(
        click.option(
            "--format",
            "format_name",
            metavar="NAME",
            help="Read every file as this format; without it, each file's content decides. "
            "Names: turncurve formats.",
        ),
        click.option(
            "--condition-from",
            type=click.Choice(["folder"]),
            help="Take each run's condition from the name of its folder.",
        ),
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
        click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on stderr."),
    )(command)
