"""Tokens of each model call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turncurve.model import Run, Usage
from turncurve.signals.base import FloatArray, observed_together, unknown
from turncurve.table import SignalInfo

_NAMES = ("context_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
_SILENT = (None, None, None, None)


def tokens(run: Run) -> Mapping[str, FloatArray | Sequence[float | None]]:
    """Tokens of each turn by signal; NaN where the file does not say.

    `context_tokens` were sent to the model, cached ones included, of which `cached_input_tokens`
    came from a cache; `output_tokens` are what it gave, `reasoning_tokens` included.
    """
    if not any(turn.usage for turn in run.turns):
        return dict.fromkeys(_NAMES, unknown(run))
    rows = [_SILENT if turn.usage is None else _counts(turn.usage) for turn in run.turns]
    return dict(zip(_NAMES, zip(*rows, strict=True), strict=True))


def _counts(usage: Usage) -> tuple[int | None, ...]:
    return usage.context_tokens, usage.cache_read, usage.output, usage.reasoning


def _info(name: str, title: str, *, curve: bool) -> SignalInfo:
    return SignalInfo(
        name=name,
        title=title,
        unit="tokens",
        denominator="turns with a token count",
        low=0.0,
        curve=curve,
    )


CONTEXT_TOKENS = observed_together(tokens, _info(_NAMES[0], "Context tokens", curve=True))
CACHED_INPUT_TOKENS = observed_together(
    tokens, _info(_NAMES[1], "Cached input tokens", curve=False)
)
OUTPUT_TOKENS = observed_together(tokens, _info(_NAMES[2], "Output tokens", curve=True))
REASONING_TOKENS = observed_together(tokens, _info(_NAMES[3], "Reasoning tokens", curve=False))
