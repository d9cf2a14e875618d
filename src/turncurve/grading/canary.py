"""A canary: the same real steps graded again and again, so that a grader that changes is seen."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from turncurve.errors import GradeError
from turncurve.grading.canary_file import CanaryFile, RoundLine, StepLine, open_canary
from turncurve.grading.cost import Spending
from turncurve.grading.grade import why_not
from turncurve.grading.items import Item
from turncurve.grading.model import Panel
from turncurve.grading.pace import Pace
from turncurve.grading.prompt import Prompt, RunPrompts
from turncurve.grading.rubric import Rubric
from turncurve.grading.session import GradeSettings, Session, session_line
from turncurve.model import Run
from turncurve.readers.grade_file import GradeFile
from turncurve.readers.grade_lines import Elided, GradeLine
from turncurve.readers.judgements import judge
from turncurve.stats.proportion import Proportion, wilson

DEFAULT_STEPS = 30
DEFAULT_DAYS = 7.0
DAY_SECONDS = 86_400.0
FIRST_ROUNDS = 2
"""The first round makes the reference, the second says how well the grader agrees with itself."""
_GOLDEN = 0.618034

Verdict: TypeAlias = Literal["finding", "watch", "clean", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRound:
    """One round: how many steps were graded as they were at first.

    Attributes:
        number: From 1; round 1 is the reference.
        at: Seconds since 1970.
        n_missing: Steps without a grade, in this round or in the first.
        agreement: Share of the other steps graded as at first; None where there is none.
    """

    number: int
    at: float
    n_missing: int
    agreement: Proportion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """What the last round says of the grader.

    Attributes:
        n_steps: Steps of the canary.
        rounds: All rounds but the first, which is the reference.
        was_due: Whether a round was graded now.
        verdict: "finding" where the intervals of the last round and of the baseline, round 2, do
            not overlap; "watch" where the last share lies outside of the baseline's interval;
            "inconclusive" before there is a round to compare.
    """

    n_steps: int
    rounds: tuple[CanaryRound, ...]
    was_due: bool
    verdict: Verdict

    @property
    def baseline(self) -> CanaryRound | None:
        """Round 2: the grader against itself."""
        return self.rounds[0] if self.rounds else None

    @property
    def last(self) -> CanaryRound | None:
        """The last round."""
        return self.rounds[-1] if self.rounds else None


def choose_steps(runs: Iterable[Run], rubric: Rubric, n_steps: int) -> list[tuple[str, int]]:
    """Steps for a canary: one a run where there are enough runs, spread over the positions.

    Args:
        runs: The runs.
        rubric: Runs that it cannot grade are left out.
        n_steps: How many; fewer where there are fewer turns.

    Returns:
        Pairs of a run's id and the index of a turn.
    """
    turns = [
        (run.id, [turn.index for turn in run.turns]) for run in runs if why_not(run, rubric) is None
    ]
    chosen: dict[tuple[str, int], None] = {}
    n_all = sum(len(indices) for _, indices in turns)
    number = 0
    while turns and len(chosen) < min(n_steps, n_all):
        # Runs in even strides; positions by the golden ratio, which spreads any number evenly.
        run, indices = turns[(number * max(1, len(turns) // n_steps)) % len(turns)]
        at = int((number * _GOLDEN % 1) * len(indices))
        free = [i for i in [*indices[at:], *indices[:at]] if (run, i) not in chosen]
        if free:
            chosen[run, free[0]] = None
        number += 1
        if number > 4 * (n_steps + len(turns)):
            break
    return list(chosen)


def canary_steps(
    runs: Iterable[Run], rubric: Rubric, chosen: Sequence[tuple[str, int]], context_tokens: int
) -> Iterator[StepLine]:
    """The chosen steps with their whole prompts, so that the set stays when the traces go."""
    wanted: dict[str, set[int]] = {}
    for run_id, index in chosen:
        wanted.setdefault(run_id, set()).add(index)
    for run in runs:
        if run.id not in wanted:
            continue
        prompts = RunPrompts(run, rubric, context_tokens)
        for position, turn in enumerate(run.turns):
            if turn.index in wanted[run.id]:
                prompt = prompts.of(position)
                yield StepLine(
                    run=run.id, turn=turn.index, system=prompt.system, parts=prompt.parts
                )


@contextmanager
def canary_session(
    path: Path,
    rubric: Rubric,
    panel: Panel,
    settings: GradeSettings,
    *,
    spending: Spending | None = None,
    pace: Pace | None = None,
) -> Iterator[tuple[CanaryFile, Session]]:
    """A canary file for this process alone, and a session that keeps its answers there.

    Raises:
        ReadError: The file is something else, or another process writes to it.
        GradeError: It was made with another rubric text, budget or grader.
    """
    if rubric.kind == "fidelity":
        raise GradeError("a canary is of steps: a fidelity rubric has none; grade without --canary")
    with open_canary(path, session_line(rubric, panel, settings)) as file:
        yield (
            file,
            Session(rubric, panel, settings, journal=file, spending=spending, pace=pace),
        )


def is_due(file: CanaryFile, *, every_days: float, now: float) -> bool:
    """Whether the last round is so many days old, or the first ones are not complete."""
    if len(file.rounds) < FIRST_ROUNDS:
        return True
    return now - file.rounds[-1].at >= every_days * DAY_SECONDS


async def run_canary(
    file: CanaryFile, session: Session, *, every_days: float = DEFAULT_DAYS
) -> Canary:
    """Grade the steps again where that is due, and compare.

    A round that was broken off goes on with the answers that it had. The canary's very first
    rounds are graded at once: the reference, and the grader against itself.

    Raises:
        GradeError: The grader is dead, or the canary has no steps.
    """
    if not file.steps:
        raise GradeError(f"{file.path}: the canary has no step; remove the file to make it anew")
    due = is_due(file, every_days=every_days, now=time.time())
    while due:
        number = len(file.rounds) + 1
        await _grade_round(file, session, number)
        if session.stopped is not None:
            break
        file.add_round(RoundLine(number=number, at=time.time()))
        due = len(file.rounds) < FIRST_ROUNDS
    return canary_result(file, session, was_due=session.spending.calls > 0)


def canary_result(file: CanaryFile, session: Session, *, was_due: bool) -> Canary:
    """What the rounds of a canary file come to."""
    reference = _said(file, session, 1)
    rounds = tuple(
        _round(one, _said(file, session, one.number), reference, len(file.steps))
        for one in file.rounds[1:]
    )
    return Canary(n_steps=len(file.steps), rounds=rounds, was_due=was_due, verdict=_verdict(rounds))


async def _grade_round(file: CanaryFile, session: Session, number: int) -> None:
    for step in file.steps:
        prompt = Prompt(system=step.system, parts=step.parts, elided=Elided())
        for member in session.panel:
            for sample in range(1, member.samples + 1):
                item = Item(
                    run=round_name(number),
                    turn=step.turn,
                    member=member,
                    sample=sample,
                    prompt=prompt,
                    key=file.key(number, step, member.model.name, sample),
                )
                await session.settle(item)


def round_name(number: int) -> str:
    """What the answers of a round stand under."""
    return f"round {number}"


def _said(file: CanaryFile, session: Session, number: int) -> dict[int, object]:
    """What the panel made of each step in a round, by the step's position."""
    said: dict[int, object] = {}
    for position, step in enumerate(file.steps):
        lines = [
            line
            for member in session.panel
            for sample in range(1, member.samples + 1)
            if (line := file.had(file.key(number, step, member.model.name, sample))) is not None
        ]
        decided = _decided(lines, session, step.turn)
        if decided is not None:
            said[position] = decided
    return said


def _decided(lines: Sequence[GradeLine], session: Session, turn: int) -> object | None:
    """The validity of a step, or the numbers of a turn; None where it is missing."""
    fold = GradeFile(session=session.line)
    for line in lines:
        fold.add(0, line)
    judged = judge(fold, lines[0].run, turn) if lines else None
    if judged is None:
        return None
    if judged.grade is not None:
        return judged.grade.validity
    return None if judged.values.get("grade_missing") else tuple(sorted(judged.values.items()))


def _round(
    line: RoundLine, said: dict[int, object], reference: dict[int, object], n_steps: int
) -> CanaryRound:
    both = [position for position in reference if position in said]
    same = sum(said[position] == reference[position] for position in both)
    return CanaryRound(
        number=line.number,
        at=line.at,
        n_missing=n_steps - len(both),
        agreement=wilson(same, len(both)) if both else None,
    )


def _verdict(rounds: Sequence[CanaryRound]) -> Verdict:
    """The last round against round 2."""
    if len(rounds) < 2:
        return "inconclusive"
    first, last = rounds[0].agreement, rounds[-1].agreement
    if first is None or last is None:
        return "inconclusive"
    if last.high < first.low or last.low > first.high:
        return "finding"
    return "clean" if first.low <= last.value <= first.high else "watch"
