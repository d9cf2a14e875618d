"""Estimates as words and cells: the value, its limits, and why one of them is absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turncurve.report.figures import ABSENT, amount, interval
from turncurve.stats.estimate import Estimate


def shown(estimate: Estimate) -> str:
    """`0.742 [0.637, 0.828]`, or why there is nothing."""
    if estimate.value is None:
        return f"an unknown share ({estimate.reason})"
    limits = limits_of(estimate)
    return f"{amount(estimate.value)} {limits if limits != ABSENT else '(no interval)'}"


def limits_of(estimate: Estimate | None) -> str:
    """The interval alone, or a dash."""
    return ABSENT if estimate is None else interval(estimate.low, estimate.high)


def level_of(estimate: Estimate) -> str:
    """`95 %`."""
    return f"{100 * estimate.level:.4g} %"


def value_of(estimate: Estimate | None) -> str:
    """The value alone, or a dash."""
    return ABSENT if estimate is None else amount(estimate.value)


def reasons_of(named: Iterable[tuple[str, Estimate]]) -> Iterator[str]:
    """Why numbers, or their intervals, are absent; each reason once."""
    seen: dict[str, list[str]] = {}
    for label, estimate in named:
        for why in (estimate.reason, *estimate.warnings):
            if why is not None and (why.startswith("no interval") or estimate.reason):
                seen.setdefault(why, []).append(label)
    for why, labels in seen.items():
        yield f"{', '.join(dict.fromkeys(labels))}: {why}."
