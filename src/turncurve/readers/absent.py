"""Which signals a run's file does not give, with the reason of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turncurve.model import Turn

_OF_TURN = ("cost_usd", "started_at", "seconds", "format_error")
_OF_USAGE = {
    "context_tokens": "context_tokens",
    "cached_input_tokens": "cache_read",
    "output_tokens": "output",
    "reasoning_tokens": "reasoning",
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
    """The signals that some turn has; each turn is asked for what no turn before it had."""
    given = {name for turn in turns if turn.values for name in turn.values}
    if any(turn.grades for turn in turns):
        given.add("error")
    given.update(
        name for name in _OF_TURN if any(getattr(turn, name) is not None for turn in turns)
    )
    usages = [turn.usage for turn in turns if turn.usage is not None]
    given.update(
        signal
        for signal, name in _OF_USAGE.items()
        if any(getattr(usage, name) is not None for usage in usages)
    )
    return given
