"""Options that say where a result goes, and in which form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from turncurve.cli.options import F, bundled, in_order

_FORMS = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".txt": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where a result goes, and in which form."""

    json: str | None
    markdown: str | None
    files: tuple[str, ...]

    def targets(self) -> list[tuple[str, str]]:
        """Pairs of a form (text, json, markdown, html) and a path, or `-` for standard output.

        Raises:
            click.UsageError: A suffix says no form, a folder is missing, or two go to one place.
        """
        return _targets(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOutputs(Outputs):
    """Where the report goes, whose page can hold what was said."""

    no_text: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOutputs(Outputs):
    """Where a result goes."""

    html: str | None

    def targets(self) -> list[tuple[str, str]]:
        return _targets(self) if self.html is None else _targets(self, ("html", self.html))


def _targets(outputs: Outputs, *more: tuple[str, str]) -> list[tuple[str, str]]:
    named = [("json", outputs.json), ("markdown", outputs.markdown), *more]
    pairs = [(form, target) for form, target in named if target is not None]
    pairs += [(_form(file), file) for file in outputs.files]
    at: dict[str, str] = {}
    for form, target in pairs:
        if at.setdefault(_place(target), form) != form:
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
    no_text = click.option(
        "--no-text", is_flag=True, help="Leave what was said in the runs out of the HTML page."
    )
    add = in_order(*_options("the report"), no_text)
    return add(bundled(command, "outputs", ReportOutputs))


def result_options(command: F) -> F:
    """Add the options that say where a result goes; the command gets them as `outputs`."""
    page = click.option("--html", metavar="FILE|-", help="Write one HTML page.")
    add = in_order(*_options("the result"), page)
    return add(bundled(command, "outputs", ResultOutputs))


def _options(what: str) -> tuple[Callable[[F], F], ...]:
    return (
        click.option(
            "-o",
            "--output",
            "files",
            multiple=True,
            metavar="FILE",
            help=f"Write {what} to FILE; its ending decides the form: .html, .json, "
            ".md, .txt. Can be given several times.",
        ),
        click.option("--json", metavar="FILE|-", help="Write JSON to FILE, or to standard output."),
        click.option(
            "--markdown",
            metavar="FILE|-",
            help="Write Markdown, as for a job summary, to FILE or to standard output.",
        ),
    )
