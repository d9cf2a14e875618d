"""What the commands on a store say, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from turncurve.ingest import Imported
from turncurve.ingest.store_state import StoreCheck, StoreInfo
from turncurve.report.figures import counted
from turncurve.report.json import problem_row
from turncurve.report.layout import visible
from turncurve.report.plain import dump, plain

SHOWN = 20


def import_text(done: Imported) -> str:
    """What an import did, in a few lines."""
    did = [f"{counted(done.n_read, 'file')} read"]
    if done.n_replaced:
        did.append(f"{done.n_replaced:,} of them again")
    did.append(f"{done.n_unchanged:,} unchanged")
    if done.n_removed:
        did.append(f"{done.n_removed:,} removed")
    held = f"{visible(str(done.store))} holds {counted(done.n_runs, 'run')}"
    nothing = not done.n_read and not done.n_removed
    return f"{', '.join(did)}{'; nothing to do' if nothing else ''}\n{held}\n"


def import_json(done: Imported) -> str:
    """What an import did."""
    document: dict[str, Any] = {
        name: plain(getattr(done, name))
        for name in ("n_files", "n_read", "n_replaced", "n_unchanged", "n_removed", "n_runs")
    }
    return dump(
        {
            "store": plain(str(done.store)),
            **document,
            "unread": plain(done.unread),
            "problems": [problem_row(one) for one in done.problems],
        }
    )


def info_text(info: StoreInfo) -> str:
    """What a store holds."""
    options = ", ".join(f"{name} {value}" for name, value in info.options.items() if value)
    formats = ", ".join(f"{name} {n:,}" for name, n in info.runs_by_format.items())
    lines = [
        f"{visible(info.path)}: {counted(info.n_runs, 'run')}, {counted(info.n_turns, 'turn')}",
        f"  formats   {formats or 'none'}",
        f"  files     {info.n_files:,}, of which {info.n_unread:,} no reader knows",
        f"  problems  {info.n_problems:,}",
        f"  size      {info.n_bytes:,} bytes in {counted(info.n_parts, 'part')}",
        f"  made by   turncurve {visible(info.turncurve_version)}, with {options or 'no option'}",
    ]
    return "\n".join(lines) + "\n"


def info_json(info: StoreInfo) -> str:
    """What a store holds."""
    return dump(plain(info))


def check_text(check: StoreCheck) -> str:
    """Whether a store is sound, and which trace files differ."""
    lines = [*_few("damaged", [str(problem) for problem in check.damage])]
    lines.append("the store is damaged" if check.damage else "the store is sound")
    lines += _few("changed since", check.changed)
    lines += _few("no longer there", check.gone)
    lines.append(f"{counted(check.n_unchanged, 'trace file')} as read")
    return "\n".join(lines) + "\n"


def check_json(check: StoreCheck) -> str:
    """Whether a store is sound, and which trace files differ."""
    return dump(
        {
            "sound": not check.damage,
            "damage": [problem_row(one) for one in check.damage],
            "changed": plain(check.changed),
            "gone": plain(check.gone),
            "n_unchanged": check.n_unchanged,
        }
    )


def _few(label: str, items: Sequence[str]) -> Iterator[str]:
    for item in items[:SHOWN]:
        yield f"{label}: {visible(item, 400)}"
    if len(items) > SHOWN:
        yield f"{label}: {len(items) - SHOWN:,} more"
