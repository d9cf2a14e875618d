"""Names of answers: what they cover, and what they leave out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grading.runs import run, turn
from turncurve.grading.key import content_digests, grade_key
from turncurve.grading.prompt import build_prompt, settings_digest
from turncurve.grading.rubric import Rubric
from turncurve.grading.rubric_file import built_in_text, load_rubric, parse_rubric
from turncurve.model import Run, ToolCall, ToolResult
from turncurve.readers.grade_lines import MemberMark

STEPS = load_rubric("steps")
GRADER = MemberMark(grader="lab/a", parameters={"temperature": 0.0})


def key(
    of: Run,
    at: int = 2,
    *,
    rubric: Rubric = STEPS,
    member: MemberMark = GRADER,
    sample: int = 1,
    budget: int = 24_000,
) -> str:
    contents = [*content_digests(of)]
    return grade_key(
        settings=settings_digest(rubric, budget),
        member=member,
        content=contents[at - 1],
        turn=at,
        prompt=build_prompt(of, rubric, at, budget),
        sample=sample,
    )


def with_turn(index: int, **more: object) -> Run:
    base = run(3)
    turns = list(base.turns)
    turns[index - 1] = turn(index, before=turns[index - 1].before, **more)
    return replace(base, turns=tuple(turns))


def rubric(before: str, after: str) -> Rubric:
    return parse_rubric(built_in_text("steps").replace(before, after), "r")


FAILED = ToolResult(text="record 1 is fine", error=True, detector="flag")
OTHERS = {
    "turn": key(run(3), 3),
    "version": key(run(3), rubric=rubric("version: 1", "version: 2")),
    "text": key(run(3), rubric=rubric("no evidence", "little evidence")),
    "model": key(run(3), member=MemberMark(grader="lab/b", parameters={"temperature": 0.0})),
    "parameters": key(run(3), member=MemberMark(grader="lab/a", parameters={"temperature": 1.0})),
    "sample": key(run(3), sample=2),
    "budget": key(run(3), budget=20_000),
    "text of an earlier turn": key(with_turn(1, text="something else")),
    "arguments": key(with_turn(2, tool_calls=(ToolCall(name="look", arguments={"record": 9}),))),
    "result": key(with_turn(1, tool_results=(ToolResult(text="gone"),))),
    "error": key(
        with_turn(
            1, tool_results=(ToolResult(text="record 1 is fine", error=True, detector="flag"),)
        )
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_key_covers(what: str) -> None:
    """Another turn, rubric, model, parameter, sample, budget or content is another answer."""
    assert OTHERS[what] != key(run(3))
    assert len(set(OTHERS.values())) == len(OTHERS)


def test_a_key_covers_what_was_left_out_for_want_of_room() -> None:
    """Content that the prompt does not show is content all the same."""
    long = run(30, text="x" * 2_000)
    other = replace(long, turns=(long.turns[0], turn(2, "y" * 2_000), *long.turns[2:]))
    budget = 4_000
    assert build_prompt(long, STEPS, 30, budget) == build_prompt(other, STEPS, 30, budget)
    assert key(long, 30, budget=budget) != key(other, 30, budget=budget)


def test_content_covers_what_no_prompt_may_show() -> None:
    """Whether a tool failed, by itself."""
    failed = with_turn(1, tool_results=(FAILED,))
    assert [*content_digests(run(3))][-1] != [*content_digests(failed)][-1]


def test_names_and_the_future_are_no_part() -> None:
    """A run that goes on, or whose file is renamed, keeps its grades."""
    assert key(run(3)) == key(run(9))
    assert key(run(3)) == key(replace(run(3), id="other", path="elsewhere", trial=7))


def test_order_of_parameters_is_no_part() -> None:
    """It says nothing else in another order."""
    both = [MemberMark(grader="g", parameters=p) for p in ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
    assert key(run(3), member=both[0]) == key(run(3), member=both[1])


def test_odd_arguments_have_a_digest() -> None:
    """What JSON cannot write is digested too."""
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    for arguments in ({"a": deep}, {"a": {1, 2}}, {1: 2, "a": 3}):
        call = ToolCall(name="t", arguments=arguments)  # type: ignore[arg-type]
        assert len([*content_digests(with_turn(2, tool_calls=(call,)))]) == 3
