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


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _bundled(command: F, name: str, bundle: type[Any], leave: tuple[str, ...] = ()) -> F:
    """The command with those of its options that are fields of `bundle` given as one argument."""
    names = [field.name for field in fields(bundle) if field.name not in leave]

    @wraps(command)
    def with_bundle(**given: Any) -> Any:
        chosen = {field: given.pop(field) for field in names}
        return command(**{name: bundle(**chosen)}, **given)

    return cast(F, with_bundle)


def curve_options(command: F) -> F:
    """Add the options that make up `Settings`; the command gets them as `settings`."""
    defaults = Settings()
    add = _options(
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
        click.option(
            "--level",
            type=click.FloatRange(0, 0.999999, min_open=True),
            default=defaults.level,
            callback=finite,
            show_default=True,
            help="Confidence level of every interval.",
        ),
        click.option(
            "--seed",
            type=WholeNumber(min=0),
            default=defaults.seed,
            show_default=True,
            help="Seed of every random procedure.",
        ),
    )
    return add(_bundled(command, "settings", Settings, leave=("resamples",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read, as the command line says it."""

    format: str | None
    rules: Path | None
    output_schema: Path | None
    strict: bool
    quiet: bool
    condition_from: Literal["folder"] | None = None


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
    add = _options(_FORMAT, _CONDITION_FROM, *_CHECKS)
    return add(_bundled(command, "reading", Reading))


def importing_options(command: F) -> F:
    """As `reading_options`, without what is settled when a store is analysed."""
    add = _options(_FORMAT, *_CHECKS)
    return add(_bundled(command, "reading", Reading, leave=("condition_from",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where the report goes, and in which form."""

    json: str | None
    markdown: str | None
    files: tuple[str, ...]
    no_text: bool

    def targets(self) -> list[tuple[str, str]]:
        """Pairs of a form (text, json, markdown, html) and a path, or `-` for standard output.

        Raises:
            click.UsageError: A suffix says no form, a folder is missing, or two go to one place.
        """
        named = [("json", self.json), ("markdown", self.markdown)]
        pairs = [(form, target) for form, target in named if target is not None]
        pairs += [(_form(file), file) for file in self.files]
        forms: dict[str, str] = {}
        for form, target in pairs:
            if forms.setdefault(_place(target), form) != form:
                said = "standard output" if target == "-" else target
                raise click.UsageError(f"only one output can go to {said}")
        once = {_place(target): (form, target) for form, target in pairs}
        return list(once.values()) or [("text", "-")]


def _place(target: str) -> str:
    if target == "-":
        return target
    if not target:
        raise click.UsageError("cannot write to a file without a name")
    path = Path(target)
    if path.is_dir():
        raise click.UsageError(f"cannot write {target}: it is a folder")
    if not path.parent.is_dir():
        raise click.UsageError(f"cannot write {target}: there is no such folder")
    return str(path.resolve())


_FORMS = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".txt": "text"}


def _form(file: str) -> str:
    if file == "-":
        raise click.UsageError("-o -: for standard output say --json - or --markdown -")
    form = _FORMS.get(Path(file).suffix.lower())
    if form is None:
        raise click.UsageError(
            f"-o {file or repr(file)}: wanted a name that ends in {', '.join(_FORMS)}"
        )
    return form


def output_options(command: F) -> F:
    """Add the options that say where the report goes; the command gets them as `outputs`."""
    add = _options(
        click.option(
            "-o",
            "--output",
            "files",
            multiple=True,
            metavar="FILE",
            help="Write the report to FILE; its ending decides the form: .html, .json, .md, .txt. "
            "Can be given several times.",
        ),
        click.option("--json", metavar="FILE|-", help="Write JSON to FILE, or to standard output."),
        click.option(
            "--markdown",
            metavar="FILE|-",
            help="Write Markdown, as for a job summary, to FILE or to standard output.",
        ),
        click.option(
            "--no-text", is_flag=True, help="Leave what was said in the runs out of the HTML page."
        ),
    )
    return add(_bundled(command, "outputs", Outputs))
