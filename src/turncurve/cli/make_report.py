"""The work behind `turncurve report`, apart from its options so that help stays light."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from turncurve.analysis.axes import MOST_PARTS
from turncurve.analysis.settings import Settings
from turncurve.cli.options import Reading
from turncurve.cli.outputs import write_text, write_whole
from turncurve.cli.paths import given_paths
from turncurve.cli.reading import read_runs, read_texts
from turncurve.report.details import details
from turncurve.report.document import Report, build_report
from turncurve.report.headline import headline
from turncurve.report.html import Texts, write_html
from turncurve.report.json import to_json
from turncurve.report.layout import paragraph, visible
from turncurve.report.markdown import to_markdown
from turncurve.report.plain import dump
from turncurve.report.text import to_text
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the report should hold."""

    signals: Sequence[str]
    target: float | None
    production: Sequence[str]
    settings: Settings
    reading: Reading


def make_report(
    paths: Sequence[str],
    request: Request,
    targets: Sequence[tuple[str, str]],
    *,
    with_text: bool,
) -> int:
    """Read, analyse, and write to each target; returns the number of unreadable records."""
    _check(request.settings)
    with given_paths(paths) as files, given_paths(request.production) as production_files:
        runs = read_runs(files, request.reading)
        production = (
            read_runs(production_files, request.reading).table if production_files else None
        )
        report = build_report(
            runs,
            settings=request.settings,
            signals=request.signals,
            target=request.target,
            production=production,
        )
        if not request.reading.quiet and any(target != "-" for _, target in targets):
            click.echo(_finding(report), err=True)
        for form, target in targets:
            if form == "html":
                texts = read_texts(files, request.reading, runs.table) if with_text else None
                _write_page(Path(target), report, runs.table, texts)
            else:
                write_text(target, _RENDER[form](report))
            if target != "-" and not request.reading.quiet:
                click.echo(f"wrote {target}", err=True)
    return len(runs.problems)


def _check(settings: Settings) -> None:
    if settings.axis == "progress" and (settings.bucket or 0) > MOST_PARTS:
        raise click.UsageError(f"--axis progress: wanted a --bucket of at most {MOST_PARTS:,}")


def _finding(report: Report) -> str:
    top = headline(report)
    return paragraph(visible(" ".join([top.sentence, *top.details]), 2_000))


def _json(report: Report) -> str:
    return dump(to_json(report))


_RENDER: dict[str, Callable[[Report], str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "json": _json,
}


def _write_page(target: Path, report: Report, table: TurnTable, texts: Texts | None) -> None:
    quality = report.quality
    values = details(table, quality=quality.name, better=quality.better or "high")
    document = to_json(report)
    write_whole(target, lambda path: write_html(path, document, texts, details=values))
