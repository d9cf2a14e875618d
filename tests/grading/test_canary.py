"""The canary: a fixed set, its cadence, and a grader that changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from grading.fakes import FAIL, PASS, FakeModel, always, judged_turn, patient, said
from grading.runs import run
from turncurve.errors import GradeError, ReadError
from turncurve.grading.canary import (
    Canary,
    canary_session,
    canary_steps,
    choose_steps,
    is_due,
    run_canary,
)
from turncurve.grading.cost import Limits, Pricing
from turncurve.grading.grade import run_grading
from turncurve.grading.model import GraderModel, Member, ProviderError
from turncurve.grading.rubric import Rubric
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import GradeSettings
from turncurve.stats.proportion import wilson

STEPS = load_rubric("steps")
RUNS = [run(10 + i, name=f"r{i}", goal=f"goal {i}") for i in range(8)]
SETTINGS = GradeSettings(price=Pricing(per_million=(1, 1)))


def check(
    path: Path,
    model: GraderModel,
    *,
    days: float = 0.0,
    settings: GradeSettings = SETTINGS,
    rubric: Rubric = STEPS,
    n_steps: int = 20,
) -> Canary:
    done: list[Canary] = []

    async def work() -> None:
        panel = [Member(model=model)]
        with canary_session(path, rubric, panel, settings, pace=patient()) as (file, session):
            if not file.steps:
                chosen = choose_steps(RUNS, rubric, n_steps)
                file.add_steps(canary_steps(RUNS, rubric, chosen, settings.context_tokens))
            done.append(await run_canary(file, session, every_days=days))

    run_grading(work())
    return done[0]


def test_steps_are_spread_over_runs_and_positions() -> None:
    """One a run where there are enough, early and late turns alike, the same every time."""
    chosen = choose_steps(RUNS, STEPS, 8)
    assert len({name for name, _ in chosen}) == 8
    assert chosen == choose_steps(RUNS, STEPS, 8)
    many = choose_steps(RUNS, STEPS, 60)
    assert len(set(many)) == 60
    late = sum(turn > 6 for _, turn in many)
    assert 20 <= late <= 40
    assert len(choose_steps(RUNS, STEPS, 10_000)) == sum(len(one.turns) for one in RUNS)
    assert choose_steps([], STEPS, 5) == []


def test_a_steady_grader_is_clean(tmp_path: Path) -> None:
    """Two rounds at once, reference and baseline; then one a check, twenty of twenty each."""
    path = tmp_path / "c.jsonl"
    model = always(PASS)
    first = check(path, model)
    assert (first.verdict, first.n_steps, len(first.rounds)) == ("inconclusive", 20, 1)
    assert len(model.asked) == 40
    assert first.baseline is not None
    assert first.baseline.agreement == wilson(20, 20)
    second = check(path, model)
    assert second.verdict == "clean"
    assert [one.number for one in second.rounds] == [2, 3]
    assert len(model.asked) == 60


def test_a_grader_that_changes_is_a_finding(tmp_path: Path) -> None:
    """Half of the steps judged otherwise: the intervals lie apart."""
    path = tmp_path / "c.jsonl"
    check(path, always(PASS))
    changed = FakeModel(lambda _, n: said(FAIL if n % 2 else PASS))
    done = check(path, changed)
    assert done.last is not None
    assert done.last.agreement is not None
    assert done.last.agreement.value == 0.5
    assert done.verdict == "finding"


def test_a_small_change_is_watched(tmp_path: Path) -> None:
    """16 of 20 against 20 of 20: outside of the baseline's interval, not apart from it."""
    path = tmp_path / "c.jsonl"
    check(path, always(PASS))
    done = check(path, FakeModel(lambda _, n: said(FAIL if n <= 4 else PASS)))
    assert done.verdict == "watch"


def test_a_noisy_grader_is_no_finding(tmp_path: Path) -> None:
    """One that disagrees with itself from the start has a low baseline, and no alarm for it."""
    rng = random.Random(7)
    path = tmp_path / "c.jsonl"
    noisy = FakeModel(lambda _, __: said(FAIL if rng.random() < 0.3 else PASS))
    verdicts = [check(path, noisy).verdict for _ in range(6)]
    assert "finding" not in verdicts


def test_it_is_asked_when_it_is_due(tmp_path: Path) -> None:
    """Within its days it is not graded again, and says so."""
    path = tmp_path / "c.jsonl"
    model = always(PASS)
    assert check(path, model, days=7).was_due
    again = check(path, model, days=7)
    assert not again.was_due
    assert len(model.asked) == 40
    with canary_session(path, STEPS, [Member(model=model)], SETTINGS) as (file, _):
        at = file.rounds[-1].at
        assert not is_due(file, every_days=7, now=at + 6.9 * 86_400)
        assert is_due(file, every_days=7, now=at + 7 * 86_400)


def test_a_round_that_broke_off_goes_on(tmp_path: Path) -> None:
    """After a limit the round is finished with the answers that it had."""
    path = tmp_path / "c.jsonl"
    model = always(PASS)
    few = GradeSettings(price=Pricing(per_million=(1, 1)), limits=Limits(calls=25))
    assert check(path, model, settings=few).verdict == "inconclusive"
    assert len(model.asked) == 25
    assert len(check(path, model).rounds) == 1
    assert len(model.asked) == 40


def test_missing_grades_are_counted_apart(tmp_path: Path) -> None:
    """A step that failed in a round says nothing of agreement."""
    path = tmp_path / "c.jsonl"
    check(path, always(PASS))
    done = check(path, FakeModel(lambda _, n: ProviderError("x") if n <= 5 else said(PASS)))
    assert done.last is not None
    assert done.last.n_missing == 5
    assert done.last.agreement == wilson(15, 15)


def test_the_set_outlives_the_traces(tmp_path: Path) -> None:
    """The prompts stand in the file, so the steps are graded though the runs are gone."""
    path = tmp_path / "c.jsonl"
    check(path, always(PASS))
    turns: list[int] = []

    def answer(messages: object, _: int) -> object:
        turns.append(judged_turn(messages))  # type: ignore[arg-type]
        return said(PASS)

    check(path, FakeModel(answer))  # type: ignore[arg-type]
    assert len(turns) == 20


def test_another_grader_needs_another_canary(tmp_path: Path) -> None:
    """Rounds by two graders are not compared."""
    path = tmp_path / "c.jsonl"
    check(path, always(PASS))
    with pytest.raises(GradeError, match="who is not in the panel now"):
        check(path, always(PASS, name="b"))


def test_another_file_is_not_written_to(tmp_path: Path) -> None:
    """A file that is no canary is left as it is."""
    path = tmp_path / "c.jsonl"
    path.write_text("{}\n")
    with pytest.raises(ReadError, match="the file is no canary file"):
        check(path, always(PASS))
    assert path.read_text() == "{}\n"


def test_a_fidelity_rubric_has_no_canary(tmp_path: Path) -> None:
    """It says what to do instead."""
    with pytest.raises(GradeError, match="grade without --canary"):
        check(tmp_path / "c.jsonl", always(PASS), rubric=load_rubric("fidelity"))


def test_scores_have_a_canary_too(tmp_path: Path) -> None:
    """The level is what is compared."""
    path = tmp_path / "c.jsonl"
    rubric = load_rubric("score")
    check(path, always({"score": 3}), rubric=rubric)
    assert check(path, always({"score": 3}), rubric=rubric).verdict == "clean"
    assert check(path, always({"score": 2}), rubric=rubric).verdict == "finding"
