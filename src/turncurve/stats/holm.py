"""p values that count how many looks were taken."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p values so that with chance 1 - alpha none of those at most alpha is false.

    It holds however the tests hang together.

    Args:
        p: One a test; None for what was not tested and is not in the family.

    References:
        Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    """
    known = sorted((value, i) for i, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, i) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        adjusted[i] = highest
    return adjusted
