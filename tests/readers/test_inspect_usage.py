"""Tokens of Inspect's model calls: one normal form out of the meanings that logs hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ModelOutput, ModelUsage

from turncurve.model import Usage
from turncurve.readers._inspect.usage import summed, totals_of, usage_of

COUNTS = st.integers(0, 200_000)


def output(context: int | None = None, **counts: Any) -> ModelOutput:
    return ModelOutput(model="m", usage=ModelUsage(**counts), input_context_tokens=context)


@pytest.mark.parametrize(
    ("model", "counts", "context", "cached", "rule"),
    [
        ("openai/gpt-5", (22391, 150, 22541, 22272, None), 22391, 22272, "included"),
        ("anthropic/claude", (5, 718, 18733, 18010, None), 18015, 18010, "excluded"),
        ("anthropic/claude", (5, 718, 18738, 18010, 5), 18020, 18010, "excluded"),
        ("anthropic/claude", (9000, 10, 0, 400, None), 9400, 400, "provider"),
        ("openai/gpt-5", (9000, 10, 0, 400, None), 9000, 400, "provider"),
        ("google/gemini", (120, 0, 120, None, None), 120, None, "uncached"),
        ("openai/gpt-4", (120, 8, 128, 0, None), 120, 0, "uncached"),
    ],
    ids=["openai", "anthropic", "and a write", "by habit", "by habit inside", "none", "zero"],
)
def test_the_context_of_real_counts(
    model: str,
    counts: tuple[int, int, int, int | None, int | None],
    context: int,
    cached: int | None,
    rule: str,
) -> None:
    """The total tells whether the input holds the cached tokens, else the provider's habit."""
    fresh, written, total, read, write = counts
    usage, found = usage_of(
        output(
            input_tokens=fresh,
            output_tokens=written,
            total_tokens=total,
            input_tokens_cache_read=read,
            input_tokens_cache_write=write,
        ),
        model,
    )
    assert usage is not None
    assert (usage.context_tokens, usage.cache_read, usage.output) == (context, cached, written)
    assert found == rule


def test_nothing_counted_is_not_known() -> None:
    """No usage, and a usage of zeros alone, are unknown; a single count makes the others known."""
    assert usage_of(ModelOutput(model="m"), "m") == (None, None)
    assert usage_of(output(), "m") == (None, None)
    usage, _ = usage_of(output(input_tokens=7, total_tokens=7), "m")
    assert usage == Usage(input_uncached=7, output=0)


@pytest.mark.skipif(
    "input_context_tokens" not in ModelOutput.model_fields,
    reason="Inspect before 0.3.282 knows no context of its own",
)
@given(fresh=COUNTS, read=COUNTS, write=COUNTS, context=st.integers(1, 300_000))
def test_the_logs_own_context_stands(fresh: int, read: int, write: int, context: int) -> None:
    """Where the log says how large the context was, the parts add up to it whatever the rest."""
    usage, rule = usage_of(
        output(
            context,
            input_tokens=fresh,
            input_tokens_cache_read=read,
            input_tokens_cache_write=write,
            output_tokens=1,
        ),
        "m",
    )
    assert usage is not None
    assert (usage.context_tokens, rule) == (context, "context")


@given(fresh=st.integers(1, 200_000), read=COUNTS, written=COUNTS)
def test_both_meanings_give_one_usage(fresh: int, read: int, written: int) -> None:
    """A call told with its cached tokens inside the input or beside it has the same usage."""
    inside = output(
        input_tokens=fresh + read,
        input_tokens_cache_read=read,
        output_tokens=written,
        total_tokens=fresh + read + written,
    )
    beside = output(
        input_tokens=fresh,
        input_tokens_cache_read=read,
        output_tokens=written,
        total_tokens=fresh + read + written,
    )
    assert usage_of(inside, "m")[0] == usage_of(beside, "m")[0]


def test_sums_leave_the_unknown_out() -> None:
    """Usage is added up field by field; a field no call knows stays unknown."""
    assert summed([None, None]) is None
    assert summed([Usage(input_uncached=1, output=2), None, Usage(input_uncached=3)]) == Usage(
        input_uncached=4, output=2
    )


def test_totals_of_a_sample() -> None:
    """What a sample says of its models is added up, in the same normal form."""
    openai = ModelUsage(
        input_tokens=100, input_tokens_cache_read=60, output_tokens=5, total_tokens=105
    )
    other = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11, total_cost=0.5)
    totals = totals_of({"openai/a": openai, "b": other})
    assert totals is not None
    assert (totals.input_tokens, totals.cached_input_tokens) == (110, 60)
    assert (totals.output_tokens, totals.cost_usd) == (6, 0.5)
    assert totals_of({"m": ModelUsage()}) is None
