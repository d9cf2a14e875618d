"""Which signals a run's file does not give, with the reason of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from turncurve.model import Turn

_GIVEN: dict[str, Callable[[Turn], object]] = {
    "error": lambda turn: turn.grades or None,
    "context_tokens": lambda turn: turn.usage and turn.usage.context_tokens,
    "cached_input_tokens": lambda turn: turn.usage and turn.usage.cache_read,
    "output_tokens": lambda turn: turn.usage and turn.usage.output,
    "reasoning_tokens": lambda turn: turn.usage and turn.usage.reasoning,
    "cost_usd": lambda turn: turn.cost_usd,
    "started_at": lambda turn: turn.started_at,
    "seconds": lambda turn: turn.seconds,
    "format_error": lambda turn: turn.format_error,
}


def absent_signals(turns: Sequence[Turn], reasons: Mapping[str, str]) -> dict[str, str]:
    """The reasons of the signals that not one of the turns has.

    Args:
        turns: A run's turns; a run without any lacks every signal.
        reasons: Column of the turn table to why this format, or this file, may lack it. A column
            that no turn shows by itself (`compaction`) is taken as it stands.
    """
    named = {name for turn in turns for name in turn.values}
    return {
        signal: reason
        for signal, reason in reasons.items()
        if signal not in named and not _is_given(turns, signal)
    }


def _is_given(turns: Sequence[Turn], signal: str) -> bool:
    given = _GIVEN.get(signal)
    return given is not None and any(given(turn) is not None for turn in turns)
