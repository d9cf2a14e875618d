"""Text and tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turncurve.report.layout import visible

_MARKUP = re.compile(r"[\\`*_<>|~#&$]|(?<=\])\(|(?<=:)/(?=/)|(?<=www)\.|(?<=\w)@")


def escaped(text: str) -> str:
    """Text that Markdown shows as it stands: no markup, link, address or HTML comes of it."""
    return _MARKUP.sub(lambda found: f"\\{found.group()}", visible(text, 2_000))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns stand to the right."""
    lines = [header, ["--:"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell if cell == "--:" else escaped(cell) for cell in line) + " |"
        for line in lines
    )
