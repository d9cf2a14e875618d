"""The residual of matched stages: verdicts at stated counts, known truths, what is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.stage_trials import SAME, counted, made_up, trial
from turncurve.analysis.residual import residual
from turncurve.analysis.residual_counts import (
    NO_SUCH_ARC,
    NO_WHOLE,
    NOT_EVERY_STAGE,
    NOT_IN_STUDY,
    NOT_KNOWN,
    REPEATED,
)
from turncurve.analysis.residual_plan import ResidualSettings, StudyPlan, TaskPlan
from turncurve.errors import NotComparableError, NotEnoughDataError, UnknownNameError
from turncurve.readers.stage_trials import StageTrial

SUITE = ResidualSettings(inference="suite")


def study(n_tasks: int, factor: float, seed: int, n: int = 20) -> list[StageTrial]:
    """Tasks of four stages, half .98 and half .62; each stage but the first loses on the way."""
    rng = np.random.default_rng(seed)
    trials = []
    for j in range(n_tasks):
        q = 0.98 if j % 2 else 0.62
        r = (q, *(q * factor,) * 3)
        trials += made_up((q,) * 4, r, task=f"t{j}", n=n, m=n, rng=rng)
    return trials


def test_41_percent_predicted_against_10_observed() -> None:
    """16 of 20 at four stages and 2 of 20 end to end: .4096 - .1, and the interval leaves out 0."""
    found = residual(counted([(16, 20)] * 4, (2, 20))).primary
    assert found.predicted.value == pytest.approx(0.4096)
    assert found.observed.value == pytest.approx(0.1)
    assert found.residual.value == pytest.approx(0.3096)
    assert found.gamma.value == pytest.approx(np.log(4.096))
    assert found.residual.low > 0
    assert found.gamma.low > 0
    assert found.p_deficit > 0.97
    assert (found.verdict.verdict, found.verdict.kind) == ("deficit", "finding")
    assert (found.predicted.low, found.predicted.high) == pytest.approx((0.22, 0.56), abs=0.01)
    assert found.over == "one task"
    assert any("one task" in warning for warning in found.warnings)


def test_the_same_rates_of_few_trials_are_open() -> None:
    """4 of 5 and 1 of 10: the same sizes, an interval with 0, and how many trials would do."""
    found = residual(counted([(4, 5)] * 4, (1, 10))).primary
    assert found.residual.value == pytest.approx(0.3096)
    assert found.residual.low < 0 < found.residual.high
    assert found.verdict.verdict == "inconclusive"
    assert found.verdict.settle.unit == "trials"
    assert 10 < found.verdict.settle.to_see < 40
    assert "margin" in found.verdict.settle.words


def test_four_good_stages_make_no_deficit() -> None:
    """.41 observed where .41 is predicted: not a long-horizon weakness; 400 trials show it."""
    few = residual(counted([(16, 20)] * 4, (8, 20)), settings=ResidualSettings(margin=0.1)).primary
    assert few.verdict.verdict == "inconclusive"
    many = residual(
        counted([(320, 400)] * 4, (164, 400)), settings=ResidualSettings(margin=0.1)
    ).primary
    assert (many.verdict.verdict, many.verdict.kind) == ("consistent", "clean")
    assert many.verdict.equivalence.shown
    without = residual(counted([(320, 400)] * 4, (164, 400))).primary
    assert without.verdict.verdict == "inconclusive"


def test_a_residual_within_the_margin_is_consistent_though_not_0() -> None:
    """4,000 trials see .03, and .05 was declared not to matter."""
    found = residual(
        counted([(3200, 4000)] * 4, (1520, 4000)), settings=ResidualSettings(margin=0.06)
    ).primary
    assert found.residual.low > 0
    assert found.verdict.verdict == "consistent"
    assert "not 0" in found.verdict.why


def test_no_success_at_all_has_a_ratio_with_limits() -> None:
    """0 of 20 end to end: gamma is the posterior's median and says so; the residual is .41."""
    found = residual(counted([(16, 20)] * 4, (0, 20))).primary
    assert found.residual.value == pytest.approx(0.4096)
    assert found.gamma.low > 0.8
    assert "median" in " ".join(found.gamma.warnings)
    several = counted([(16, 20)] * 4, (0, 20)) + counted([(15, 20)] * 4, (0, 20), task="u")
    assert residual(several).primary.gamma.value is None
    assert residual(several).primary.gamma.reason


def test_perfect_trials_are_not_certain() -> None:
    """20 of 20 everywhere: no residual, and limits around it all the same."""
    found = residual(counted([(20, 20)] * 4, (20, 20))).primary
    assert found.residual.value == 0
    assert found.residual.low < 0 < found.residual.high
    both = counted([(20, 20)] * 4, (20, 20)) + counted([(20, 20)] * 4, (20, 20), task="u")
    other = residual(both).primary
    assert other.over == "these tasks"
    assert any("do not differ" in warning for warning in other.warnings)
    assert other.residual.low < 0 < other.residual.high


@pytest.mark.parametrize("inference", ["population", "suite"])
def test_heterogeneous_tasks_without_effect(inference: str) -> None:
    """Trap 6: product of means would say -.23; the mean of products leaves 0 in."""
    found = residual(study(60, 1.0, 51), settings=ResidualSettings(inference=inference)).primary
    assert np.log(found.product_of_means / found.observed.value) < -0.15
    assert abs(found.gamma.value) < 0.08
    assert found.gamma.low < 0 < found.gamma.high
    assert found.residual.low < 0 < found.residual.high


@pytest.mark.parametrize("inference", ["population", "suite"])
def test_heterogeneous_tasks_with_a_deficit(inference: str) -> None:
    """Trap 6: a true gamma of .595 is found, which the product of means halves."""
    found = residual(study(60, 0.82, 52), settings=ResidualSettings(inference=inference)).primary
    assert found.gamma.low < 0.595 < found.gamma.high
    assert found.gamma.value == pytest.approx(0.595, abs=0.12)
    assert np.log(found.product_of_means / found.observed.value) < 0.595 - 0.15
    assert found.verdict.verdict == "deficit"
    stages = {row.stage: row for row in found.stages}
    assert stages["s1"].log_ratio.low < 0 < stages["s1"].log_ratio.high
    assert all(stages[f"s{i}"].log_ratio.low > 0 for i in (2, 3, 4))
    assert stages["s4"].log_ratio.value == pytest.approx(-np.log(0.82), abs=0.08)


@pytest.mark.parametrize(
    ("n_tasks", "settings"),
    [(1, ResidualSettings()), (4, SUITE), (15, ResidualSettings())],
    ids=["one", "these", "others"],
)
def test_false_alarms(n_tasks: int, settings: ResidualSettings) -> None:
    """Without an effect at most 8 % of 250 studies find a deficit or a surplus."""
    alarms = sum(
        residual(study(n_tasks, 1.0, seed, n=12), settings=settings).primary.verdict.kind
        == "finding"
        for seed in range(250)
    )
    assert alarms <= 20


@pytest.mark.parametrize(("n_tasks", "settings"), [(4, SUITE), (15, ResidualSettings())])
def test_a_history_effect_is_found(n_tasks: int, settings: ResidualSettings) -> None:
    """Stages that lose 40 % after the first: a deficit in 90 % of 50 studies, a surplus in none."""
    found = [
        residual(study(n_tasks, 0.6, seed), settings=settings).primary.verdict.verdict
        for seed in range(50)
    ]
    assert found.count("deficit") >= 45
    assert "surplus" not in found


def test_recovery_is_a_surplus_and_its_reason_is_seen() -> None:
    """Runs that make good a failed stage beat the product, without passing every stage."""
    rng = np.random.default_rng(1)
    trials = []
    for j in range(12):
        trials += made_up((0.7,) * 4, (), task=f"t{j}", n=20, m=0, rng=rng)
        for _ in range(20):
            passed = tuple(f"s{i}" for i in range(1, 5) if rng.random() < 0.7)
            done = len(passed) == 4 or rng.random() < 0.5
            trials.append(trial(f"t{j}", None, done, accepted=passed))
    found = residual(trials).primary
    assert found.verdict.verdict == "surplus"
    assert found.gamma.high < 0
    assert found.departures.n_without_all > 40
    assert any("product is too low" in warning for warning in found.warnings)


RETRY = TaskPlan(
    stages=("a", "b"),
    arcs={"a": ("a", "b", "failure"), "b": ("a", "success", "failure")},
)


def walks(n: int, m: int, seed: int, task: str = "t") -> list[StageTrial]:
    """Transition trials and whole walks of a task with a retry and a way back."""
    rng = np.random.default_rng(seed)
    chances = {"a": (("a", 0.3), ("b", 0.6), ("failure", 0.1)),
               "b": (("a", 0.3), ("success", 0.6), ("failure", 0.1))}  # fmt: skip

    def go(state: str) -> str:
        names, p = zip(*chances[state], strict=True)
        return str(rng.choice(names, p=p))

    trials = []
    for state in chances:
        for _ in range(n):
            to = go(state)
            trials.append(trial(task, state, to == "success", next=to))
    for _ in range(m):
        state = "a"
        while state in chances:
            state = go(state)
        trials.append(trial(task, None, state == "success"))
    return trials


def test_ways_back_need_the_graph() -> None:
    """x = .3 x + .6 y, y = .3 x + .6: .692 by the graph, .36 by the product, which is wrong."""
    plan = StudyPlan(tasks={"t": RETRY})
    found = residual(walks(400, 400, 1), plan=plan).primary
    assert found.predicted.low < 0.36 / 0.52 < found.predicted.high
    assert found.residual.low < 0 < found.residual.high
    assert found.straight.low > 0.2
    task = found.tasks[0]
    assert task.model == "chain"
    assert task.chain.straight == pytest.approx(0.36, abs=0.05)
    assert 0.2 < task.chain.n_off / task.chain.n < 0.4
    assert found.stages == ()
    flat = [
        replace(t, next=None, success=t.next in ("b", "success")) if t.stage else t
        for t in walks(400, 400, 1)
    ]
    assert residual(flat).primary.verdict.verdict == "surplus"


def test_a_graph_without_a_plan_is_that_of_the_trials() -> None:
    """Arcs that were taken are those there are; a budget of steps lowers the prediction."""
    free = residual(walks(300, 100, 2)).primary.predicted.value
    assert free == pytest.approx(0.36 / 0.52, abs=0.08)
    hurried = StudyPlan(tasks={"t": replace(RETRY, steps=2)})
    found = residual(walks(300, 100, 2), plan=hurried).primary
    assert found.predicted.value == pytest.approx(0.36, abs=0.06)


def test_an_arc_that_the_graph_lacks_is_left_out_and_counted() -> None:
    """b cannot lead to a here: those trials do not count."""
    plan = StudyPlan(
        tasks={"t": TaskPlan(stages=("a", "b"), arcs={**RETRY.arcs, "b": ("success", "failure")})}
    )
    trials = walks(100, 50, 3)
    n = sum(t.stage == "b" and t.next == "a" for t in trials)
    assert residual(trials, plan=plan).primary.excluded == {NO_SUCH_ARC: n}


def test_graphs_of_several_tasks() -> None:
    """Each task walks its own graph; the gap to the product has limits over tasks."""
    trials = [t for j in range(6) for t in walks(60, 60, j, task=f"t{j}")]
    found = residual(trials).primary
    assert found.straight.low > 0.15
    assert found.over == "tasks"
    assert found.residual.low < 0 < found.residual.high


def test_protocols_side_by_side_can_disagree() -> None:
    """Clean checkpoints predict .66 and hand-made poor ones .02: opposite signs, both shown."""
    trials = counted([(90, 100)] * 4, (30, 100), protocol="reference", history="clean")
    poor = counted([(36, 100)] * 4, (0, 0), protocol="harvested", history="retained")
    both = residual([*trials, *poor])
    assert [one.protocol for one in both.protocols] == ["reference, clean", "harvested, retained"]
    assert [one.verdict.verdict for one in both.protocols] == ["deficit", "surplus"]
    assert both.signs_differ
    turned = residual([*trials, *poor], settings=ResidualSettings(protocol="harvested, retained"))
    assert turned.primary.verdict.verdict == "surplus"
    planned = residual([*trials, *poor], plan=StudyPlan(protocols=("harvested, retained",)))
    assert planned.primary.protocol == "harvested, retained"
    with pytest.raises(UnknownNameError, match="reference, clean"):
        residual(trials, settings=ResidualSettings(protocol="oracle"))


def test_trials_of_two_configurations_are_refused_or_reported() -> None:
    """The part, both values and a record of each are named; asked to, it goes on and says so."""
    trials = counted([(8, 10)] * 2, (4, 10))
    other = [replace(t, conditions={**SAME, "model": "m2"}, record=7) if t.stage is None else t
             for t in trials]  # fmt: skip
    with pytest.raises(NotComparableError, match=r"model is not the same.*t.jsonl:1.*'m2'.*:7"):
        residual(other)
    found = residual(other, settings=ResidualSettings(differing="report"))
    (one,) = found.conditions.different
    assert (one.part, one.stages, one.whole) == ("model", {"x": 20}, {"m2": 10})
    assert found.conditions.digest is None
    assert len(residual(trials).conditions.digest) == 64


def test_parts_that_nobody_names_are_unknown_and_not_the_same() -> None:
    """Without a word on the model no digest is given, and the trials that lack it are counted."""
    bare = counted([(8, 10)] * 2, (4, 10))
    bare = [replace(t, conditions={"prompt": "p"}) for t in bare]
    found = residual(bare).conditions
    assert found.digest is None
    assert found.unknown == dict.fromkeys(("model", "tools", "memory", "limits"), 30)
    assert found.same == {"prompt": "p"}


def test_trials_of_another_study_are_refused() -> None:
    """Trials that name another study file's digest do not belong to this one."""
    trials = [replace(t, study="old") for t in counted([(8, 10)], (4, 10))]
    assert residual(trials).study is None
    with pytest.raises(NotComparableError, match="not this study"):
        residual(trials, plan=StudyPlan(digest="new"))


def test_what_cannot_count_is_left_out_by_reason() -> None:
    """Marked, unknown, given twice, not planned, of half a task: each with its number."""
    plan = StudyPlan(
        tasks={name: TaskPlan(stages=("s1", "s2")) for name in ("t", "no-end", "no-s2")}
    )
    trials = [
        *counted([(8, 10)] * 2, (4, 10)),
        trial("t", "s1", 1, excluded="time-out"),
        trial("t", None, None),
        trial("t", "s2", 1, trial="1"),
        trial("t", "s2", 0, trial="1"),
        trial("t", "s9", 1),
        trial("u", None, 1),
        *counted([(1, 2)] * 2, (0, 0), task="no-end"),
        *counted([(1, 2)], (1, 3), task="no-s2"),
    ]
    found = residual(trials, plan=plan)
    assert found.excluded == {
        "excluded: time-out": 1,
        NOT_KNOWN: 1,
        REPEATED: 1,
        NOT_IN_STUDY: 2,
    }
    assert found.primary.excluded == {NO_WHOLE: 4, NOT_EVERY_STAGE: 5}
    assert [task.name for task in found.primary.tasks] == ["t"]
    assert found.n_trials == len(trials)


def test_nothing_to_compare() -> None:
    """Stage trials alone, end-to-end runs alone, nothing: an error that says what is needed."""
    for trials in ([], counted([(1, 2)], (0, 0)), counted([], (1, 2))):
        with pytest.raises(NotEnoughDataError, match="every stage and end to end"):
            residual(trials)


def test_executions_that_serve_both_sides_narrow_the_residual() -> None:
    """A first stage taken from the end-to-end runs themselves: the error allows for it."""
    apart, shared = [], []
    for k in range(40):
        s1, done = k < 30, k < 20
        apart += [trial("t", "s1", s1), trial("t", None, done)]
        shared += [
            trial("t", "s1", s1, episode=f"e{k}"),
            trial("t", None, done, episode=f"e{k}"),
        ]
    one, both = residual(apart, settings=SUITE).primary, residual(shared, settings=SUITE).primary
    assert both.residual.value == one.residual.value
    assert both.residual.std_error < 0.8 * one.residual.std_error
    # In an execution the two move together: the variance of a difference of pairs.
    paired = np.var([float(k < 30) - float(k < 20) for k in range(40)]) / 40
    assert both.residual.std_error**2 == pytest.approx(paired, rel=0.1)
    assert any("several records" in warning for warning in both.warnings)


def test_stages_of_other_names_and_numbers() -> None:
    """Tasks of two and three stages: the third row is of one task, and no product of means."""
    trials = counted([(8, 10)] * 2, (6, 10)) + counted([(9, 10)] * 3, (6, 10), task="u")
    found = residual(trials, settings=SUITE).primary
    assert [row.n for row in found.stages] == [20, 20, 10]
    assert found.predicted.value == pytest.approx((0.64 + 0.729) / 2)
    assert found.product_of_means is None
    assert found.stages[0].log_ratio.reason
    assert found.stages[0].predicted_reach == pytest.approx(0.85)
    assert found.stages[0].observed_reach is None


def test_stages_on_the_way_follow_the_longest_way() -> None:
    """Stages that stand in the file the wrong way round are put in the order they were passed."""
    rng = np.random.default_rng(0)
    trials = made_up((0.9, 0.5), (0.9, 0.5), task="t", n=30, m=60, rng=rng)
    found = residual(trials[::-1]).primary
    assert [row.stage for row in found.stages] == ["s1", "s2"]
    first, second = found.stages
    assert (first.n_arrived, second.n_arrived) == (60, first.n_passed)
    assert second.observed_reach == pytest.approx(found.observed.value)


def test_runs_that_say_nothing_of_stages_are_told() -> None:
    """Ten runs without a word are in no row of the stages, and a sentence says so."""
    rng = np.random.default_rng(0)
    trials = made_up((0.9, 0.5), (0.9, 0.5), task="t", n=30, m=20, rng=rng)
    trials += [trial("t", None, 0) for _ in range(10)]
    found = residual(trials).primary
    assert (found.departures.n_looked, found.departures.n_silent) == (20, 10)
    assert found.stages[0].n_arrived == 20
    assert any(warning.startswith("10 of 30") for warning in found.warnings)
    assert found.observed.value < 20 / 30


def test_interventions_are_paired_by_task() -> None:
    """Resetting helps by .25 in each of eight tasks; what it changed is listed."""
    trials = []
    for j in range(8):
        trials += counted([(16, 20)] * 2, (5 + j, 20), task=f"t{j}")
        trials += [
            trial(f"t{j}", None, k < 10 + j, intervention="reset",
                  conditions={**SAME, "memory": "none"})
            for k in range(20)
        ]  # fmt: skip
    trials.append(trial("other", None, 1, intervention="reset"))
    found = residual(trials, settings=SUITE)
    (one,) = found.interventions
    assert (one.intervention, one.control) == ("reset", "retain")
    assert one.difference.value == pytest.approx(0.25)
    assert one.difference.low > 0
    assert (one.changed, one.unexpected) == (("memory",), ())
    assert (one.n, one.control_n) == (160, 160)
    assert found.primary.observed.value == pytest.approx(np.mean([(5 + j) / 20 for j in range(8)]))


def test_an_intervention_that_changed_more_says_so() -> None:
    """Another prompt beside the reset: no fair contrast."""
    trials = counted([(16, 20)], (5, 20))
    trials += [trial("t", None, 1, intervention="reset", conditions={**SAME, "prompt": "y"})]
    (one,) = residual(trials).interventions
    assert one.unexpected == ("prompt",)


def test_trials_of_one_seed_are_pairs() -> None:
    """The same seeds with and without: the error is that of the paired differences."""
    rng = np.random.default_rng(3)
    trials = counted([(16, 20)], (0, 0))
    x = rng.random(60) < 0.6
    y = np.where(rng.random(60) < 0.1, ~x, x)
    for k in range(60):
        trials.append(trial("t", None, bool(x[k]), trial=str(k)))
        trials.append(trial("t", None, bool(y[k]), trial=str(k), intervention="reset"))
    (one,) = residual(trials).interventions
    paired = np.std(y.astype(float) - x, ddof=1) / np.sqrt(60)
    assert one.n_paired == 60
    assert one.difference.std_error == pytest.approx(paired, rel=0.1)


def test_no_control_for_an_intervention() -> None:
    """A task tried with it alone: absent, with the reason."""
    trials = [*counted([(4, 5)], (2, 5)), trial("u", None, 1, intervention="compress")]
    (one,) = residual(trials).interventions
    assert one.difference.value is None
    assert "with and without" in one.difference.reason


def test_what_is_not_as_declared_is_told() -> None:
    """Another reason, a protocol not tried, one not declared, fewer trials on either side."""
    plan = StudyPlan(
        tasks={"t": TaskPlan(stages=("s1",)), "u": TaskPlan(stages=("s1",))},
        protocols=("reference, clean", "own_prefix, reset"),
        stage_trials=10,
        whole_trials=10,
        exclude=("crash",),
    )
    trials = counted([(9, 10)], (4, 10), protocol="reference", history="clean")
    trials += counted([(4, 5)], (2, 5), task="u", protocol="reference", history="clean")
    trials.append(trial("t", "s1", 1, protocol="mine"))
    trials.append(trial("t", None, None, excluded="crash"))
    trials.append(trial("t", None, 0, excluded="it looked wrong"))
    told = residual(trials, plan=plan).departed
    assert told == (
        "excluded: it looked wrong (1), a reason that the study does not declare",
        "no stage trial is of the declared protocol own_prefix, reset",
        "the study does not declare the protocol mine",
        "fewer end-to-end runs than the 10 declared, in 1 of 2 tasks, first u",
        "fewer stage trials under reference, clean than the 10 declared, in 1 of the stages, "
        "first u, s1",
        "fewer stage trials under mine than the 10 declared, in 2 of the stages, first t, s1",
    )


def test_the_same_seed_gives_the_same_numbers() -> None:
    """Random draws follow the seed."""
    trials = study(12, 0.9, 3)
    assert residual(trials) == residual(trials)


def test_amounts_are_means_over_trials_that_say() -> None:
    """Tokens of two of three runs; nothing where nobody says."""
    trials = counted([(1, 2)], (0, 0))
    trials += [trial("t", None, 1, amounts={"tokens": n}) for n in (100.0, 300.0)]
    trials.append(trial("t", None, 0))
    use = residual(trials).primary.use
    assert (use.tokens, use.cost_usd) == (200, None)


def test_settings_refuse_what_cannot_be() -> None:
    """A margin of 0 or 1, a level that is no confidence."""
    for wrong in ({"margin": 0.0}, {"margin": 1.0}, {"level": 0.4}):
        with pytest.raises(ValueError, match="wanted"):
            ResidualSettings(**wrong)
