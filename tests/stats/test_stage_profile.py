"""Where a run departs from its stages: by hand, re-weighting, and false alarms by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from turncurve.stats.stage_profile import Over, StageProfile, stage_profile


def profile(
    arrived: object, passed: object, succeeded: object, n: object, over: Over = "trials"
) -> StageProfile:
    return stage_profile(
        arrived, passed, (succeeded, n), over=over, rng=np.random.default_rng(0)
    )  # fmt: skip


def test_by_hand() -> None:
    """One task: 18 of 20 alone, 10 of 20 on the way at the first, 8 of 10 both at the second."""
    found = profile([[20, 10]], [[10, 8]], [[18, 16]], [[20, 20]])
    assert found.alone == pytest.approx([0.9, 0.8])
    assert found.on_the_way == pytest.approx([0.5, 0.8])
    assert found.log_ratio == pytest.approx([np.log(1.8), 0])
    q, r = 18.5 / 21, 10.5 / 21
    of_alone, of_way = q * (1 - q) / 21 / 0.9**2, 20 * r * (1 - r) / 10**2
    assert found.std_error[0] == pytest.approx(np.sqrt(of_alone + of_way))
    assert found.p_adjusted[0] < 0.05 < found.p_adjusted[1]
    assert found.n_arrived.tolist() == [20, 10]


def test_tasks_weigh_by_their_arrivals() -> None:
    """An easy task's 18 and a hard one's 2 arrivals: .9 and .4 alone make .85, not .65."""
    found = profile([[18], [2]], [[16], [1]], [[18], [8]], [[20], [20]])
    assert found.alone == pytest.approx([(18 * 0.9 + 2 * 0.4) / 20])
    assert found.log_ratio == pytest.approx([0])


def test_who_arrives_does_not_make_a_late_stage_look_better() -> None:
    """Half the tasks .98 and half .62, no effect: the log ratio is 0 at each of four stages."""
    rng = np.random.default_rng(4)
    q = np.repeat(np.where(np.arange(400) < 200, 0.98, 0.62)[:, None], 4, axis=1)
    arrived, passed = np.zeros((400, 4), int), np.zeros((400, 4), int)
    left = np.full(400, 20)
    for i in range(4):
        arrived[:, i] = left
        passed[:, i] = left = rng.binomial(left, q[:, i])
    found = profile(arrived, passed, rng.binomial(20, q), np.full((400, 4), 20), "tasks")
    assert np.abs(found.log_ratio).max() < 0.015
    # All tasks alike weighed would give .80 alone against the .96 of those that arrive last.
    assert found.on_the_way[3] > 0.9


def test_the_jackknife_agrees_with_the_linear_error() -> None:
    """Over tasks the error is that of leaving out one task at a time, to a few percent."""
    rng = np.random.default_rng(5)
    arrived = np.full((40, 1), 10)
    succeeded, passed = rng.binomial(10, 0.8, (2, 40, 1))
    n = np.full((40, 1), 10)
    found = profile(arrived, passed, succeeded, n, "tasks")
    without = [
        profile(*(np.delete(each, j, 0) for each in (arrived, passed, succeeded, n))).log_ratio[0]
        for j in range(40)
    ]
    assert found.std_error[0] == pytest.approx(
        np.sqrt(39 / 40 * ((without - np.mean(without)) ** 2).sum()), rel=0.05
    )


@pytest.mark.parametrize("over", ["tasks", "trials"])
def test_no_success_and_no_arrival_are_absent(over: Over) -> None:
    """Where a rate is 0 there is no log ratio; where nobody arrived there is no rate."""
    arrived, passed = [[5, 2, 0], [5, 1, 0]], [[2, 0, 0], [1, 0, 0]]
    found = profile(arrived, passed, np.full((2, 3), 3), np.full((2, 3), 5), over)
    assert np.isnan(found.log_ratio).tolist() == [False, True, True]
    assert np.isnan(found.p_adjusted).tolist() == [False, True, True]
    assert np.isnan(found.low[1:]).all()
    assert np.isnan(found.on_the_way).tolist() == [False, False, True]


def test_a_task_without_stage_trials_counts_for_nothing() -> None:
    """Its arrivals are on neither side."""
    found = profile([[10], [90]], [[5], [90]], [[8], [0]], [[10], [0]])
    assert (found.alone[0], found.on_the_way[0]) == pytest.approx((0.8, 0.5))
    assert (found.n_arrived[0], found.n_tasks[0]) == (10, 1)


@pytest.mark.parametrize(("over", "n_tasks"), [("tasks", 20), ("trials", 4)])
def test_false_alarms_of_the_largest(over: Over, n_tasks: int) -> None:
    """Without an effect any of four stages stands out in at most 8 % of 500 studies."""
    rng = np.random.default_rng(6)
    n_alarms = 0
    for _ in range(500):
        q = rng.uniform(0.6, 0.9, (n_tasks, 4))
        left, arrived, passed = np.full(n_tasks, 20), [], []
        for i in range(4):
            arrived.append(left)
            left = rng.binomial(left, q[:, i])
            passed.append(left)
        found = stage_profile(
            np.transpose(arrived), np.transpose(passed),
            (rng.binomial(20, q), np.full((n_tasks, 4), 20)),
            over=over, rng=rng,
        )  # fmt: skip
        n_alarms += bool((found.p_adjusted < 0.05).any())
    assert n_alarms <= 40


def test_finds_the_stage() -> None:
    """A third stage that loses a third on the way stands out, and no other does."""
    rng = np.random.default_rng(7)
    q = np.full((15, 4), 0.85)
    left, arrived, passed = np.full(15, 40), [], []
    for i, factor in enumerate((1, 1, 0.67, 1)):
        arrived.append(left)
        left = rng.binomial(left, q[:, i] * factor)
        passed.append(left)
    found = profile(
        np.transpose(arrived), np.transpose(passed), rng.binomial(40, q), np.full((15, 4), 40),
        "tasks",
    )  # fmt: skip
    assert (found.p_adjusted < 0.05).tolist() == [False, False, True, False]
    assert found.log_ratio[2] == pytest.approx(-np.log(0.67), abs=0.12)
