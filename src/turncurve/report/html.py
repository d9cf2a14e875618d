"""The report as one self-contained HTML page.

The page asks the network for nothing and says so in its content security policy. Its parts are
plain files in `page/`; here they are put together and every piece of data is escaped.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.model import Run
from turncurve.report.details import Details
from turncurve.report.page_data import page_document
from turncurve.report.page_parts import page_part, page_policy, typeset
from turncurve.report.transcript import DEFAULT_CAP, capture, transcript_json

Texts: TypeAlias = Iterable[Run] | Callable[[Sequence[int]], Iterable[Run]]
"""Runs with their text, or a function that reads those at some positions of the run table."""

MAX_BYTES = 15_000_000
"""The size that a page with text stays below."""
VALUES_SHARE = 0.4
"""Of the page's size, what the values by run and turn may take."""

SCRIPTS = (
    "dom",
    "format",
    "data",
    "theme",
    "series",
    "chart",
    "cursor",
    "figure",
    "tables",
    "summary",
    "curve",
    "curves",
    "survival",
    "findings",
    "appendix",
    "ranking",
    "transcript",
    "sheet",
    "main",
)
"""Files of `page/js`, in the order in which they are put into one function."""

STYLES = ("base", "charts", "sheet", "print")

_CAPS = (DEFAULT_CAP, 8_000, 4_000, 2_000, 1_000, 500, 250)
_LONG_HEADLINE = 90
_SMALLEST_SHARE = 12_000
"""Bytes below which a run's transcript is not worth its place on a crowded page."""


def write_html(
    path: Path | str,
    document: Mapping[str, Any],
    runs: Texts | None = None,
    *,
    details: Details | None = None,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Write the page to `path`, by way of a temporary file beside it.

    Args:
        path: Where the page goes; a file that is there is replaced.
        document: The report as JSON data, as `to_json` gives it.
        runs: The runs whose text can be read on the page, or a function that reads some of those
            in `details`, so that only files are opened whose text has room; None leaves all text
            out.
        details: Values by run and turn, behind "the worst runs at this turn".
        max_bytes: What the page may weigh; texts are cut shorter to stay below.
    """
    target = Path(path)
    with NamedTemporaryFile("wb", dir=target.parent, prefix=target.name, delete=False) as file:
        temporary = Path(file.name)
        try:
            for piece in render_html(document, runs, details=details, max_bytes=max_bytes):
                file.write(_bytes(piece))
        except BaseException:
            temporary.unlink()
            raise
    temporary.chmod(0o644)
    temporary.replace(target)


def render_html(
    document: Mapping[str, Any],
    runs: Texts | None = None,
    *,
    details: Details | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[str]:
    """The page, piece by piece, so that a large one is never whole in memory.

    The arguments are those of `write_html`. The charts come first and the texts last, so that a
    browser draws the first curve before it has read the texts.
    """
    written = 0
    details, values = _fitting_values(details, int(VALUES_SHARE * max_bytes))
    for piece in _front(document, details, has_text=runs is not None, values=values):
        written += len(_bytes(piece))
        yield piece
    budget = _Budget(bytes_left=max_bytes - written - 4_000, turns_left=_n_turns(document))
    if runs is not None:
        yield from _transcript_blocks(runs, details, budget)
    yield _block("transcript-index", {"runs": budget.kept, "n_omitted": budget.n_omitted})
    yield "</body>\n</html>\n"


def embedded_json(value: Any) -> str:
    """JSON that can stand in a `<script>` element whatever the strings in it say.

    Raises:
        ValueError: A number is NaN or infinite.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@dataclass(slots=True)
class _Budget:
    """Bytes that the texts may still take, shared out by turns; what one run saves, others get."""

    bytes_left: int
    turns_left: int
    cap: int = 0
    """Place in `_CAPS` of the cap that the run before this one took."""
    kept: list[str] = field(default_factory=list)
    n_omitted: int = 0

    def share(self, n_turns: int) -> int:
        turns = max(self.turns_left, n_turns, 1)
        return min(self.bytes_left, max(self.bytes_left * n_turns // turns, _SMALLEST_SHARE))


def _fitting_values(details: Details | None, most: int) -> tuple[Details | None, list[str]]:
    """The values by run, packed, one block a signal; the best runs are left out where too many."""
    if details is None:
        return None, []
    while True:
        blocks = [
            _packed("values", number, json.dumps(details.values(signal)))
            for number, signal in enumerate(details.signals)
        ]
        size = sum(map(len, blocks)) + len(_bytes(embedded_json(details.run_rows())))
        if size <= most or not len(details.positions):
            return details, blocks
        details = details.worst(int(0.95 * len(details.positions) * most / size))


def _front(
    document: Mapping[str, Any], details: Details | None, *, has_text: bool, values: list[str]
) -> Iterator[str]:
    app = "\n".join(page_part(f"js/{name}.js") for name in SCRIPTS)
    scripts = (page_part("vendor/plot.min.js"), f'(() => {{\n"use strict";\n{app}\n}})();\n')
    headline = str(document.get("headline") or "Report on agent runs")
    rest = typeset(" ".join(map(str, document.get("headline_details") or ())))
    slots = {
        "policy": html.escape(page_policy(scripts)),
        "title": html.escape(f"turncurve: {headline}"),
        "size": ' class="long"' if len(headline) > _LONG_HEADLINE else "",
        "headline": html.escape(typeset(headline)),
        "standfirst": f'<p class="standfirst">{html.escape(rest)}</p>' if rest else "",
        "styles": "\n".join(page_part(f"css/{name}.css") for name in STYLES),
        "version": html.escape(str(document.get("turncurve_version") or "")),
    }
    for number, piece in enumerate(re.split(r"\{\{(\w+)\}\}", page_part("template.html"))):
        yield slots[piece] if number % 2 else piece
    yield _block("report", page_document(document))
    yield _block("details", _details_document(details, has_text=has_text))
    for script in scripts:
        yield f"<script>{script}</script>\n"
    yield from values


def _details_document(details: Details | None, *, has_text: bool) -> dict[str, Any]:
    if details is None:
        return {"runs": [], "signals": [], "n_omitted": 0, "has_text": has_text}
    return {
        "runs": details.run_rows(),
        "signals": list(details.signals),
        "n_omitted": details.n_omitted,
        "has_text": has_text,
    }


def _transcript_blocks(texts: Texts, details: Details | None, budget: _Budget) -> Iterator[str]:
    chosen = _with_room(details, budget)
    wanted = None if chosen is None or details is None else _ids(details, chosen)
    for run in _read_some(texts, details, chosen, budget):
        if wanted is not None and run.id not in wanted:
            budget.n_omitted += 1
            continue
        block = _fitting_block(run, budget)
        budget.turns_left -= len(run.turns)
        if block is None:
            budget.n_omitted += 1
            continue
        budget.bytes_left -= len(block) + len(embedded_json(run.id)) + 1
        budget.kept.append(run.id)
        yield block


def _read_some(
    texts: Texts, details: Details | None, chosen: NDArray[np.int64] | None, budget: _Budget
) -> Iterable[Run]:
    if not callable(texts):
        return texts
    if details is None:
        raise ValueError("render_html: wanted details beside a function that reads runs")
    n_runs = details.table.n_runs
    positions = np.arange(n_runs) if chosen is None else np.sort(chosen)
    budget.n_omitted = n_runs - len(positions)
    return texts(positions.tolist())


def _with_room(details: Details | None, budget: _Budget) -> NDArray[np.int64] | None:
    """The worst runs, where there are too many to give each a readable share; None means all."""
    room = max(0, budget.bytes_left) // _SMALLEST_SHARE
    if details is None or len(details.positions) + details.n_omitted <= room:
        return None
    chosen = details.positions[:room]
    budget.turns_left = int(details.table.runs.n_turns[chosen].sum())
    return chosen


def _ids(details: Details, chosen: NDArray[np.int64]) -> frozenset[str]:
    return frozenset(str(run) for run in details.table.runs.id[chosen])


def _fitting_block(run: Run, budget: _Budget) -> str | None:
    """The run's transcript with a cap by which it fits in its share; None if none does.

    Packing is what takes the time, so the first cap tried is one step above that of the run before.
    """
    share = budget.share(len(run.turns))
    for place in range(max(0, budget.cap - 1), len(_CAPS)):
        text = transcript_json(capture(run, _CAPS[place]))
        block = _packed("transcript", len(budget.kept), text)
        if len(block) <= share:
            budget.cap = place
            return block
    return None


def _packed(kind: str, number: int, text: str) -> str:
    packer = zlib.compressobj(level=6, wbits=31)
    packed = packer.compress(_bytes(text)) + packer.flush()
    body = base64.b64encode(packed).decode()
    return f'<script type="text/plain" id="{kind}-{number}">{body}</script>\n'


def _block(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{embedded_json(value)}</script>\n'


def _bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which traces do hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def _n_turns(document: Mapping[str, Any]) -> int:
    return int((document.get("summary") or {}).get("n_turns") or 0)
