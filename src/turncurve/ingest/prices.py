"""Cost from tokens and a kept price table, for calls whose trace gives no cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from turncurve.ingest.measure import Columns
from turncurve.model import Run, Turn, Usage
from turncurve.readers import OnProblem
from turncurve.signals import per_turn

_NO_COST = "the trace gives no cost"


class Prices:
    """Fills `cost_usd` where the trace gives none, and marks it in `cost_estimated`.

    A run whose trace gives any cost, by turn or for the whole run, is left as it is. A model that
    the price table does not know has no cost: never 0.
    """

    def __init__(self) -> None:
        self._unknown: set[str] = set()

    def __call__(self, run: Run, columns: Columns, on_problem: OnProblem) -> dict[str, str]:
        """Fill a run's cost; gives the reason where a turn stays without."""
        del on_problem
        if not np.isnan(columns["cost_usd"]).all():
            return {}
        if run.totals is not None and run.totals.cost_usd is not None:
            return {}
        prices = [self._price(turn, turn.model or run.model) for turn in run.turns]
        reasons = {price for price in prices if isinstance(price, str)}
        costs = [None if isinstance(price, str) else price for price in prices]
        columns["cost_usd"] = per_turn(costs)
        columns["cost_estimated"] = per_turn([None if cost is None else 1.0 for cost in costs])
        return {"cost_usd": f"{_NO_COST}; {'; '.join(sorted(reasons))}"} if reasons else {}

    def _price(self, turn: Turn, model: str | None) -> float | str:
        """US dollars, or why not."""
        usage = turn.usage
        if usage is None or usage.context_tokens is None or usage.output is None:
            return "its tokens are not known"
        if model is None:
            return "its model is not known"
        calculate = price_table()
        if calculate is None:
            return "no price table is installed (pip install 'turncurve[prices]')"
        if model in self._unknown:
            return f"the price table does not know {model!r}"
        price = calculate(usage, model)
        if price is None:
            self._unknown.add(model)
            return f"the price table does not know {model!r}"
        return price


def no_prices(run: Run, columns: Columns, on_problem: OnProblem) -> dict[str, str]:
    """Leaves every cost as the trace gives it."""
    del run, on_problem
    cost = columns["cost_usd"]
    return {} if not np.isnan(cost).any() else {"cost_usd": f"{_NO_COST}; prices are switched off"}


@cache
def price_table() -> Callable[[Usage, str], float | None] | None:
    """US dollars of a call by usage and model; None where no price table is installed.

    What it gives is None for a model that the table does not know.
    """
    try:
        import genai_prices  # noqa: PLC0415 - an extra, and slow to import
    except ModuleNotFoundError:
        return None

    def look_up(tokens: _Tokens, model: str) -> Decimal | None:
        context, read, write, output = tokens
        usage: Any = genai_prices.Usage(
            input_tokens=context,
            cache_read_tokens=read,
            cache_write_tokens=write,
            output_tokens=output,
        )
        for name, provider in _names(model):
            with suppress(LookupError):
                price = genai_prices.calc_price(usage, model_ref=name, provider_id=provider)
                return Decimal(price.total_price)
        return None

    rates: dict[tuple[str, bool, bool], _Rates | None] = {}

    def calculate(usage: Usage, model: str) -> float | None:
        tokens = (usage.context_tokens, usage.cache_read, usage.cache_write, usage.output)
        key = (model, usage.cache_read is None, usage.cache_write is None)
        if key not in rates:
            rates[key] = _linear(lambda t: look_up(t, model), no_read=key[1], no_write=key[2])
        known = rates[key]
        price = look_up(tokens, model) if known is None else known.price(tokens)
        return None if price is None else float(price)

    return calculate


_Tokens: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""Context, cached, written to the cache, output."""
_MILLION = 1_000_000
_PROBES = ((7, 3, 2, 1), (299_993, 200_003, 10_007, 997), (1_999_993, 1_000_003, 0, 100_003))
"""Calls by which it is seen whether a price is the same per token, however many there are."""


class _Rates(NamedTuple):
    """A price that is a sum over kinds of tokens, each at the same price however many there are."""

    context: Decimal
    read: Decimal
    write: Decimal
    output: Decimal

    def price(self, tokens: _Tokens) -> Decimal:
        """The price of a call; the rates are per token."""
        context, read, write, output = tokens
        return (
            self.context * (context or 0)
            + self.read * (read or 0)
            + self.write * (write or 0)
            + self.output * (output or 0)
        )


def _linear(
    price: Callable[[_Tokens], Decimal | None], *, no_read: bool, no_write: bool
) -> _Rates | None:
    """A model's rates, learned from the price table; None where its prices come in tiers."""

    def of(context: int, read: int, write: int, output: int) -> Decimal | None:
        return price((context, None if no_read else read, None if no_write else write, output))

    base, read = of(_MILLION, 0, 0, 0), of(_MILLION, _MILLION, 0, 0)
    write, output = of(_MILLION, 0, _MILLION, 0), of(0, 0, 0, _MILLION)
    if base is None or read is None or write is None or output is None:
        return None
    rates = _Rates(
        context=base / _MILLION,
        read=(read - base) / _MILLION,
        write=(write - base) / _MILLION,
        output=output / _MILLION,
    )
    agree = all(
        of(*probe)
        == rates.price(
            (probe[0], None if no_read else probe[1], None if no_write else probe[2], probe[3])
        )
        for probe in _PROBES
    )
    return rates if agree else None


def _names(model: str) -> list[tuple[str, str | None]]:
    """Ways to look a model up: as it stands, then by what a router's prefix says."""
    parts = model.split("/")
    names: list[tuple[str, str | None]] = [(model, None)]
    if len(parts) > 1:
        names += [("/".join(parts[1:]), parts[0]), (parts[-1], parts[-2]), (parts[-1], None)]
    return names
