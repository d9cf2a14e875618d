"""What an analysis left out."""

from __future__ import annotations

from collections.abc import Mapping


def excluded_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Reason to count, without the reasons that left nothing out."""
    return {reason: n for reason, n in counts.items() if n}
