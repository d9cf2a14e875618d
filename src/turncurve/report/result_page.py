"""A result of sentences, facts, tables and pictures as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from turncurve import __version__
from turncurve.report import block_html
from turncurve.report.blocks import Block, Facts, Picture, Said, Table
from turncurve.report.layout import visible
from turncurve.report.page_parts import page_part, page_policy

STYLES = ("base", "compare", "result", "print")


def result_page(title: str, blocks: Sequence[Block]) -> str:
    """The page, whole: the first paragraph on top, then a section for each of the others.

    Args:
        title: What the result is about; ours, not of a trace.
        blocks: The result; the first is a paragraph.
    """
    parts = "\n".join(page_part(f"js/{name}.js") for name in ("dom", "theme"))
    ready = 'document.documentElement.dataset.ready = "true";'
    script = f'(() => {{\n"use strict";\n{parts}\nstartTheme();\n{ready}\n}})();\n'
    first, *rest = blocks
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


def _inside(block: Facts | Table | Picture) -> str:
    if isinstance(block, Facts):
        return block_html.facts(block.pairs)
    return block_html.picture(block) if isinstance(block, Picture) else block_html.table(block)
