"""A result as sentences, facts, tables and pictures, set as text, as Markdown or as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from turncurve.report import layout, markup


@dataclass(frozen=True, slots=True)
class Said:
    """A paragraph; the first of a result is its finding."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Labels and a sentence for each; the title is ours, not of a trace."""

    title: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under a header; `align` holds one of `<`, `>` a column.

    Cells and notes may hold text of a trace; title and header are ours.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing for the page, whose numbers stand in a table too: text and Markdown leave it out.

    `svg` is an `<svg>` element whose texts are escaped.
    """

    title: str
    svg: str
    caption: str


Block: TypeAlias = Said | Facts | Table | Picture


def as_text(blocks: Iterable[Block]) -> str:
    """The blocks for a terminal, in 80 columns."""
    return "\n\n".join(_text(one) for one in blocks if not isinstance(one, Picture)) + "\n"


def as_markdown(title: str, blocks: Sequence[Block]) -> str:
    """The blocks as Markdown, under a heading."""
    first, *rest = (block for block in blocks if not isinstance(block, Picture))
    opening = f"**{markup.escaped(first.text)}**" if isinstance(first, Said) else _markdown(first)
    return "\n\n".join([f"### turncurve: {title}", opening, *map(_markdown, rest)]) + "\n"


def _text(block: Said | Facts | Table) -> str:
    if isinstance(block, Said):
        return layout.paragraph(layout.visible(block.text, 2_000))
    if isinstance(block, Facts):
        pairs = [(layout.visible(label), layout.visible(said, 600)) for label, said in block.pairs]
        return layout.section(block.title, layout.facts(pairs))
    rows = [[layout.visible(cell, 40) for cell in row] for row in block.rows]
    notes = [layout.paragraph(layout.visible(note, 600), "  ") for note in block.notes]
    shown = layout.table(block.header, rows, block.align)
    return layout.section(block.title, shown, *([""] if notes else []), *notes)


def _markdown(block: Said | Facts | Table) -> str:
    if isinstance(block, Said):
        return markup.escaped(block.text)
    if isinstance(block, Facts):
        lines = [
            f"- {markup.escaped(label)}: {markup.escaped(said)}" for label, said in block.pairs
        ]
        return f"#### {markup.escaped(block.title)}\n\n" + "\n".join(lines)
    notes = [markup.escaped(note) for note in block.notes]
    return "\n\n".join(
        [f"#### {markup.escaped(block.title)}", markup.table(block.header, block.rows), *notes]
    )
