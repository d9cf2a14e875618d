"""Tokens of an Inspect model call, in the normal form.

Inspect documents `input_tokens` as without cached tokens, and logs in the wild hold both meanings,
so the meaning is decided call by call, and said in the notes of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from turncurve.model import Totals, Usage, usage_with_cache_inside

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput, ModelUsage

UsageRule: TypeAlias = Literal["context", "excluded", "included", "provider", "uncached"]

RULE_NOTES: dict[UsageRule, str] = {
    "context": "context tokens: the log's own input_context_tokens",
    "excluded": "context tokens: input_tokens plus the cached tokens, as total_tokens has it",
    "included": "context tokens: input_tokens, cached tokens inside, as total_tokens has it",
    "provider": "context tokens: total_tokens doesn't tell whether input_tokens holds the cached "
    "tokens, so the provider's habit decided",
    "uncached": "context tokens: input_tokens; nothing was cached",
}
_CACHE_OUTSIDE = ("anthropic", "bedrock", "claude")
_CACHE_INSIDE = ("openai", "azure", "google", "gemini", "vertex", "openrouter", "grok", "deepseek")


def usage_of(output: ModelOutput, model: str) -> tuple[Usage | None, UsageRule | None]:
    """The usage of one model call, and the rule that gave its context size.

    A call whose counts are all 0 has none: no model reads and writes nothing, so the log's writer
    did not know (mock models, some servers).

    Args:
        output: The call's output.
        model: The model's name with its provider, as `openai/gpt-4o`.
    """
    counts = output.usage
    if counts is None or not _counted(counts):
        return None, None
    context = getattr(output, "input_context_tokens", None)  # not in every Inspect we read with
    return _normal_form(counts, context, model)


def summed(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum of several calls' usage, field by field; None where no call has any."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return Usage(
        input_uncached=_sum(usage.input_uncached for usage in known),
        cache_read=_sum(usage.cache_read for usage in known),
        cache_write=_sum(usage.cache_write for usage in known),
        output=_sum(usage.output for usage in known),
        reasoning=_sum(usage.reasoning for usage in known),
    )


def totals_of(model_usage: Mapping[str, ModelUsage]) -> Totals | None:
    """What a sample says of all its calls together; None if it says nothing."""
    usage = summed(
        _normal_form(counts, None, model)[0]
        for model, counts in model_usage.items()
        if _counted(counts)
    )
    if usage is None:
        return None
    costs = [counts.total_cost for counts in model_usage.values() if counts.total_cost is not None]
    return Totals(
        input_tokens=usage.context_tokens,
        cached_input_tokens=usage.cache_read,
        output_tokens=usage.output,
        cost_usd=sum(costs) if costs else None,
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _counted(counts: ModelUsage) -> bool:
    return any(
        (
            counts.input_tokens,
            counts.output_tokens,
            counts.total_tokens,
            counts.input_tokens_cache_read,
            counts.input_tokens_cache_write,
        )
    )


def _normal_form(counts: ModelUsage, context: int | None, model: str) -> tuple[Usage, UsageRule]:
    rule: UsageRule = "context" if context is not None else _rule(counts)
    read, write = counts.input_tokens_cache_read, counts.input_tokens_cache_write
    fresh = counts.input_tokens
    if context is not None:
        # A call of several requests is billed for each; the context is that of one of them.
        read = None if read is None else min(read, context)
        write = None if write is None else min(write, context - (read or 0))
        fresh = context - (read or 0) - (write or 0)
    elif rule == "included" or (rule == "provider" and _cache_is_inside(model)):
        return (
            usage_with_cache_inside(
                input_tokens=fresh,
                cached=read,
                cache_write=write,
                output=counts.output_tokens,
                reasoning=counts.reasoning_tokens,
            ),
            rule,
        )
    usage = Usage(
        input_uncached=fresh,
        cache_read=read,
        cache_write=write,
        output=counts.output_tokens,
        reasoning=counts.reasoning_tokens,
    )
    return usage, rule


def _rule(counts: ModelUsage) -> UsageRule:
    cached = (counts.input_tokens_cache_read or 0) + (counts.input_tokens_cache_write or 0)
    if not cached:
        return "uncached"
    if cached > counts.input_tokens:
        return "excluded"
    beside = counts.total_tokens - counts.input_tokens - counts.output_tokens
    reasoning = counts.reasoning_tokens or 0
    if beside in (cached, cached + reasoning):
        return "excluded"
    if beside in (0, reasoning):
        return "included"
    return "provider"


def _cache_is_inside(model: str) -> bool:
    name = model.lower()
    if any(word in name for word in _CACHE_OUTSIDE):
        return False
    return any(word in name for word in _CACHE_INSIDE)
