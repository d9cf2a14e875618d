"""Token usage of one model call, in one normal form for every source."""

from __future__ import annotations

from dataclasses import dataclass

from turncurve.errors import InvariantError


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call. None means that the file does not say; it never means 0.

    A source that counts cached tokens inside its input count has them subtracted by its reader.
    Where such a source gives no cache figure, `input_uncached` holds the whole input and the cache
    fields are None, so `context_tokens` is right either way.
    """

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    """The part of `output` that was reasoning, where the source says so."""

    def __post_init__(self) -> None:
        if (
            (self.input_uncached or 0) < 0
            or (self.cache_read or 0) < 0
            or (self.cache_write or 0) < 0
            or (self.output or 0) < 0
            or (self.reasoning or 0) < 0
        ):
            raise InvariantError(f"wanted counts >= 0, got {self!r}")

    @property
    def context_tokens(self) -> int | None:
        """Tokens sent to the model: the sum of the three inputs; None if no input is known."""
        if self.input_uncached is None and self.cache_read is None:
            return None
        return (self.input_uncached or 0) + (self.cache_read or 0) + (self.cache_write or 0)


def usage_with_cache_inside(
    *,
    input_tokens: int | None,
    cached: int | None = None,
    cache_write: int | None = None,
    output: int | None = None,
    reasoning: int | None = None,
) -> Usage:
    """The normal form of a source whose input count includes its cached tokens.

    OpenAI, Codex, Gemini, OpenRouter, mini-swe-agent, ATIF and OTel GenAI count this way.
    A cached count above the input count is the source's error; the input is then 0, not negative.
    """
    fresh = None
    if input_tokens is not None:
        fresh = max(0, input_tokens - (cached or 0) - (cache_write or 0))
    return Usage(
        input_uncached=fresh,
        cache_read=cached,
        cache_write=cache_write,
        output=output,
        reasoning=reasoning,
    )
