"""Tokens and costs that a span counts, in the words of several conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from turncurve.model import Usage, usage_with_cache_inside
from turncurve.readers.fields import as_count, as_float

_INPUT = (
    *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    *("llm.usage.prompt_tokens", "gen_ai.aggregated_usage.input_tokens"),
)
OUTPUT = (
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    *("llm.token_count.completion", "llm.usage.completion_tokens"),
)
"""Names of an answer's tokens: a span that has one of them counts what a model call used."""
_AGENT_OUTPUT = "gen_ai.aggregated_usage.output_tokens"
_CACHED = (
    *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    *("gen_ai.usage.details.cache_read_tokens", "llm.token_count.prompt_details.cache_read"),
    *("gen_ai.usage.cache_read_tokens", "gen_ai.usage.input_tokens.cached"),
)
_CACHE_WRITE = (
    *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
    *("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_write_tokens"),
    *("gen_ai.usage.details.cache_write_tokens", "llm.token_count.prompt_details.cache_write"),
    "gen_ai.usage.input_tokens.cache_write",
)
_REASONING = (
    *("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
    *("gen_ai.usage.details.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
    "gen_ai.usage.output_tokens.reasoning",
)
_TOTAL = (*("gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"),)
_COST = ("llm.cost.total", "gen_ai.usage.cost", "operation.cost", "gen_ai.usage.total_cost")


class Counted(NamedTuple):
    """Tokens of a span, and whether its writer left the cached ones out of the input."""

    usage: Usage | None
    is_cache_apart: bool = False


def usage_of(attributes: Mapping[str, Any]) -> Counted:
    """Tokens of a call.

    By the GenAI conventions the input includes cached tokens. Its writer left them out where they
    are more than the input, or where the total it states is the sum of all of them.
    """
    given = _count(attributes, _INPUT)
    output = _count(attributes, (*OUTPUT, _AGENT_OUTPUT))
    if given is None and output is None:
        return Counted(None)
    cached, written = _count(attributes, _CACHED), _count(attributes, _CACHE_WRITE)
    reasoning = _count(attributes, _REASONING)
    beside = (cached or 0) + (written or 0)
    if given is not None and beside:
        apart = given + (output or 0) + beside
        if beside > given or _count(attributes, _TOTAL) == apart:
            usage = Usage(
                input_uncached=given,
                cache_read=cached,
                cache_write=written,
                output=output,
                reasoning=reasoning,
            )
            return Counted(usage, is_cache_apart=True)
    return Counted(
        usage_with_cache_inside(
            input_tokens=given,
            cached=cached,
            cache_write=written,
            output=output,
            reasoning=reasoning,
        )
    )


def cost_of(attributes: Mapping[str, Any]) -> float | None:
    """US dollars of a call, where its writer worked them out."""
    for key in _COST:
        cost = _number(attributes.get(key))
        if cost is not None and cost >= 0:
            return cost
    return None


def _count(attributes: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    for key in keys:
        if key in attributes:
            value = attributes[key]
            count = as_count(value if type(value) is int else _number(value))
            if count is not None:
                return count
    return None


def _number(given: object) -> float | None:
    """A number, be it written as text."""
    if isinstance(given, str) and re.fullmatch(r"\d{1,18}(?:\.\d{1,18})?", given):
        given = float(given)
    return as_float(given)
