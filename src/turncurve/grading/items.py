"""What is to be asked about a run: one item a turn, grader and sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turncurve.grading.key import content_digests, grade_key
from turncurve.grading.model import GraderModel, Member
from turncurve.grading.prompt import Prompt, RunPrompts, settings_digest
from turncurve.grading.rubric import Rubric
from turncurve.grading.turn_choice import EVERY_TURN, TurnChoice
from turncurve.model import Run

Anchor: TypeAlias = Literal["floor", "ceiling", "paraphrase", "restated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question to one grader."""

    run: str
    turn: int
    member: Member
    sample: int
    prompt: Prompt
    key: str
    anchor: Anchor | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the question, estimated."""
        return self.prompt.tokens


def turn_items(
    run: Run,
    rubric: Rubric,
    panel: Sequence[Member],
    *,
    choice: TurnChoice = EVERY_TURN,
    context_tokens: int,
) -> Iterator[tuple[Item, ...]]:
    """For each chosen turn, in the run's order, the questions about it.

    Raises:
        GradeError: The budget leaves no room for the run.
    """
    prompts = RunPrompts(run, rubric, context_tokens)
    contents = [*content_digests(run)]
    settings = settings_digest(rubric, context_tokens)
    for position in choice.positions(run):
        prompt, turn = prompts.of(position), run.turns[position].index
        yield tuple(
            _item(run.id, turn, member, sample, prompt, settings, contents[position])
            for member in panel
            for sample in range(1, member.samples + 1)
        )


def anchor_items(
    run: Run,
    panel: Sequence[Member],
    *,
    anchor: Anchor,
    prompt: Prompt,
    settings: str,
) -> tuple[Item, ...]:
    """The questions that say where the judge's scale ends, for a run's goal."""
    turn = run.turns[0].index
    return tuple(
        _item(run.id, turn, member, sample, prompt, settings, anchor, anchor)
        for member in panel
        for sample in range(1, member.samples + 1)
    )


def restate_item(
    run: Run, position: int, model: GraderModel, *, prompt: Prompt, settings: str
) -> Item:
    """The request to restate the objective, put to a copy of the state at a turn."""
    turn, member = run.turns[position].index, Member(model=model)
    return _item(run.id, turn, member, 1, prompt, settings, "restated", "restated")


def _item(  # noqa: PLR0913, PLR0917 - the parts of an item
    run: str,
    turn: int,
    member: Member,
    sample: int,
    prompt: Prompt,
    settings: str,
    content: str,
    anchor: Anchor | None = None,
) -> Item:
    key = grade_key(
        settings=settings,
        member=member.mark(),
        content=content,
        turn=turn,
        prompt=prompt,
        sample=sample,
    )
    return Item(
        run=run,
        turn=turn,
        member=member,
        sample=sample,
        prompt=prompt,
        key=key,
        anchor=anchor,
    )
