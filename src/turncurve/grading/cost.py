"""What grading costs: prices, what was spent, and the limit at which it stops."""

from __future__ import annotations

from dataclasses import dataclass, field

from turncurve.grading.ask import Asked
from turncurve.ingest.prices import price_table
from turncurve.model import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """US dollars of calls.

    Attributes:
        per_million: Prices of a million input and output tokens, for every grader; without them
            the kept price table (extra `prices`) is asked.
    """

    per_million: tuple[float, float] | None = None

    def __call__(self, model: str, usage: Usage) -> float | None:
        """The price of a call; None where it is not known: never 0."""
        if usage.context_tokens is None or usage.output is None:
            return None
        if self.per_million is not None:
            into, out = self.per_million
            return (usage.context_tokens * into + usage.output * out) / MILLION
        known = price_table()
        return None if known is None else known(usage, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where grading stops; None is no limit. A call that might pass one is not made."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None


@dataclass(slots=True, kw_only=True)
class Spending:
    """What has been spent, and what the calls under way may spend.

    A call is taken to cost what it was estimated at until it is back.
    """

    limits: Limits = field(default_factory=Limits)
    usd: float = 0.0
    n_unpriced: int = 0
    """Calls whose cost is not known."""
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    reserved_usd: float = 0.0
    reserved_tokens: int = 0
    reserved_calls: int = 0

    def reserve(self, usd: float | None, tokens: int) -> str | None:
        """Set aside what a call may spend; if that passes a limit, says which, and nothing is."""
        limits = self.limits
        usd = usd or 0.0
        if limits.usd is not None and self.usd + self.reserved_usd + usd > limits.usd:
            return f"the limit of {limits.usd:g} US dollars"
        spent = self.input_tokens + self.output_tokens + self.reserved_tokens
        if limits.tokens is not None and spent + tokens > limits.tokens:
            return f"the limit of {limits.tokens:,} tokens"
        if limits.calls is not None and self.calls + self.reserved_calls + 1 > limits.calls:
            return f"the limit of {limits.calls:,} calls"
        self.reserved_usd += usd
        self.reserved_tokens += tokens
        self.reserved_calls += 1
        return None

    def settle(self, asked: Asked, usd: float | None, tokens: int) -> None:
        """Count what a call took in place of what was set aside for it."""
        self.reserved_usd -= usd or 0.0
        self.reserved_tokens -= tokens
        self.reserved_calls -= 1
        self.calls += asked.calls
        for usage in asked.usages:
            if usage is not None:
                self.input_tokens += usage.context_tokens or 0
                self.output_tokens += usage.output or 0
        for cost in asked.costs:
            if cost is None:
                self.n_unpriced += 1
            else:
                self.usd += cost
