"""Cost from a kept price table, where the trace gives none."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Run, Totals, Turn, Usage
from turncurve.table import TurnTable

genai_prices = pytest.importorskip("genai_prices")

WITHOUT_PRICES = """
import sys
sys.modules["genai_prices"] = None
from turncurve.ingest import table_from_runs
from turncurve.model import Run, Turn, Usage
turn = Turn(index=1, usage=Usage(input_uncached=10, output=1), model="gpt-4o")
table = table_from_runs([Run(id="r", turns=(turn,), format="hand", path="hand.json")])
print(table.columns["cost_usd"][0], table.runs.absent[0]["cost_usd"])
"""

USAGE = Usage(input_uncached=1_000_000, output=0)


def table(*turns: Turn, prices: bool = True, **fields: object) -> TurnTable:
    run = Run(id="r", turns=turns, format="hand", path="hand.json", **fields)
    return table_from_runs([run], options=ReadOptions(prices=prices))


def reason(of: TurnTable) -> str:
    return of.runs.absent[0]["cost_usd"]


def test_a_cost_from_the_price_table_is_marked() -> None:
    """A million input tokens of gpt-4o cost their list price of 2.50 USD, marked as estimated."""
    priced = table(Turn(index=1, usage=USAGE, model="gpt-4o"))
    assert_allclose(priced.columns["cost_usd"], [2.5])
    assert_array_equal(priced.columns["cost_estimated"], [1])
    assert "cost_usd" not in priced.runs.absent[0]


def test_cached_tokens_cost_less_and_are_counted_once() -> None:
    """A million cached input tokens of gpt-4o cost 1.25 USD."""
    usage = Usage(input_uncached=0, cache_read=1_000_000, output=0)
    assert_allclose(table(Turn(index=1, usage=usage, model="gpt-4o")).columns["cost_usd"], [1.25])


@pytest.mark.parametrize("model", ["openai/gpt-4o", "openrouter/openai/gpt-4o"])
def test_a_router_s_prefix_does_not_hide_a_model(model: str) -> None:
    """The name behind it is looked up."""
    assert table(Turn(index=1, usage=USAGE, model=model)).columns["cost_usd"][0] > 0


def test_an_unknown_model_has_no_cost() -> None:
    """Absent with a reason, never 0."""
    unpriced = table(Turn(index=1, usage=USAGE, model="home-made-7b"))
    assert np.isnan(unpriced.columns["cost_usd"]).all()
    assert np.isnan(unpriced.columns["cost_estimated"]).all()
    assert reason(unpriced) == (
        "the trace gives no cost; the price table does not know 'home-made-7b'"
    )


def test_unknown_tokens_and_models_are_reasons() -> None:
    """A turn without tokens, or without its model, has no cost; the others have."""
    mixed = table(Turn(index=1, model="gpt-4o"), Turn(index=2, usage=USAGE, model="gpt-4o"))
    assert_array_equal(np.isnan(mixed.columns["cost_usd"]), [True, False])
    assert reason(mixed) == "the trace gives no cost; its tokens are not known"
    assert reason(table(Turn(index=1, usage=USAGE))).endswith("its model is not known")


def test_the_run_s_model_stands_in_for_the_turn_s() -> None:
    """A turn that names no model is priced by its run's."""
    assert_allclose(table(Turn(index=1, usage=USAGE), model="gpt-4o").columns["cost_usd"], [2.5])


def test_a_trace_that_gives_any_cost_is_left_as_it_is() -> None:
    """By turn or in total, its own figures stand, and nothing is added to them."""
    by_turn = table(
        Turn(index=1, usage=USAGE, model="gpt-4o", cost_usd=0.1),
        Turn(index=2, usage=USAGE, model="gpt-4o"),
    )
    assert_array_equal(by_turn.columns["cost_usd"], [0.1, np.nan])
    assert_array_equal(by_turn.columns["cost_estimated"], [0, np.nan])
    in_total = table(Turn(index=1, usage=USAGE, model="gpt-4o"), totals=Totals(cost_usd=3.0))
    assert np.isnan(in_total.columns["cost_usd"]).all()


def test_prices_can_be_switched_off() -> None:
    """Then a cost that the trace does not give is absent, with that reason."""
    off = table(Turn(index=1, usage=USAGE, model="gpt-4o"), prices=False)
    assert np.isnan(off.columns["cost_usd"]).all()
    assert reason(off).endswith("prices are switched off")


def test_without_a_price_table_no_cost_is_made_up() -> None:
    """Where the extra is not installed the cost is absent, and the reason says how to get one."""
    command = [sys.executable, "-c", WITHOUT_PRICES]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("nan the trace gives no cost; no price table is installed")
    assert "turncurve[prices]" in said


@pytest.mark.parametrize(
    "model",
    [
        *("claude-opus-4-5", "claude-sonnet-4-5", "gpt-5", "gpt-4o-mini", "o3"),
        *("gemini-2.5-pro", "gemini-3-pro-preview", "deepseek-chat", "claude-3-haiku-20240307"),
    ],
)
@pytest.mark.parametrize("cached", [True, False])
def test_quick_prices_are_the_tables(model: str, *, cached: bool) -> None:
    """For prices with and without tiers, a call costs what the price table itself says."""
    rng = np.random.default_rng(5)
    for scale in (50, 5_000, 150_000, 900_000):
        fresh, read, write, output = (int(n) for n in rng.integers(0, scale, size=4))
        usage = Usage(
            input_uncached=fresh,
            cache_read=read if cached else None,
            cache_write=write if cached else None,
            output=output,
        )
        tokens = genai_prices.Usage(
            input_tokens=usage.context_tokens,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            output_tokens=output,
        )
        expected = float(genai_prices.calc_price(tokens, model_ref=model).total_price)
        run = Run(
            id="r",
            turns=(Turn(index=1, usage=usage, model=model),),
            format="hand",
            path="p",
        )
        assert table_from_runs([run]).columns["cost_usd"].tolist() == [expected]
