"""The model behind a run whose turns name theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from turncurve.model import Turn


def most_used_model(turns: Iterable[Turn]) -> str | None:
    """The model of most turns, the earliest of equals; None if no turn names one."""
    models = Counter(turn.model for turn in turns if turn.model)
    return models.most_common(1)[0][0] if models else None
