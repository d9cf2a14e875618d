"""Token usage in its normal form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.errors import InvariantError
from turncurve.model import Usage, usage_with_cache_inside

counts = st.none() | st.integers(0, 10**9)


@pytest.mark.parametrize(
    "name", ["input_uncached", "cache_read", "cache_write", "output", "reasoning"]
)
def test_no_count_is_negative(name: str) -> None:
    """A negative count of any kind is refused, and 0 is one."""
    assert Usage(**{name: 0}) != Usage()
    with pytest.raises(InvariantError, match=rf"wanted counts >= 0, got .*{name}=-1"):
        Usage(**{name: -1})


def test_context_is_unknown_without_an_input() -> None:
    """Context is the sum of the three inputs; tokens written to a cache alone do not make one."""
    assert Usage(input_uncached=5, cache_read=70, cache_write=20, output=9).context_tokens == 95
    assert Usage(cache_read=70).context_tokens == 70
    assert Usage(cache_write=20, output=9).context_tokens is None


@given(st.integers(0, 10**9), counts, counts)
def test_context_of_a_source_that_counts_its_cache_inside(
    sent: int, cached: int | None, written: int | None
) -> None:
    """Whatever part was cached, the context is the input count; more cached than sent is all."""
    usage = usage_with_cache_inside(input_tokens=sent, cached=cached, cache_write=written)
    assert usage.context_tokens == max(sent, (cached or 0) + (written or 0))
    assert (usage.cache_read, usage.cache_write) == (cached, written)
