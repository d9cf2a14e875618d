"""Costs that say nothing: 0 beside real tokens is how an unknown price is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from turncurve.model import Turn
from turncurve.readers._calls import CallDraft

UNPRICED = "every cost is 0 beside real tokens: the price was not known, so cost is absent"


def drop_unknown_costs(drafts: Sequence[CallDraft]) -> bool:
    """Take the costs off the drafts if all are 0 beside tokens; whether they were kept."""
    costs = [draft.cost_usd for draft in drafts if draft.cost_usd is not None]
    if not costs or any(costs) or not any(draft.usage for draft in drafts):
        return True
    for draft in drafts:
        draft.cost_usd = None
    return False


def known_costs(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], bool]:
    """The turns, without costs if all are 0 beside tokens; and whether the costs were kept."""
    costs = [turn.cost_usd for turn in turns if turn.cost_usd is not None]
    if not costs or any(costs) or not any(turn.usage for turn in turns):
        return tuple(turns), True
    return tuple(replace(turn, cost_usd=None) for turn in turns), False
