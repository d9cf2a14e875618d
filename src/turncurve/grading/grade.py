"""Grading runs: the turns of a run in order, several runs at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace

from turncurve.grading.anchors import Goals, anchor_prompt, paraphrase_prompt
from turncurve.grading.items import Item, anchor_items, turn_items
from turncurve.grading.model import GraderModel, Member, Panel
from turncurve.grading.prompt import goal_parts
from turncurve.grading.restate import restated, text_of, unsaid
from turncurve.grading.rubric import Rubric
from turncurve.grading.run_line import run_line
from turncurve.grading.session import GradeSettings, Session
from turncurve.grading.turn_text import Part, parts_of_turn
from turncurve.model import Grade, Run
from turncurve.model.consensus import agreement
from turncurve.readers.grade_file import GradeFile
from turncurve.readers.grade_lines import Elided, GradeLine
from turncurve.readers.judgements import Judgement, judge

NO_TEXT = "no turn has text, calls or results"
NO_GOAL = "no user message before the first turn says the objective"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedTurn:
    """One turn that graders were asked about.

    Attributes:
        turn: Its index.
        judgement: What the votes come to.
        answers: Each vote, and each missing one.
        elided: What of the run the graders were not shown.
        restated: The objective as a copy of the turn's state restated it, where one was asked.
    """

    turn: int
    judgement: Judgement
    answers: tuple[GradeLine, ...]
    elided: Elided
    restated: str | None = None

    @property
    def grade(self) -> Grade | None:
        """The grade of a step; None for rubrics that give numbers."""
        return self.judgement.grade

    @property
    def is_missing(self) -> bool:
        """Whether there is neither a grade nor a number."""
        if self.judgement.grade is not None:
            return self.judgement.grade.validity is None
        return self.judgement.values.get("grade_missing") == 1

    @property
    def is_tie(self) -> bool:
        """Whether enough voted, and no majority came of it."""
        reason = self.judgement.grade.missing_reason if self.judgement.grade else None
        return reason is not None and reason.startswith("tie:")

    @property
    def agreement(self) -> float | None:
        """Share of pairs of votes that are the same on what decides; None for fewer than two."""
        said = [line.answer for line in self.answers if line.answer is not None]
        if any("validity" in answer for answer in said):
            return agreement([answer.get("validity") for answer in said])
        return agreement([tuple(sorted(answer.items())) for answer in said])


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRun:
    """The graded turns of one run.

    Attributes:
        run: Its id.
        turns: The turns that all of the panel were asked about, in order.
        n_chosen: Turns that were to be graded; more than there are where a limit stopped it.
        excluded: Why the run was not graded at all; None if it was.
    """

    run: str
    turns: tuple[GradedTurn, ...] = ()
    n_chosen: int = 0
    excluded: str | None = None


async def grade_run(
    run: Run,
    rubric: Rubric,
    panel: Panel | GraderModel,
    *,
    settings: GradeSettings | None = None,
    session: Session | None = None,
    goals: Goals | None = None,
) -> GradedRun:
    """Grade the turns of one run.

    Args:
        run: The run, with its text.
        rubric: What is asked.
        panel: Who is asked: a model, or members with a number of samples each.
        settings: Which turns, and how.
        session: Shared by runs that are graded together; it brings panel and settings with it.
        goals: Goals of other scenarios, for the floor of a `fidelity` rubric.

    Raises:
        GradeError: The grader is dead, or the budget leaves no room for the run.
    """
    if session is None:
        members = panel if isinstance(panel, Sequence) else (Member(model=panel),)
        session = Session(rubric, members, settings or GradeSettings())
    excluded = why_not(run, rubric)
    if excluded is not None:
        return GradedRun(run=run.id, excluded=excluded)
    graded, n_chosen = [], 0
    async with aclosing(grade_turns(run, session, goals=goals)) as turns:
        async for turn in turns:
            n_chosen += 1
            if turn is not None:
                graded.append(turn)
    return GradedRun(run=run.id, turns=tuple(graded), n_chosen=n_chosen)


async def grade_turns(
    run: Run, session: Session, *, goals: Goals | None = None
) -> AsyncGenerator[GradedTurn | None, None]:
    """Grade the turns of one run that can be graded (`why_not`), and give each once it is settled.

    Args:
        run: The run, with its text.
        session: Rubric, panel, settings and journal.
        goals: Goals of other scenarios, for floor and ceiling of a `fidelity` rubric.

    Yields:
        Each chosen turn in order; None for one that a limit forbade to ask about.

    Raises:
        GradeError: The grader is dead, or the budget leaves no room for the run.
    """
    session.journal.add_run(run_line(run))
    file = GradeFile(session=session.line)
    for line in await _anchors(run, session, goals or Goals()):
        file.add(0, line)
    async with aclosing(_in_order(_questions(run, session), session.settings.per_run)) as settled:
        async for turn in settled:
            yield None if turn is None else _graded(run, turn, file)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    """All answers to the questions about a turn."""

    items: Sequence[Item]
    lines: Sequence[GradeLine]
    restated: str | None = None


def _graded(run: Run, settled: _Settled, file: GradeFile) -> GradedTurn:
    for line in settled.lines:
        file.add(0, line)
    first = settled.items[0]
    judgement = judge(file, run.id, first.turn)
    assert judgement is not None
    return GradedTurn(
        turn=first.turn,
        judgement=judgement,
        answers=tuple(settled.lines),
        elided=first.prompt.elided,
        restated=settled.restated,
    )


async def grade_runs(
    runs: Iterable[Run],
    session: Session,
    *,
    goals: Goals | None = None,
    on_run: Callable[[GradedRun], None] = lambda _: None,
) -> None:
    """Grade several runs at once; at most as many are held as calls may be under way.

    Args:
        runs: The runs, read one at a time.
        session: Rubric, panel, settings and journal.
        goals: Goals of other scenarios, for the floor of a `fidelity` rubric.
        on_run: Told of each run that is done.

    Raises:
        GradeError: The grader is dead. What was had is kept.
    """
    waiting = iter(runs)

    async def work() -> None:
        for run in waiting:
            graded = await grade_run(
                run, session.rubric, session.panel, session=session, goals=goals
            )
            on_run(graded)
            if session.stopped is not None:
                return

    await _together([work() for _ in range(session.settings.concurrency)])


def run_grading(work: Awaitable[None]) -> None:
    """Carry out grading from code that is not asynchronous."""

    async def main() -> None:
        await work

    asyncio.run(main())


def _questions(run: Run, session: Session) -> Iterator[Awaitable[_Settled | None]]:
    """For each chosen turn the work of settling it."""
    settings = session.settings
    if settings.restater is not None:
        for position in settings.choice.positions(run):
            yield _settle_restated(run, position, session)
        return
    for items in turn_items(
        run,
        session.rubric,
        session.panel,
        choice=settings.choice,
        context_tokens=settings.context_tokens,
    ):
        yield _settle(items, session)


async def _in_order(
    works: Iterator[Awaitable[_Settled | None]], at_once: int
) -> AsyncGenerator[_Settled | None, None]:
    """What works give, in their order; so many are under way at once."""
    ahead = deque[asyncio.Future[_Settled | None]]()
    try:
        for work in works:
            ahead.append(asyncio.ensure_future(work))
            if len(ahead) >= at_once:
                yield await ahead.popleft()
        while ahead:
            yield await ahead.popleft()
    finally:
        for task in ahead:
            task.cancel()


async def _settle(items: Sequence[Item], session: Session) -> _Settled | None:
    """The answers to some questions; None where a limit forbids one."""
    tasks = [asyncio.create_task(session.settle(item)) for item in items]
    try:
        lines = [line for line in await asyncio.gather(*tasks) if line is not None]
    finally:
        for task in tasks:
            task.cancel()
    return _Settled(items=items, lines=lines) if len(lines) == len(items) else None


async def _settle_restated(run: Run, position: int, session: Session) -> _Settled | None:
    """The answers about the objective as a copy of the turn's state restates it."""
    said = await restated(run, position, session)
    if said.line is None:
        return None
    if said.text is None:
        return _Settled(items=said.items, lines=unsaid(said.items, said.line, session))
    settled = await _settle(said.items, session)
    return settled and replace(settled, restated=said.text)


async def _together(works: Sequence[Awaitable[None]]) -> None:
    """Wait for all; the first that fails ends the others and is raised by itself."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _anchors(run: Run, session: Session, goals: Goals) -> list[GradeLine]:
    """What the judge says of another goal, and of the run's own in other words.

    Neither says anything without the other, so that without another goal nothing is asked.
    """
    other = goals.other(run) if session.rubric.kind == "fidelity" else None
    if other is None:
        return []
    context_tokens = session.settings.context_tokens
    prompt = anchor_prompt(run, session.rubric, other, context_tokens)
    items = anchor_items(
        run, session.panel, anchor="floor", prompt=prompt, settings=session.line.settings
    )
    said = await _paraphrase(run, session)
    if said is not None:
        text = (Part(label="text", text=said),)
        prompt = anchor_prompt(run, session.rubric, text, context_tokens)
        items += anchor_items(
            run, session.panel, anchor="ceiling", prompt=prompt, settings=session.line.settings
        )
    lines = [await session.settle(item) for item in items]
    return [line for line in lines if line is not None]


async def _paraphrase(run: Run, session: Session) -> str | None:
    """The run's goal in other words, by the first of the panel; None where that failed."""
    asked = anchor_items(
        run,
        [Member(model=session.panel[0].model)],
        anchor="paraphrase",
        prompt=paraphrase_prompt(run, session.settings.context_tokens),
        settings=session.line.settings,
    )
    line = await session.settle(asked[0])
    return None if line is None else text_of(line)


def why_not(run: Run, rubric: Rubric) -> str | None:
    """Why a run cannot be graded; None if it can."""
    if not any(parts_of_turn(turn) for turn in run.turns):
        return NO_TEXT
    if rubric.kind == "fidelity" and not goal_parts(run):
        return NO_GOAL
    return None
