"""Labels of a person: what is drawn, what keys answer, what is kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.runs import run
from turncurve.errors import GradeError
from turncurve.grading.dimensions import broken_invariant
from turncurve.grading.label_book import LabelPlan, drawn_steps, keep, open_labels, past_and_step
from turncurve.grading.label_design import draw
from turncurve.grading.label_keys import KEYS, Label, pressed, question
from turncurve.grading.rubric_file import load_rubric
from turncurve.ingest import read_table
from turncurve.readers.grade_lines import Value

STEPS = load_rubric("steps")
TURNS = {f"r{i}": range(1, 5 + i) for i in range(8)}


def typed(keys: str, turn: int = 9) -> tuple[Label, str]:
    label, event = Label(turn=turn), ""
    for key in keys:
        label, event = pressed(label, "enter" if key == "\n" else key)
    return label, event


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (
            "pl",
            ("pass", "low", "n/a", None, False, None),
        ),
        ("fhihn", ("fail", "high", "independent", "high", False, None)),
        ("fmdly7\n", ("fail", "medium", "dependent", "low", True, 7)),
        ("nly12\n3\n", ("neutral", "low", "n/a", None, True, 3)),
    ],
)
def test_keys_make_a_whole_label_that_fits_together(keys: str, answer: tuple[Value, ...]) -> None:
    label, event = typed(keys)
    assert event == "done"
    assert tuple(label.answer[name] for name in KEYS) == answer
    assert broken_invariant("steps", label.answer) is None


def test_what_was_skipped_is_not_in_the_label() -> None:
    label, event = typed("fsdss")
    assert event == "done"
    assert label.answer == {"validity": "fail", "dependency": "dependent"}


def test_validity_cannot_be_skipped_and_a_wrong_key_says_what_was_wanted() -> None:
    label, event = typed("s")
    assert event == "unknown"
    assert question(label) == "validity"
    label, _ = typed("x")
    assert label.said == "validity: wanted f, n, p"


def test_undo_takes_the_answers_back_and_then_goes_to_the_step_before() -> None:
    label, event = typed("fhu")
    assert label.answer == {}
    assert event == "answered"
    assert pressed(label, "u")[1] == "back"
    assert pressed(label, "q")[1] == "quit"


def test_a_first_turn_repeats_nothing() -> None:
    label, event = typed("nl", turn=1)
    assert event == "done"
    assert label.answer["looping"] is False


@given(st.lists(st.sampled_from([*"fnplmhidyus0123456789", "enter", "backspace"]), max_size=40))
def test_no_order_of_keys_makes_a_label_that_contradicts_itself(keys: list[str]) -> None:
    label = Label(turn=5)
    for key in keys:
        label, event = pressed(label, key)
        if event == "done":
            whole: dict[str, Value] = {**dict.fromkeys(KEYS), **label.answer}
            if set(label.answer) == set(KEYS):
                assert broken_invariant("steps", whole) is None
            assert label.answer["validity"] in {"fail", "neutral", "pass"}
            label = Label(turn=5)


def test_whole_runs_are_drawn_each_as_likely_as_any_other() -> None:
    seen: Counter[str] = Counter()
    for seed in range(400):
        drawn = draw(TURNS, "runs", 2, seed)
        runs = list(dict.fromkeys(one.run for one in drawn))
        assert len(runs) == 2
        assert [one.turn for one in drawn if one.run == runs[0]] == list(TURNS[runs[0]])
        assert {one.probability for one in drawn} == {0.25}
        seen.update(runs)
    assert all(60 < seen[name] < 140 for name in TURNS)


def test_strata_are_drawn_with_the_chance_that_is_said() -> None:
    """Over many draws each turn comes as often as its probability says."""
    seen: Counter[tuple[str, int]] = Counter()
    chance: dict[tuple[str, int], float] = {}
    for seed in range(600):
        for one in draw(TURNS, "strata", 9, seed):
            seen[one.run, one.turn] += 1
            chance[one.run, one.turn] = one.probability
    assert len(seen) == sum(map(len, TURNS.values()))
    for place, probability in chance.items():
        assert seen[place] / 600 == pytest.approx(probability, abs=0.08)


def test_a_draw_is_the_same_again_and_cannot_be_of_more_than_there_is() -> None:
    assert draw(TURNS, "runs", 3, 5) == draw(TURNS, "runs", 3, 5)
    with pytest.raises(GradeError, match="wanted 9 runs to label, and there are 8"):
        draw(TURNS, "runs", 9, 0)
    with pytest.raises(GradeError, match="wanted 900 turns"):
        draw(TURNS, "strata", 900, 0)


def test_labels_are_kept_replaced_and_read_as_grades_without_hindsight(tmp_path: Path) -> None:
    plan = LabelPlan(labeller="Ada", n=1)
    runs = [run(4, name="a"), run(4, name="b")]
    steps = drawn_steps(runs, plan, STEPS)
    path = tmp_path / "labels.jsonl"
    answer = typed("fhihn")[0].answer
    with open_labels(path, plan, STEPS) as journal:
        keep(journal, steps[0], typed("pl")[0].answer, plan)
        keep(journal, steps[1], {"validity": "neutral"}, plan)
    with open_labels(path, plan, STEPS) as journal:
        assert journal.had(steps[1].key) is not None
        assert journal.had(steps[2].key) is None
        keep(journal, steps[0], answer, plan)
    columns = read_table([path]).table.columns
    assert columns["error"].tolist() == [1, 0]
    assert columns["grade_neutral"].tolist() == [0, 1]
    assert b'"probability":0.5' in path.read_bytes()
    assert b'"construct":"no hindsight' in path.read_bytes()


def test_labels_of_two_kinds_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with open_labels(path, LabelPlan(labeller="Ada"), STEPS):
        pass
    for plan, words in (
        (LabelPlan(labeller="Ada", hindsight=True), "graders who knew: no hindsight"),
        (LabelPlan(labeller="Ada", seed=1), "parameters"),
        (LabelPlan(labeller="Bob"), "Ada"),
    ):
        with pytest.raises(GradeError, match=words), open_labels(path, plan, STEPS):
            pass
    other = open_labels(tmp_path / "b.jsonl", LabelPlan(labeller="A"), load_rubric("score"))
    with pytest.raises(GradeError, match="labels are of a rubric of steps"), other:
        pass


def test_a_labeller_sees_the_past_alone_unless_hindsight_is_asked_for() -> None:
    plan = LabelPlan(labeller="Ada", n=1)
    step = drawn_steps([run(4, name="a")], plan, STEPS)[1]
    titles = [title for title, _ in past_and_step(step, hindsight=False)]
    assert titles[-1] == "TURN 2: THE STEP TO LABEL"
    after = [title for title, _ in past_and_step(step, hindsight=True)]
    assert after[-1] == "TURN 4"


def test_runs_without_text_cannot_be_labelled() -> None:
    with pytest.raises(GradeError, match="the files hold no text"):
        drawn_steps([], LabelPlan(labeller="Ada"), STEPS)
