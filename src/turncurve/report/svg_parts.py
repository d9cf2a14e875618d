"""Pieces of drawings as SVG: an element of a size, and texts that are escaped."""

from __future__ import annotations

import html

from turncurve.report.layout import visible


def drawing(width: float, height: float, label: str) -> str:
    """The start of an `<svg>` element; `label` says what it shows to who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(label)}">'
    )


def text_at(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: int = 13,
    soft: bool = False,
) -> str:
    """Words at a place, cut to 40 characters and escaped."""
    style = ' class="soft"' if soft else ""
    return (
        f'<text{style} x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}">'
        f"{html.escape(visible(words, 40))}</text>"
    )
