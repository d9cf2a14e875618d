"""Cost from tokens and a kept price table, for calls whose trace gives no cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from turncurve.ingest.measure import Columns
from turncurve.model import Run, Turn, Usage
from turncurve.readers import OnProblem

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
        cost, estimated = columns["cost_usd"], columns["cost_estimated"]
        if not np.isnan(cost).all():
            return {}
        if run.totals is not None and run.totals.cost_usd is not None:
            return {}
        reasons: set[str] = set()
        for row, turn in enumerate(run.turns):
            price = self._price(turn, turn.model or run.model)
            if isinstance(price, str):
                reasons.add(price)
            else:
                cost[row], estimated[row] = price, 1.0
        return {"cost_usd": f"{_NO_COST}; {'; '.join(sorted(reasons))}"} if reasons else {}

    def _price(self, turn: Turn, model: str | None) -> float | str:
        """US dollars, or why not."""
        usage = turn.usage
        if usage is None or usage.context_tokens is None or usage.output is None:
            return "its tokens are not known"
        if model is None:
            return "its model is not known"
        calculate = _price_table()
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
def _price_table() -> Callable[[Usage, str], float | None] | None:
    try:
        import genai_prices  # noqa: PLC0415 - an extra, and slow to import
    except ModuleNotFoundError:
        return None

    def calculate(usage: Usage, model: str) -> float | None:
        tokens: Any = genai_prices.Usage(
            input_tokens=usage.context_tokens,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        )
        for name, provider in _names(model):
            try:
                price = genai_prices.calc_price(tokens, model_ref=name, provider_id=provider)
            except LookupError:
                continue
            return float(price.total_price)
        return None

    return calculate


def _names(model: str) -> list[tuple[str, str | None]]:
    """Ways to look a model up: as it stands, then by what a router's prefix says."""
    parts = model.split("/")
    names: list[tuple[str, str | None]] = [(model, None)]
    if len(parts) > 1:
        names += [("/".join(parts[1:]), parts[0]), (parts[-1], parts[-2]), (parts[-1], None)]
    return names
