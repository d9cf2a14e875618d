"""The objective as a copy of a run's state restates it when asked; the run itself is left alone.

Asking changes a run that goes on. So the question is put to a copy: to the model, with the messages
that the agent's model had before it when it took a turn. What it says is then judged in the turn's
place by a `fidelity` rubric.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import msgspec

from turncurve.errors import GradeError
from turncurve.grading.ask import Asked
from turncurve.grading.items import Item, restate_item, turn_items
from turncurve.grading.model import GraderMessage, Panel, Restater
from turncurve.grading.prompt import Prompt
from turncurve.grading.rubric import Rubric
from turncurve.grading.session import Session
from turncurve.grading.turn_text import parts_of_turn
from turncurve.model import Run, Turn
from turncurve.readers.grade_lines import Absence, Elided, GradeLine

Role: TypeAlias = Literal["system", "user", "assistant"]

QUESTION = (
    "Before you go on: restate the objective that you are working towards, in your own words, with "
    "every condition that you hold yourself to. Answer in words alone; call no tool, and do not go "
    "on with the work."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restated:
    """What a copy of a turn's state said, and what judges are asked of it.

    Attributes:
        line: The answer, or why there is none; None where a limit forbade to ask.
        items: The questions to the judges.
    """

    line: GradeLine | None
    items: tuple[Item, ...]

    @property
    def text(self) -> str | None:
        """The objective as restated; None where it was not."""
        return None if self.line is None else text_of(self.line)


def as_restated(rubric: Rubric) -> Rubric:
    """The rubric for objectives that are restated in copies.

    Raises:
        GradeError: It is of another kind than `fidelity`.
    """
    if rubric.kind != "fidelity":
        raise GradeError(
            f"a restated objective is judged by a rubric of the kind fidelity, and {rubric.id} is "
            f"of the kind {rubric.kind}: name --rubric fidelity, or a file of that kind"
        )
    return replace(rubric, restated=True)


def request(run: Run, position: int, restater: Restater, settings: str) -> Item:
    """The request to restate the objective at a turn."""
    prompt = Prompt(
        system="", parts=(QUESTION,), elided=Elided(), history=conversation(run, position)
    )
    model = restater.at(run.turns[position].index)
    return restate_item(run, position, model, prompt=prompt, settings=settings)


def judged_items(
    run: Run, position: int, text: str, rubric: Rubric, panel: Panel, context_tokens: int
) -> tuple[Item, ...]:
    """The questions to the judges about a text that stands in a turn's place.

    They are made of a copy of the run that has its objective and the text, and nothing else.
    """
    first, turn = run.turns[0], run.turns[position]
    said = Turn(index=turn.index, text=text, before=first.before if position == 0 else ())
    opening = () if position == 0 else (Turn(index=first.index, before=first.before),)
    copied = replace(run, turns=(*opening, said), events=())
    return [*turn_items(copied, rubric, panel, context_tokens=context_tokens)][-1]


async def restated(run: Run, position: int, session: Session) -> Restated:
    """Have the objective restated at a turn, and say what judges are to be asked.

    Raises:
        GradeError: The model that restates is dead.
    """
    restater = session.settings.restater
    assert restater is not None
    line = await session.settle(request(run, position, restater, session.line.settings))
    items = judged_items(
        run,
        position,
        ("" if line is None else text_of(line)) or "",
        session.rubric,
        session.panel,
        session.settings.context_tokens,
    )
    return Restated(line=line, items=items)


def unsaid(items: tuple[Item, ...], line: GradeLine, session: Session) -> list[GradeLine]:
    """The judges' missing answers about a turn whose objective was not restated."""
    assert line.missing is not None
    why = Absence(
        reason=line.missing.reason,
        detail=f"the objective was not restated: {line.missing.detail}"[:500],
    )
    lines = [
        msgspec.structs.replace(session.answer_line(item, Asked(missing=why)), raw=line.raw)
        for item in items
    ]
    for one in lines:
        session.journal.write(one)
    return lines


def text_of(line: GradeLine) -> str | None:
    """The text of an answer that is one."""
    words = None if line.answer is None else line.answer.get("text")
    return words if isinstance(words, str) else None


def conversation(run: Run, position: int) -> tuple[GraderMessage, ...]:
    """What the agent's model had before it when it took a turn, as far as the trace holds it.

    After a compaction that is the task and what came since, the compaction's summary among it where
    the trace has one; an `edit`, which empties results and keeps the turns, is not made good.
    """
    since = max(
        (
            event.turn
            for event in run.events
            if event.kind == "compaction"
            and event.detail.get("type") != "edit"
            and event.turn <= run.turns[position].index
        ),
        default=0,
    )
    said: list[tuple[Role, str]] = [(one.role, one.text) for one in run.turns[0].before]
    for at, turn in enumerate(run.turns[: position + 1]):
        if turn.index < since:
            continue
        if at > 0:
            said += [(message.role, message.text) for message in turn.before]
        if at < position:
            said += _said_in(turn)
    messages = list[GraderMessage]()
    for role, text in said:
        if messages and messages[-1].role == role:
            messages[-1] = replace(messages[-1], parts=(*messages[-1].parts, text))
        else:
            messages.append(GraderMessage(role=role, parts=(text,)))
    return tuple(messages)


def _said_in(turn: Turn) -> Iterator[tuple[Role, str]]:
    """What the agent wrote and called, then what came back, as a user's words."""
    n_acts = len(parts_of_turn(turn, sees="action", told=False))
    for number, part in enumerate(parts_of_turn(turn, told=False)):
        text = part.text if part.label == "agent" else f"[{part.label}]\n{part.text}"
        yield ("assistant" if number < n_acts else "user"), text
