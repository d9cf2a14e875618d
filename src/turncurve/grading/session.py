"""What the runs that are graded together share: journal, spending, pace and progress."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import msgspec

from turncurve.errors import GradeError
from turncurve.grading.ask import Asked, Price, Question, ask
from turncurve.grading.cost import Limits, Pricing, Spending
from turncurve.grading.items import Item
from turncurve.grading.journal import Journal, MemoryJournal
from turncurve.grading.model import Panel, Restater, check_panel
from turncurve.grading.pace import Pace
from turncurve.grading.parse import parse_answer, parse_text
from turncurve.grading.prompt import DEFAULT_CONTEXT_TOKENS, settings_digest
from turncurve.grading.rubric import Rubric
from turncurve.grading.turn_choice import EVERY_TURN, TurnChoice
from turncurve.model import Usage
from turncurve.readers.grade_lines import FORMAT_VERSION, GradeLine, SessionLine

DEAD_FROM_START = 10
"""Failed grades without a single good one after which a grader counts as dead."""
DEAD_LATER = 50
"""Calls that failed in a row after which it does, though it gave grades before.

Replies that are no answer are none of these: a grader that breaks on long runs is a finding.
"""
_WANTED = {"restated": "restated objective", "paraphrase": "paraphrase"}
ANSWER_TOKENS = 100
"""Tokens of an answer, about; a model that reasons takes more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeSettings:
    """How runs are graded.

    Attributes:
        choice: Which turns.
        context_tokens: Tokens that a prompt may have.
        concurrency: Calls under way at once.
        per_run: Calls under way at once within one run; 1 asks about its turns one after another,
            so that each finds the prompt of the one before in the provider's cache.
        limits: Where to stop.
        price: US dollars of a call whose provider does not say.
        restater: Who restates the objective in a copy of each chosen turn's state; None judges the
            turns as they are.
    """

    choice: TurnChoice = EVERY_TURN
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    concurrency: int = 8
    per_run: int = 1
    limits: Limits = field(default_factory=Limits)
    price: Price = field(default_factory=Pricing)
    restater: Restater | None = None

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.per_run < 1:
            raise ValueError("concurrency, per_run: wanted at least 1 call at once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far grading is."""

    n_done: int
    """Questions that are settled: asked now, or answered before."""
    usd: float
    n_missing: int


def session_line(rubric: Rubric, panel: Panel, settings: GradeSettings) -> SessionLine:
    """What a grade file says of a session.

    Raises:
        ValueError: Two graders have one name, or there is none.
    """
    check_panel(panel)
    return SessionLine(
        turncurve_grades=FORMAT_VERSION,
        settings=settings_digest(rubric, settings.context_tokens),
        rubric=rubric.mark(),
        panel=tuple(member.mark() for member in panel),
        context_tokens=settings.context_tokens,
        at=time.time(),
        restated_by=settings.restater.mark() if settings.restater else None,
    )


class Session:
    """Asks questions within limits, and keeps each answer before it counts.

    Args:
        rubric: What is asked.
        panel: Who is asked.
        settings: How.
        journal: Where answers are kept; without one, in memory.
        spending: Where spending is counted; without one, from nothing on.
        pace: How failed calls are repeated.
        on_progress: Told after each question that is settled.
    """

    def __init__(
        self,
        rubric: Rubric,
        panel: Panel,
        settings: GradeSettings,
        *,
        journal: Journal | None = None,
        spending: Spending | None = None,
        pace: Pace | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.line = session_line(rubric, panel, settings)
        self.rubric, self.panel, self.settings = rubric, panel, settings
        self.journal: Journal = journal or MemoryJournal()
        self.spending = spending or Spending(limits=settings.limits)
        self.stopped: str | None = None
        """The limit at which grading stopped."""
        self.n_missing = self.n_repaired = self.n_before = 0
        self._had: Counter[str] = Counter()
        """Answers had, and below those missing, by what was asked for."""
        self._missing: Counter[str] = Counter()
        self._failed_in_a_row = 0
        self._pace = pace or Pace()
        self._on_progress = on_progress
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._asking: dict[str, tuple[asyncio.Lock, int]] = {}

    @property
    def n_had(self) -> int:
        """Answers that were asked for now and had."""
        return self._had.total()

    async def settle(self, item: Item) -> GradeLine | None:
        """The answer to a question: had before, of a run with the same content, or asked now.

        None where a limit forbids to ask.

        Raises:
            GradeError: The grader is dead.
        """
        async with self._alone(item.key):
            known = self.journal.had(item.key)
            if known is not None:
                if known.run != item.run:
                    known = _copied(known, item)
                if not self.journal.holds(item.key, item.run):
                    self.journal.write(known)
                self.n_before += 1
                self._tell()
                return known
            async with self._slots:
                line = await self._ask(item)
        if line is not None:
            self._count(line)
            self._tell()
        return line

    async def _ask(self, item: Item) -> GradeLine | None:
        model = item.member.model
        tokens = item.tokens + ANSWER_TOKENS
        usage = Usage(input_uncached=item.tokens, output=ANSWER_TOKENS)
        usd = self.settings.price(model.name, usage) if self.settings.limits.usd else None
        self.stopped = self.stopped or self.spending.reserve(usd, tokens)
        if self.stopped is not None:
            return None
        asked = Asked()
        try:
            asked = await ask(
                model,
                self._question(item),
                pace=self._pace,
                price=self.settings.price,
            )
        finally:
            self.spending.settle(asked, usd, tokens)
        line = self.answer_line(item, asked)
        self.journal.write(line)
        return line

    def _question(self, item: Item) -> Question:
        if item.anchor in ("paraphrase", "restated"):
            return Question(prompt=item.prompt, schema=None, parse=parse_text)
        parse = partial(parse_answer, rubric=self.rubric, turn=item.turn)
        return Question(prompt=item.prompt, schema=self.rubric.schema, parse=parse)

    def answer_line(self, item: Item, asked: Asked) -> GradeLine:
        """An answer as the journal keeps it."""
        return GradeLine(
            key=item.key,
            settings=self.line.settings,
            run=item.run,
            turn=item.turn,
            grader=item.member.model.name,
            sample=item.sample,
            rubric=self.rubric.id,
            answer=None if asked.answer is None else dict(asked.answer),
            missing=asked.missing,
            raw=asked.raw,
            elided=item.prompt.elided,
            usage=asked.usage,
            cost_usd=asked.cost_usd,
            seconds=asked.seconds,
            calls=asked.calls,
            at=time.time(),
            anchor=item.anchor,
        )

    def _count(self, line: GradeLine) -> None:
        what = _WANTED.get(line.anchor or "", "grade")
        self.n_repaired += line.calls > 1 and line.answer is not None
        if line.missing is None:
            self._had[what] += 1
            self._failed_in_a_row = 0
            return
        self.n_missing += 1
        self._missing[what] += 1
        if line.missing.reason == "provider error":
            self._failed_in_a_row += 1
        last = f"the last with {line.missing.reason}: {line.missing.detail or 'no reason given'}"
        n_missing = self._missing[what]
        if self._had[what] == 0 and n_missing >= DEAD_FROM_START:
            raise GradeError(f"not one {what} came of {n_missing} questions, {last}")
        if self._failed_in_a_row >= DEAD_LATER:
            raise GradeError(f"no grade came any more: {DEAD_LATER} calls failed in a row, {last}")

    def _tell(self) -> None:
        if self._on_progress is not None:
            n_done = self.n_before + self.n_had + self.n_missing
            told = Progress(n_done=n_done, usd=self.spending.usd, n_missing=self.n_missing)
            self._on_progress(told)

    @asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        """One at a time for questions of one name, so that none is paid for twice."""
        lock, n_waiting = self._asking.get(key, (asyncio.Lock(), 0))
        self._asking[key] = lock, n_waiting + 1
        try:
            async with lock:
                yield
        finally:
            lock, n_waiting = self._asking.pop(key)
            if n_waiting > 1:
                self._asking[key] = lock, n_waiting - 1


def _copied(known: GradeLine, item: Item) -> GradeLine:
    """The same answer under another run of the same content, which costs nothing."""
    return msgspec.structs.replace(
        known, run=item.run, turn=item.turn, calls=0, cost_usd=0.0, seconds=0.0, at=time.time()
    )
