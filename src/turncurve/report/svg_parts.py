"""Pieces that hand-drawn pictures are made of; every text in them is escaped."""

from __future__ import annotations

import html

from turncurve.report.layout import visible


def svg_start(width: float, height: float, label: str) -> str:
    """The opening of a drawing, with what it shows for who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(label)}">'
    )


def svg_text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: int = 13,
    soft: bool = False,
) -> str:
    """Words at a place."""
    style = ' class="soft"' if soft else ""
    return (
        f'<text{style} x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}">'
        f"{html.escape(visible(words, 40))}</text>"
    )


def svg_dot(x: float, y: float, kind: str) -> str:
    """A point: `first` is filled, `second` hollow."""
    hollow = " hollow" if kind == "second" else ""
    return f'<circle class="{kind}{hollow}" cx="{x:g}" cy="{y:.1f}" r="5" stroke-width="2"/>'


def svg_key(x: float, kind: str, name: str) -> str:
    """What a kind of point stands for."""
    return svg_dot(x, 12, kind) + svg_text(x + 11, 16, name)


def svg_line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    """A straight line."""
    width = ' stroke-width="2"' if kind in ("first", "second") else ""
    return (
        f'<line class="{kind}" x1="{start[0]:.1f}" x2="{end[0]:.1f}" y1="{start[1]:.1f}" '
        f'y2="{end[1]:.1f}"{width}/>'
    )
