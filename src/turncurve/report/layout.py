"""Words and numbers laid out in 80 columns of plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 80
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def visible(text: str, limit: int = 200) -> str:
    """Text of a trace made safe to print: one line, no control or direction-changing character."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(c if c.isprintable() else _escaped(c) for c in shown)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def paragraph(text: str, indent: str = "") -> str:
    """Text wrapped to the width."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=True,
        break_on_hyphens=False,
    )


def section(title: str, *lines: str) -> str:
    """A titled block."""
    return "\n".join([title.upper(), *lines])


def facts(pairs: Iterable[tuple[str, str]], label_width: int = 23) -> str:
    """A label and a sentence beside it, the sentences aligned and wrapped.

    A label that is too long for its column stands on a line of its own.
    """
    lines = []
    for label, sentence in pairs:
        wrapped = textwrap.wrap(sentence, WIDTH - label_width, break_on_hyphens=False) or [""]
        start = f"  {label}"
        if len(start) >= label_width:
            lines.append(paragraph(label, "  "))
            start = ""
        lines += [f"{start:<{label_width}}{wrapped[0]}".rstrip()]
        lines += [" " * label_width + line for line in wrapped[1:]]
    return "\n".join(lines)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """Columns padded to their widest cell; `align` holds one of `<`, `>` a column."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = (
        "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths, strict=True))
        for row in [header, *rows]
    )
    return "\n".join(f"  {line}".rstrip() for line in lines)


def bar(share: float, width: int) -> str:
    """A bar of `width` cells, filled to `share` in [0, 1] to an eighth of a cell."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width, "·")


def sparkline(values: Sequence[float], width: int) -> str:
    """A curve in at most `width` characters, from its lowest value to its highest."""
    if not values:
        return ""
    step = max(1.0, len(values) / width)
    shown = [values[int(i * step)] for i in range(min(width, len(values)))]
    low, high = min(shown), max(shown)
    if low == high:
        return _HEIGHTS[0] * len(shown)
    return "".join(_HEIGHTS[round((v - low) / (high - low) * 7)] for v in shown)
