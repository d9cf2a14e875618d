"""Which earlier turns a grader is shown, where not all of them fit."""

from __future__ import annotations

from collections.abc import Sequence

KEPT = 0.6
"""Share of the room that is left filled when turns are dropped."""


def window_starts(sizes: Sequence[int], room: int) -> list[int]:
    """For each turn the position of the first earlier turn that is shown with it.

    Where the next turn would not fit, the oldest ones are dropped until 60 % of the room is in
    use, not one by one: so the start of the prompt stays the same for several turns, which is what
    providers' prompt caches go by. What is shown with a turn depends on earlier turns alone.

    Args:
        sizes: Size of each turn, in the run's order.
        room: Size that the earlier turns may have together.

    Returns:
        One position a turn, and one for a turn after the last; position i has turns start..i-1.
    """
    starts, start, used = [0], 0, 0
    for position, size in enumerate(sizes):
        used += size
        if used > room:
            while start <= position and used > KEPT * room:
                used -= sizes[start]
                start += 1
        starts.append(start)
    return starts
