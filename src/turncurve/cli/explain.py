"""What `turncurve formats` says: the formats, and why a file is read as one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from turncurve.cli.paths import as_given, given_paths
from turncurve.ingest.discover import Explanation, discover, explain, is_companion
from turncurve.readers import READERS, Reader
from turncurve.report.layout import paragraph, visible
from turncurve.report.plain import dump, plain

WHAT_WOULD_WORK = (
    "--format NAME reads it as a format all the same; a table with the column `turn` and one row "
    "a turn (JSON lines, CSV, Parquet) is read as `turns`"
)


class Listing(NamedTuple):
    """The same facts for people and for programs."""

    text: str
    json: str


def known_formats() -> Listing:
    """Every reader, in the order in which they are asked."""
    readers = [READERS[name] for name in READERS]
    blocks = [_described(reader) for reader in readers]
    rows = [
        {
            "name": reader.name,
            "title": reader.title,
            "recognised_by": reader.recognised_by,
            "extra": reader.extra,
            "package": READERS.package(reader.name),
        }
        for reader in readers
    ]
    return Listing("\n\n".join(blocks) + "\n", dump({"formats": rows}))


def explained(arguments: Sequence[str]) -> Listing:
    """For each file below the arguments: which reader takes it, and why."""
    readers = [READERS[name] for name in READERS]
    with given_paths(arguments) as paths:
        found = [(explain(f.path), is_companion(f.path, readers)) for f in discover(paths)]
    blocks = [_reasoned(explanation, companion=companion) for explanation, companion in found]
    rows = [_row(explanation, companion=companion) for explanation, companion in found]
    return Listing("\n".join(blocks) + "\n", dump({"files": rows}))


def _described(reader: Reader) -> str:
    extra = f"needs the extra {reader.extra}: pip install 'turncurve[{reader.extra}]'"
    package = READERS.package(reader.name)
    lines = [f"{reader.name}: {reader.title}", paragraph(f"known by {reader.recognised_by}", "  ")]
    if reader.extra:
        lines.append(paragraph(extra, "  "))
    if package is not None:
        lines.append(paragraph(f"added by the package {visible(package, 100)}", "  "))
    return "\n".join(lines)


def _reasoned(explanation: Explanation, *, companion: bool) -> str:
    packed = f" ({explanation.compression})" if explanation.compression else ""
    path = visible(as_given(explanation.path), 400) + packed
    if explanation.reader is not None:
        others = f"; {', '.join(explanation.others)} would take it too" * bool(explanation.others)
        why = f"{explanation.reader}: {explanation.recognised_by}{others}"
    elif companion:
        why = "no trace: read beside one"
    else:
        why = f"no reader: {explanation.reason}; {WHAT_WOULD_WORK}"
    said = [visible(failed, 400) for failed in explanation.failed]
    return "\n".join([path, *(paragraph(each, "  ") for each in [why, *said])])


def _row(explanation: Explanation, *, companion: bool) -> Mapping[str, Any]:
    wanted = explanation.reader is None and not companion
    return {
        "path": plain(as_given(explanation.path)),
        "reader": explanation.reader,
        "recognised_by": explanation.recognised_by,
        "others": list(explanation.others),
        "compression": explanation.compression,
        "companion": companion,
        "reason": explanation.reason,
        "failed": list(explanation.failed),
        "fix": WHAT_WOULD_WORK if wanted else None,
    }
