"""How often and how fast a provider is called: retries, waiting, and one pause for all."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from turncurve.grading.model import GraderMessage, GraderModel, ProviderError, Reply

ATTEMPTS = 5
FIRST_SECONDS, MOST_SECONDS = 1.0, 60.0
TIMEOUT_SECONDS = 600.0


class Pace:
    """Calls models, and calls again where that may help.

    A pause that a provider asks for holds for every call that has not started yet.

    Args:
        attempts: Calls at most, the first included.
        sleep: Waits so many seconds.
        clock: Seconds that only grow.
        rng: Spreads waits, so that calls that failed together do not come back together.
    """

    def __init__(
        self,
        *,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._attempts, self._sleep, self._clock = attempts, sleep, clock
        self._rng = rng or random.Random()
        self._not_before = 0.0

    async def call(
        self,
        model: GraderModel,
        messages: Sequence[GraderMessage],
        schema: Mapping[str, Any] | None,
    ) -> Reply:
        """The model's reply.

        Raises:
            ProviderError: Every attempt failed, or one in a way that no other would mend.
        """
        for attempt in range(1, self._attempts + 1):
            await self._pause()
            try:
                return await _one_call(model, messages, schema)
            except ProviderError as problem:
                if not problem.transient or attempt == self._attempts:
                    raise
                await self._wait(attempt, problem.retry_after)
        raise AssertionError("the last attempt returns or raises")

    async def _pause(self) -> None:
        while (left := self._not_before - self._clock()) > 0:
            await self._sleep(left)

    async def _wait(self, attempt: int, asked: float | None) -> None:
        if asked is not None:
            self._not_before = max(self._not_before, self._clock() + min(asked, MOST_SECONDS))
            return
        most = min(MOST_SECONDS, FIRST_SECONDS * 2 ** (attempt - 1))
        await self._sleep(most * self._rng.uniform(0.5, 1.0))


async def _one_call(
    model: GraderModel, messages: Sequence[GraderMessage], schema: Mapping[str, Any] | None
) -> Reply:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await model.generate(messages, schema)
    except ProviderError:
        raise
    except TimeoutError as problem:
        reason = f"no reply within {TIMEOUT_SECONDS:g} seconds"
        raise ProviderError(reason, transient=True) from problem
    except Exception as problem:
        raise ProviderError(f"{type(problem).__name__}: {problem}") from problem
