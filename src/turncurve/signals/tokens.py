"""Tokens of each model call."""

from __future__ import annotations

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.table import SignalInfo


def context_tokens(run: Run) -> FloatArray:
    """Tokens sent to the model, cached ones included; NaN where the file does not say."""
    return per_turn(turn.usage.context_tokens if turn.usage else None for turn in run.turns)


def cached_input_tokens(run: Run) -> FloatArray:
    """The part of `context_tokens` that was read from a cache; NaN where the file does not say."""
    return per_turn(turn.usage.cache_read if turn.usage else None for turn in run.turns)


def output_tokens(run: Run) -> FloatArray:
    """Tokens that the model gave, reasoning included; NaN where the file does not say."""
    return per_turn(turn.usage.output if turn.usage else None for turn in run.turns)


def reasoning_tokens(run: Run) -> FloatArray:
    """The part of `output_tokens` that was reasoning; NaN where the file does not say."""
    return per_turn(turn.usage.reasoning if turn.usage else None for turn in run.turns)


def _info(name: str, title: str, *, curve: bool) -> SignalInfo:
    return SignalInfo(
        name=name,
        title=title,
        unit="tokens",
        denominator="turns with a token count",
        low=0.0,
        curve=curve,
    )


CONTEXT_TOKENS = Signal(
    info=_info("context_tokens", "Context tokens", curve=True), observe=context_tokens
)
CACHED_INPUT_TOKENS = Signal(
    info=_info("cached_input_tokens", "Cached input tokens", curve=False),
    observe=cached_input_tokens,
)
OUTPUT_TOKENS = Signal(
    info=_info("output_tokens", "Output tokens", curve=True), observe=output_tokens
)
REASONING_TOKENS = Signal(
    info=_info("reasoning_tokens", "Reasoning tokens", curve=False), observe=reasoning_tokens
)
