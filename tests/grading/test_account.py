"""The account: what is missing, whether it grows, who agrees, and what casts doubt on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grading.fakes import FAIL, NEUTRAL, PASS, FakeModel, always, judged_turn, patient, said
from grading.runs import run
from turncurve.grading.account import Account, Grading
from turncurve.grading.cost import Limits, Pricing
from turncurve.grading.grade import grade_runs, run_grading
from turncurve.grading.model import GraderModel, Member, ProviderError, Reply
from turncurve.grading.plan import plan, survey
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import ANSWER_TOKENS, GradeSettings, Session
from turncurve.grading.turn_choice import EVERY_TURN, TurnChoice
from turncurve.model import Run

STEPS = load_rubric("steps")
PRICE = Pricing(per_million=(1.0, 10.0))


def grading(
    runs: list[Run], *models: GraderModel, most_missing: float = 0.05, **settings: object
) -> Grading:
    panel = [Member(model=model) for model in models]
    given = GradeSettings(**{"price": PRICE, **settings})  # type: ignore[arg-type]
    session, account = Session(STEPS, panel, given, pace=patient()), Account()
    run_grading(grade_runs(runs, session, on_run=account.add))
    return account.result(session, most_missing=most_missing)


def runs(n: int, n_turns: int = 10) -> list[Run]:
    return [run(n_turns, name=f"r{i}", goal=f"goal {i}") for i in range(n)]


def failing(when: Callable[[int, int], bool]) -> FakeModel:
    """A grader that fails where this says so of the turn and the number of the call."""
    return FakeModel(lambda m, n: ProviderError("down") if when(judged_turn(m), n) else said(PASS))


def test_counts_by_hand() -> None:
    """Three runs of ten turns: turn 10 fails in each; one run has no text."""
    bare = Run(id="bare", turns=(), format="h", path="p")
    done = grading([*runs(3), bare], failing(lambda turn, _: turn == 10))
    assert (done.n_runs, done.n_chosen, done.n_graded, done.n_missing) == (3, 30, 27, 3)
    assert done.excluded == {"no turn has text, calls or results": 1}
    assert done.reasons == {"provider error": 3}
    assert done.missing_share.value == pytest.approx(0.1)
    assert done.missing_share.low is None  # three runs that do not differ
    assert done.turns == tuple(range(1, 11))
    assert done.usd == pytest.approx(27 * 0.0015)
    assert done.findings == ("missing above limit",)


def test_missing_grades_that_grow_with_position_are_a_finding() -> None:
    """The second half fails at random in runs that differ; the slope is positive within runs."""
    done = grading(runs(8, 20), failing(lambda turn, n: turn > 12 and n % 3 == 0))
    assert done.missing_trend.low is not None
    assert done.missing_trend.low > 0
    assert "missing grows" in done.findings


def test_missing_grades_that_do_not_grow_are_none() -> None:
    """One in 25 fails wherever it stands: below the limit and without a trend."""
    done = grading(runs(8, 20), failing(lambda _, n: n % 29 == 0))
    assert 0 < (done.missing_share.value or 0) < 0.05
    assert done.findings == ()


def test_the_trend_of_missing_grades_is_per_ten_turns() -> None:
    """Turns 6 to 10 of ten missing: the slope of that step is 0.1515 a turn."""
    done = grading(runs(1), failing(lambda turn, _: turn > 5))
    assert done.missing_trend.value == pytest.approx(10 * 12.5 / 82.5)


def test_a_trend_is_of_runs_and_not_of_turns() -> None:
    """One run gives no interval, so no finding of growth."""
    done = grading(runs(1), failing(lambda turn, _: turn > 5), most_missing=0.9)
    assert done.missing_trend.low is None
    assert done.findings == ()


def test_agreement_is_over_runs() -> None:
    """Of two graders, one run agrees on each turn, the other on half of them."""
    other = FakeModel(
        lambda m, _: said(FAIL if "goal 1" in m[1].text and judged_turn(m) % 2 else PASS), name="b"
    )
    done = grading(runs(2), always(PASS, name="a"), other)
    assert done.agreement.value == pytest.approx(0.75)
    assert done.agreement.n_runs == 2
    assert done.n_ties == 5
    assert done.n_missing == 0
    assert done.missing_share.value == 0
    assert done.panel == {"a": 1, "b": 1}


def test_one_grader_has_no_agreement() -> None:
    """It is absent with a reason, not 1."""
    done = grading(runs(2), always(NEUTRAL))
    assert done.agreement.value is None
    assert done.agreement.reason


def test_what_was_left_out_of_prompts_is_counted() -> None:
    """The first turn with it, how many, and all characters."""
    done = grading([run(30, text="x" * 700)], always(PASS), context_tokens=4_000)
    assert done.first_elided is not None
    assert done.n_elided == 30 - done.first_elided + 1
    assert done.elided_characters > 0


def test_what_a_limit_left_is_not_missing() -> None:
    """Turns that were not asked about are counted apart."""
    done = grading(runs(2), always(PASS), limits=Limits(calls=5), concurrency=1)
    assert (done.n_graded, done.n_missing, done.n_left) == (5, 0, 5)
    assert done.stopped == "the limit of 5 calls"


def test_nothing_graded_is_a_finding() -> None:
    """Turns that no run has."""
    done = grading(runs(2), always(PASS), choice=TurnChoice(turns=(99,)))
    assert done.findings == ("nothing graded",)
    assert done.missing_share.value is None


def test_a_plan_counts_what_is_then_called() -> None:
    """Calls and tokens of the plan are those that are made; a price makes them dollars."""
    model = always(PASS)
    panel = [Member(model=model, samples=2)]
    settings = GradeSettings(price=PRICE, choice=TurnChoice(every=2))
    made = plan(runs(3), STEPS, panel, settings)
    assert (made.n_runs, made.n_turns, made.n_calls) == (3, 15, 30)
    session = Session(STEPS, panel, settings, pace=patient())
    run_grading(grade_runs(runs(3), session))
    assert len(model.asked) == made.n_calls
    tokens = made.by_grader["lab/fake"].input_tokens
    assert made.usd == pytest.approx((tokens + 10 * 30 * ANSWER_TOKENS) / 1e6, rel=1e-3)
    again = plan(runs(3), STEPS, panel, settings, session.journal)
    assert (again.n_calls, again.n_before) == (0, 30)
    assert again.usd == 0


def test_a_price_that_is_not_known_makes_no_cost() -> None:
    """Neither of the grader nor of all."""
    settings = GradeSettings(price=lambda *_: None)
    made = plan(runs(1), STEPS, [Member(model=always(PASS))], settings)
    assert made.usd is None
    assert made.by_grader["lab/fake"].usd is None


def test_a_survey_counts_turns_and_gathers_goals() -> None:
    """Goals by scenario, for a rubric that asks for them."""
    seen = survey(runs(3), load_rubric("fidelity"), EVERY_TURN)
    assert (seen.n_runs, seen.n_turns) == (3, 30)
    assert sorted(seen.goals.by_scenario) == ["r0", "r1", "r2"]
    assert survey(runs(3), STEPS, TurnChoice(turns=(1, 99))).n_turns == 3


def test_a_plan_for_fidelity_counts_the_anchors() -> None:
    """A paraphrase, a floor and a ceiling for each goal."""
    panel = [Member(model=always({"similarity": 1}))]
    made = plan(runs(3, 2), load_rubric("fidelity"), panel, GradeSettings(price=PRICE))
    assert made.n_calls == 6 + 3 * 3


def test_refusals_are_counted_by_reason() -> None:
    """Each vote has its reason, the commonest first."""
    model = FakeModel(lambda _, n: Reply(text="no", stop="refusal") if n % 4 == 0 else said(PASS))
    done = grading(runs(2), model)
    assert done.reasons == {"refusal": 5}
    assert done.n_repaired == 0
