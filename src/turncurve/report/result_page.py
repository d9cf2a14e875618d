"""A result as one self-contained HTML page: no script, and nothing asked of the network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from turncurve import __version__
from turncurve.report.blocks import Block, Facts, Picture, Said, Table
from turncurve.report.layout import visible
from turncurve.report.page_parts import page_part, typeset

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_DARK = re.compile(r':root\[data-theme="dark"\] \{(.*?)\}', re.DOTALL)
_LONGEST = 2_000


def as_page(title: str, blocks: Iterable[Block]) -> str:
    """The blocks as a page; the first sentence is its heading.

    Args:
        title: What the result is, in our words.
        blocks: In order. What they hold of traces is escaped here; a picture's drawing is not, as
            whoever draws it escapes its texts.
    """
    first, *rest = blocks
    heading = _escaped(first.text) if isinstance(first, Said) else _escaped(title)
    body = rest if isinstance(first, Said) else [first, *rest]
    return "".join(_pieces(_escaped(title), heading, body))


def _pieces(title: str, heading: str, blocks: Iterable[Block]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{html.escape(_POLICY)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield f'<title>turncurve: {title}</title>\n<link rel="icon" href="data:,">\n'
    yield f"<style>\n{_styles()}\n</style>\n</head>\n<body>\n"
    yield '<header class="masthead">\n'
    yield f'<p class="colophon"><span>turncurve {__version__}: {title}</span></p>\n'
    yield f'<h1 class="long">{heading}</h1>\n</header>\n<main>\n'
    for block in blocks:
        yield _block(block)
    yield "</main>\n"
    yield f'<footer class="foot"><p>Made by turncurve {__version__}. This page is one file, has no '
    yield "script and asks the network for nothing.</p></footer>\n</body>\n</html>\n"


def _block(block: Block) -> str:
    if isinstance(block, Said):
        return f"<p>{_escaped(block.text)}</p>\n"
    title = f"<section>\n<h2>{_escaped(block.title)}</h2>\n"
    if isinstance(block, Picture):
        caption = f"<figcaption>{_escaped(block.caption)}</figcaption>"
        return f'{title}<figure class="drawing">{block.svg}{caption}</figure>\n</section>\n'
    if isinstance(block, Facts):
        pairs = "".join(
            f"<div><dt>{_escaped(label)}</dt><dd>{_escaped(said)}</dd></div>\n"
            for label, said in block.pairs
        )
        return f'{title}<dl class="facts">\n{pairs}</dl>\n</section>\n'
    notes = "".join(f'<p class="note">{_escaped(note)}</p>\n' for note in block.notes)
    return f"{title}{_table(block)}{notes}</section>\n"


def _table(block: Table) -> str:
    marks = ['class="num"' if side == ">" else 'class="words"' for side in block.align]
    head = "".join(
        f'<th scope="col" {mark}>{_escaped(cell)}</th>'
        for cell, mark in zip(block.header, marks, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td {mark}>{_escaped(cell)}</td>" for cell, mark in zip(row, marks, strict=True)
        )
        + "</tr>\n"
        for row in block.rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def _styles() -> str:
    """The report's styles; without a script, dark colours follow the reader's system."""
    scheme = r"@media (prefers-color-scheme: dark) { :root {\1} }"
    return _DARK.sub(scheme, page_part("css/base.css")) + "\n" + page_part("css/result.css")


def _escaped(text: str) -> str:
    """Text of a trace as it stands, without markup or control characters."""
    return html.escape(typeset(visible(text, _LONGEST)))
"""A result of sentences, facts and tables as one HTML page."""
from collections.abc import Iterator, Sequence
from html import escape
from turncurve.report import block_html
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.page_parts import page_part, page_policy
STYLES = ("base", "compare", "print")
def result_page(title: str, blocks: Sequence[Block]) -> str:
    """The page, whole: the first paragraph on top, then a section for each of the others.
        title: What the result is about; ours, not of a trace.
        blocks: The result; the first is a paragraph.
    parts = "\n".join(page_part(f"js/{name}.js") for name in ("dom", "theme"))
    ready = 'document.documentElement.dataset.ready = "true";'
    script = f'(() => {{\n"use strict";\n{parts}\nstartTheme();\n{ready}\n}})();\n'
    opening = first.text if isinstance(first, Said) else title
    slots = {
        "policy": escape(page_policy([script])),
        "title": escape(f"turncurve: {visible(title)}"),
        "styles": "\n".join(page_part(f"css/{name}.css") for name in STYLES),
        "version": escape(__version__),
        "about": escape(title),
        "masthead": f'<h1 class="long">{block_html.words(opening)}</h1>',
        "main": "\n".join(_sections(rest if isinstance(first, Said) else blocks)),
        "script": script,
    }
    pieces = re.split(r"\{\{(\w+)\}\}", page_part("result.html"))
    page = "".join(slots[piece] if i % 2 else piece for i, piece in enumerate(pieces))
    return page.encode("utf-8", "replace").decode()
def _sections(blocks: Sequence[Block]) -> Iterator[str]:
    for number, block in enumerate(blocks, start=1):
        if isinstance(block, Said):
            yield f"<p>{block_html.words(block.text)}</p>"
        else:
            yield block_html.section(f"part-{number}", block.title, _inside(block))
def _inside(block: Facts | Table) -> str:
    return block_html.facts(block.pairs) if isinstance(block, Facts) else block_html.table(block)
