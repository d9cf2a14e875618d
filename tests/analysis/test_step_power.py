"""Sizing from a pilot: founding figures, what the analysis finds of suites so sized, and edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy import stats

import turncurve
from analysis.suites import suite_table
from turncurve.analysis.run_times import run_seconds
from turncurve.analysis.step_errors import claims_of
from turncurve.analysis.step_power import StepPower, StepPowerSettings, step_power
from turncurve.analysis.step_sizes import Needed, Question, visible
from turncurve.analysis.steps import Step, steps_of
from turncurve.analysis.suite import Suite, suite_of
from turncurve.errors import NotEnoughDataError, UnknownNameError
from turncurve.stats.simulate import Recipe, Spreads, simulate
from turncurve.stats.step_power import Rule
from turncurve.stats.two_way import Components

SPREADS = Spreads(turn=0.35, trial_turn=0.05)
DISAGREE = Spreads(turn=0.35, trial_turn=0.15, scenario_step=0.5)
PILOT = Recipe(spreads=SPREADS)


def sized(table: Any = None, **given: Any) -> StepPower:
    return step_power(table, StepPowerSettings(**given))


def row(result: StepPower, estimand: str = "suite", *, adjusted: bool = True) -> Needed:
    """The first step's row, looked for at every turn or at one."""
    rows = [r for r in result.needed if r.estimand == estimand and r.step == result.steps[0]]
    return rows[-1 if adjusted else 0]


def made(seed: int, n_trials: int, n_scenarios: int, recipe: Recipe, n_turns: int = 12) -> Suite:
    """A suite without the cost of a table."""
    shape = (n_trials, n_scenarios)
    values = simulate(
        recipe,
        n_trials=n_trials,
        n_scenarios=n_scenarios,
        n_turns=n_turns,
        rng=np.random.default_rng(seed),
    ).quality
    return Suite(
        signal="quality",
        better="high",
        bucket=1,
        values=values,
        run=np.arange(n_trials * n_scenarios).reshape(shape),
        n_turns=np.full(shape, n_turns),
        scenarios=tuple(map(str, range(n_scenarios))),
        excluded={},
    )


def pilot(recipe: Recipe = PILOT, **given: Any) -> Any:
    return turncurve.made_up_suite(recipe, **{"n_trials": 5, "n_scenarios": 24, **given}).table


def test_founding_sizes() -> None:
    """A step of .2 with an SD of .10 needs 5 trials at one turn, 8 at any of 11."""
    result = sized(steps=(0.2,), sd=0.1, n_positions=11)
    assert row(result, adjusted=False).n_trials == 5
    assert row(result).n_trials == 8
    assert row(result).alpha == pytest.approx(0.05 / 11)
    assert row(result).in_paired_sds == pytest.approx(2)
    assert (result.signal, row(result).n_runs, result.designs) == (None, None, ())
    assert result.adjusted_for.method == "bonferroni"
    with_runs = sized(steps=(0.2,), sd=0.1, n_positions=11, n_scenarios=36)
    assert row(with_runs).n_runs == 8 * 36


def test_founding_pilot() -> None:
    """Five trials whose changes spread by .09 and .11 at turns 8 and 4 are sized by just that."""
    z = np.random.default_rng(0).normal(size=5)
    z = (z - z.mean()) / z.std(ddof=1)
    scores = np.full((5, 1, 12), 3.6)
    scores[:, 0, 3] += 0.11 * z
    scores[:, 0, 7:] += (-0.66 + 0.09 * z)[:, None]
    table = suite_table(scores)
    drop = sized(table, steps=(0.66,), turn=8)
    assert drop.components.paired_sd == pytest.approx(0.09)
    assert drop.components.paired_sd_low == pytest.approx(0.09 * 0.599, rel=1e-3)
    assert drop.components.paired_sd_high == pytest.approx(0.09 * 2.874, rel=1e-3)
    assert row(drop, adjusted=False).n_trials == 3
    dip = sized(table, steps=(0.09,), turn=4)
    assert dip.components.paired_sd == pytest.approx(0.11)
    assert row(dip, adjusted=False).n_trials == 14
    # Trials for a step of .09 by a t with an SD of .11, from the noncentral t itself.
    powers = [
        stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, 0.09 / 0.11 * math.sqrt(n)) for n in (13, 14)
    ]
    assert powers[0] < 0.8 <= powers[1]


Verdict: TypeAlias = Callable[[Step, int], bool]


def share_found(
    verdict: Verdict, n_trials: int, n_scenarios: int, recipe: Recipe, draws: int = 400
) -> float:
    """Share of suites whose step at turn 8 passes a verdict on `Step` and positions."""
    found = 0
    for seed in range(draws):
        rng = np.random.default_rng([seed, n_trials])
        steps = steps_of(made(seed, n_trials, n_scenarios, recipe), rng=rng, n_flips=199)
        step = next(step for step in steps.steps if step.turn == 8)
        found += bool(verdict(step, steps.n_positions))
    return found / draws


def alone(step: Step, _: int) -> bool:
    return step.p is not None and step.p <= 0.05


def at_every_turn(step: Step, n_positions: int) -> bool:
    return step.p is not None and step.p <= 0.05 / n_positions


def for_others(step: Step, _: int) -> bool:
    low, high = step.population_low, step.population_high
    return low is not None and high is not None and not low <= 0 <= high


def adjusted_p(step: Step, _: int) -> bool:
    return step.p_adjusted is not None and step.p_adjusted <= 0.05


def truth_of(spreads: Spreads) -> Components:
    """What a pilot without end would say of a suite of 24 scenarios."""
    trial, rest = 2 * spreads.trial_turn**2, 2 * spreads.turn**2
    return Components(
        scenario=spreads.scenario_step**2,
        trial=trial,
        rest=rest,
        of_trials=trial + rest / 24,
        of_scenarios=None,
        df_trials=1e9,
        df_population=1e9,
        n_trials=10,
        n_scenarios=24,
        n_positions=1,
        n_pairs=240,
        n_incomplete=0,
    )


@pytest.mark.parametrize(
    ("estimand", "verdict", "n_scenarios", "spreads"),
    [
        ("suite", alone, 24, SPREADS),
        ("suite", at_every_turn, 24, SPREADS),
        ("population", for_others, 24, DISAGREE),
        ("cliff", adjusted_p, 24, DISAGREE),
        ("cliff", adjusted_p, 8, SPREADS),
    ],
)
def test_the_visible_step_is_seen_by_the_analysis_itself(
    estimand: str, verdict: Verdict, n_scenarios: int, spreads: Spreads
) -> None:
    """`cliff`'s own numbers find it in 80 % of suites, be it by p, by interval or by adjusted p."""
    (claim,) = (c for c in claims_of(truth_of(spreads), n_scenarios) if c.estimand == estimand)
    every_turn = verdict in (at_every_turn, adjusted_p)
    rule = Rule(n_positions=11 if every_turn else 1)
    step = visible(Question(claim.estimand, rule, 0.8, claim.seen), claim.error, 6).step
    assert step is not None
    found = share_found(verdict, 6, n_scenarios, Recipe(step=-step, spreads=spreads))
    # Four Monte-Carlo errors, and .02 for Bonferroni's value in place of the largest |t|.
    allowed = 4 * math.sqrt(0.16 / 400) + (0.02 if estimand == "cliff" else 0)
    assert found == pytest.approx(0.8, abs=allowed)


def test_true_errors_of_the_claims_agree() -> None:
    """With 24 scenarios `cliff`'s true error is that for others; with 8, that for the same."""
    for n_scenarios, other in ((24, "population"), (8, "suite")):
        claims = {c.estimand: c.error for c in claims_of(truth_of(DISAGREE), n_scenarios)}
        cliff, beside = claims["cliff"], claims[other]
        assert not isinstance(cliff, str)
        assert not isinstance(beside, str)
        assert cliff(6)[0] == pytest.approx(beside(6)[0])


def test_the_spreads_of_a_recipe_come_back() -> None:
    """A large pilot has the variances that its recipe says, and a half of them for half the S."""
    result = sized(pilot(n_trials=60, n_scenarios=100, seed=2), steps=(0.2,))
    spread = result.components
    assert spread.trial_sd == pytest.approx(math.sqrt(2) * 0.05, rel=0.1)
    assert spread.rest_sd == pytest.approx(math.sqrt(2) * 0.35, rel=0.02)
    assert spread.scenario_sd == pytest.approx(0, abs=0.02)
    assert spread.paired_sd == pytest.approx(math.sqrt(0.005 + 0.245 / 100), rel=0.06)
    assert (spread.n_positions, spread.share_present) == (11, 1)


def test_the_range_holds_the_trials_of_the_true_spread() -> None:
    """Over 100 pilots of 5 trials, the range by SD holds the trials truly needed in 95 %."""
    true = row(sized(steps=(0.3,), sd=math.sqrt(0.005 + 0.245 / 24)), adjusted=False).n_trials
    assert true is not None
    held = 0
    for seed in range(100):
        found = row(sized(pilot(seed=seed, n_turns=9), steps=(0.3,), turn=5), adjusted=False)
        low, high = found.n_trials_low, found.n_trials_high
        held += low is not None and low <= true and (high is None or true <= high)
    assert held / 100 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 100)


def test_more_trials_or_more_scenarios() -> None:
    """Where scenarios disagree on a step, trials alone are never enough, and scenarios are."""
    spreads = Spreads(turn=0.3, scenario_step=0.6)
    table = pilot(Recipe(step=-0.66, spreads=spreads), n_scenarios=40, seed=3)
    result = sized(table, steps=(0.25,), turn=8)
    assert row(result, "population").n_trials is None
    assert row(result, "population").why == "no number of trials is enough"
    assert row(result, "suite").n_trials is not None
    others = {d.n_scenarios: d for d in result.designs if d.estimand == "population"}
    assert list(others) == [20, 40, 80, 160]
    assert others[40].n_trials is None
    assert others[160].n_trials is not None
    assert others[160].n_runs == 160 * others[160].n_trials


def test_where_trials_share_a_spread_more_scenarios_do_not_help() -> None:
    """What all runs of a trial share is outlived by trials alone."""
    spreads = Spreads(turn=0.2, trial_turn=0.3)
    result = sized(pilot(Recipe(spreads=spreads), seed=4), steps=(0.5,))
    same = [d.n_trials for d in result.designs if d.estimand == "suite"]
    assert None not in same
    assert max(same) - min(same) <= 2  # type: ignore[type-var,operator]


def test_runs_and_their_price() -> None:
    """Runs are trials times scenarios, at the pilot's mean cost and time."""
    table = pilot()
    result = sized(table, steps=(0.3,))
    found = row(result)
    assert found.n_trials is not None
    assert found.n_runs == 24 * found.n_trials
    mean_cost = table.columns["cost_usd"].sum() / 120
    assert found.cost_usd == pytest.approx(mean_cost * found.n_runs)
    mean_seconds = run_seconds(table).mean()
    assert mean_seconds == pytest.approx(table.columns["seconds"].sum() / 120)
    assert found.hours == pytest.approx(mean_seconds * found.n_runs / 3_600)
    assert (result.price.n_runs_with_cost, result.price.n_runs_with_time) == (120, 120)


def test_one_trial_sizes_scenarios() -> None:
    """A pilot of one trial says how many scenarios one trial needs, and no more than that."""
    table = pilot(n_trials=1, n_scenarios=30, seed=6)
    result = sized(table, steps=(0.3,), turn=5, n_positions=1)
    assert row(result).n_trials is None
    assert row(result).why == "one trial: what running the suite again varies by is not estimable"
    (design,) = result.designs
    assert (design.estimand, design.n_trials) == ("population", 1)
    values = suite_of(table, "quality").values[0]
    sd = np.std(values[:, 4] - values[:, 3], ddof=1)
    assert result.components.one_trial_sd == pytest.approx(sd)
    assert design.n_scenarios == row(sized(steps=(0.3,), sd=sd)).n_trials
    assert design.n_runs == design.n_scenarios
    assert design.n_runs_low is not None
    assert design.n_runs_high is not None
    assert design.n_runs_low < design.n_runs < design.n_runs_high  # type: ignore[operator]
    assert result.top_up is None


def test_one_scenario_sizes_trials() -> None:
    """A pilot of one scenario says how many trials of it, and nothing of others."""
    result = sized(pilot(n_scenarios=1, seed=7), steps=(1.0,))
    assert row(result).n_trials is not None
    assert row(result).n_runs == row(result).n_trials
    for estimand in ("population", "cliff"):
        assert "one trial or one scenario" in str(row(result, estimand).why)
    assert "rest_sd" in result.components.not_estimable


def test_turns_that_few_runs_reach_are_neither_paid_for_nor_pooled() -> None:
    """One run in ten goes on to turn 40: turns are counted as `cliff` counts them."""
    rng = np.random.default_rng(8)
    scores = 2 + rng.normal(0, 0.3, (5, 20, 40))
    scores[:, 2:, 12:] = np.nan
    result = sized(suite_table(scores), steps=(0.3,))
    suite = suite_of(suite_table(scores), "quality")
    assert result.adjusted_for.n_positions == 11
    assert steps_of(suite, rng=rng, n_flips=199).n_positions == 11
    assert result.components.n_positions == 11
    assert result.components.paired_sd == pytest.approx(0.3 * math.sqrt(2 / 20), rel=0.2)


def test_runs_that_end_early_are_counted() -> None:
    """The share of runs that have the change, and those that lack it in another trial."""
    rng = np.random.default_rng(9)
    scores = 2 + rng.normal(0, 0.3, (4, 10, 6))
    scores[0, :5, 3:] = np.nan
    result = sized(suite_table(scores), steps=(0.3,), turn=5)
    assert result.components.share_present == pytest.approx(35 / 40)
    assert result.components.n_incomplete == 15


def test_the_top_up_rule() -> None:
    """It is tuned for the trials that one look needs, costs more, and passes no few trials."""
    result = sized(steps=(0.2,), sd=0.1, n_positions=11, trials=(3,))
    rule = result.top_up
    assert rule is not None
    assert rule.n_best == row(result).n_trials == 8
    assert rule.n_trials is not None
    assert rule.n_trials > rule.n_best
    assert rule.alpha == pytest.approx(0.05 / 11)
    assert list(rule.critical) == [3, 8]
    assert math.isinf(rule.critical[3])
    assert rule.critical[8] > stats.t.ppf(1 - rule.alpha / 2, 7)


def test_a_stated_critical_value() -> None:
    """The |t| of `cliff`'s flips stands in place of Bonferroni's."""
    result = sized(steps=(0.2,), sd=0.1, n_positions=11, critical=3.0)
    assert result.adjusted_for.method == "max_t"
    assert row(result).critical == 3.0
    assert row(result).n_trials != row(sized(steps=(0.2,), sd=0.1, n_positions=11)).n_trials


def test_a_stated_sd_beside_a_pilot() -> None:
    """It replaces the trials' spread alone; others are the pilot's."""
    result = sized(pilot(), steps=(0.3,), sd=0.2)
    assert result.components.source == "as given"
    assert row(result).n_trials_low is None
    assert row(result, "population").n_trials is not None
    assert result.designs == ()


def test_default_steps_are_shares_of_the_scale() -> None:
    """5, 10 and 20 % of it; without a scale a step has to be named."""
    assert sized(pilot()).steps == (0.5, 1.0, 2.0)
    with pytest.raises(NotEnoughDataError, match="a step to size for"):
        sized(suite_table(2 + np.random.default_rng(1).normal(0, 1, (3, 4, 5)), scale=None))


def test_trials_that_agree_exactly() -> None:
    """Without any spread nothing is sized, and it says so."""
    scores = np.tile(np.linspace(3, 1, 6), (3, 4, 1))
    result = sized(suite_table(scores), steps=(0.3,))
    assert {found.why for found in result.needed} == {
        "the pilot's changes agree exactly: there is no spread to size by"
    }
    assert {found.step for found in result.visible} == {None}


def test_a_step_of_nothing() -> None:
    """It is never seen."""
    found = row(sized(steps=(0.0,), sd=0.1))
    assert found.n_trials is None
    assert "never seen" in str(found.why)


def test_what_cannot_be_sized_is_an_error() -> None:
    """No pilot and no SD; a turn that no run has; an unknown signal."""
    with pytest.raises(NotEnoughDataError, match="a pilot or a standard deviation"):
        sized(steps=(0.1,))
    with pytest.raises(NotEnoughDataError, match="a value at turn 60 and the one before"):
        sized(pilot(), steps=(0.1,), turn=60)
    with pytest.raises(UnknownNameError, match="nonsense"):
        sized(pilot(), signal="nonsense")
    with pytest.raises(NotEnoughDataError, match="two turns in a row"):
        sized(pilot(n_turns=1), steps=(0.1,))


def test_seconds_of_a_run() -> None:
    """By the clock where turns have a start, else the sum of the calls, else unknown."""
    table = pilot(n_trials=1, n_scenarios=2)
    table.columns["started_at"][table.run == 1] = np.nan
    table.columns["seconds"][table.run == 1] = 2.0
    assert run_seconds(table)[1] == pytest.approx(24)
    table.columns["seconds"][(table.run == 1) & (table.turn == 3)] = np.nan
    assert np.isnan(run_seconds(table)[1])
