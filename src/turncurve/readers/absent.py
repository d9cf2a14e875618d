"""Which signals a run's file does not give, with the reason of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from turncurve.model import Turn

_VALUES, _GRADES, _USAGE = attrgetter("values"), attrgetter("grades"), attrgetter("usage")
_OF_TURN = {
    name: attrgetter(name) for name in ("cost_usd", "started_at", "seconds", "format_error")
}
_OF_USAGE = {
    "context_tokens": attrgetter("context_tokens"),
    "cached_input_tokens": attrgetter("cache_read"),
    "output_tokens": attrgetter("output"),
    "reasoning_tokens": attrgetter("reasoning"),
}


def absent_signals(turns: Sequence[Turn], reasons: Mapping[str, str]) -> dict[str, str]:
    """The reasons of the signals that not one of the turns has.

    Args:
        turns: A run's turns; a run without any lacks every signal.
        reasons: Column of the turn table to why this format, or this file, may lack it. A column
            that no turn shows by itself (`compaction`) is taken as it stands.
    """
    given = _given(turns)
    return {signal: reason for signal, reason in reasons.items() if signal not in given}


def _given(turns: Sequence[Turn]) -> set[str]:
    """The signals that some turn has."""
    given = set().union(*filter(None, map(_VALUES, turns)))
    if any(map(_GRADES, turns)):
        given.add("error")
    given.update(name for name, of in _OF_TURN.items() if _any_known(list(map(of, turns))))
    usages = list(filter(None, map(_USAGE, turns)))
    given.update(name for name, of in _OF_USAGE.items() if _any_known(list(map(of, usages))))
    return given


def _any_known(values: list[Any]) -> bool:
    return values.count(None) < len(values)
