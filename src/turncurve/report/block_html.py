"""Sections, facts, tables and pictures as HTML: every word goes through `escape`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from turncurve.report.blocks import Picture, Table
from turncurve.report.layout import visible
from turncurve.report.page_parts import typeset


def words(said: str) -> str:
    """Words as they stand, with their minus signs and ranges set."""
    return escape(typeset(visible(said, 2_000)))


def section(name: str, title: str, *parts: str) -> str:
    """A section under its heading; `name` and `title` are ours, not of a trace."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{escape(title)}</h2>\n{"".join(parts)}\n</section>'
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels and a sentence for each."""
    rows = (f"<div><dt>{words(label)}</dt><dd>{words(said)}</dd></div>" for label, said in pairs)
    return f'<dl class="facts">{"".join(rows)}</dl>'


def table(of: Table, *, empty: str = "Nothing.") -> str:
    """A table that scrolls where it is too wide, and its notes; `empty` stands for no row."""
    header = "".join(
        f'<th scope="col"{_side(way)}>{words(cell)}</th>'
        for cell, way in zip(of.header, of.align, strict=True)
    )
    rows = "".join(f"<tr>{_cells(row, of.align)}</tr>" for row in of.rows)
    notes = "".join(f'<p class="note">{words(note)}</p>' for note in of.notes)
    if not rows:
        return f'<p class="absent">{escape(empty)}</p>{notes}'
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{header}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{notes}"
    )


def picture(of: Picture) -> str:
    """A drawing, whose own texts are escaped by whoever draws it, over its caption."""
    caption = f"<figcaption>{words(of.caption)}</figcaption>"
    return f'<figure class="drawing">{of.svg}{caption}</figure>'


def _cells(row: tuple[str, ...], align: str) -> str:
    first, *rest = row
    cells = [f'<th scope="row"{_side(align[0])}>{words(visible(first, 60))}</th>']
    cells += [
        f"<td{_side(way)}>{words(visible(cell, 60))}</td>"
        for cell, way in zip(rest, align[1:], strict=True)
    ]
    return "".join(cells)


def _side(way: str) -> str:
    return ' class="num"' if way == ">" else ""
