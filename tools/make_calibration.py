"""Measure how often `cliff` errs on made-up suites, and write the table of docs.

Run with `make calibrate`; some minutes. Every figure is the outcome of the analysis itself on
suites whose truth is known; its Monte-Carlo error stands beside it.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.step_errors import claims_of
from turncurve.analysis.step_sizes import Question
from turncurve.analysis.steps import Step, steps_of
from turncurve.analysis.suite import Suite
from turncurve.stats.shape import Shape, shape_of
from turncurve.stats.simulate import Recipe, Spreads, simulate
from turncurve.stats.step_power import Rule, chances
from turncurve.stats.two_way import Components

PAGE = Path(__file__).resolve().parents[1] / "docs/methods/calibration.md"
SUITES = 400
SCENARIOS = 24
FLIPS = 499
TRIALS = (5, 10, 15)
TURNS = (12, 30, 60)
NOISE = 0.5
POWER_STEP = 0.3
CLIFFS = ("cliff", "cliff on a slope")


@dataclass(frozen=True, slots=True)
class Truth:
    """What a made-up suite holds."""

    slope: float = 0.0
    step: float = 0.0
    at: int = 1


def suite(rng: np.random.Generator, trials: int, turns: int, truth: Truth) -> Suite:
    """Scores on a scale of 0 to 4: levels and slopes of scenarios, runs of their own, noise."""
    turn = np.arange(1, turns + 1)
    level = rng.normal(3, 0.8, (1, SCENARIOS, 1))
    slope = truth.slope + rng.normal(0, 0.3 / turns, (1, SCENARIOS, 1))
    own = rng.normal(0, 0.2, (trials, SCENARIOS, 1))
    disagree = truth.step * rng.normal(1, 0.5, (1, SCENARIOS, 1)) if truth.step else 0.0
    noise = rng.normal(0, NOISE, (trials, SCENARIOS, turns))
    values = level + own + slope * turn + disagree * (turn >= truth.at) + noise
    return whole_suite(values)


def whole_suite(values: NDArray[np.float64]) -> Suite:
    """Scores by trial, scenario and turn as a suite."""
    trials, scenarios, turns = values.shape
    return Suite(
        signal="quality", better="high", bucket=1, values=values,
        run=np.arange(trials * scenarios).reshape(trials, scenarios),
        n_turns=np.full((trials, scenarios), turns),
        scenarios=tuple(map(str, range(scenarios))), excluded={},
    )  # fmt: skip


def shape(made: Suite, rng: np.random.Generator) -> Shape:
    """The shape of the scenarios' means over trials."""
    curves: NDArray[np.float64] = made.values.mean(axis=0)
    return shape_of(curves, rng=rng, n_flips=FLIPS)


def share(n: int, of: int) -> str:
    """A share with its Monte-Carlo error."""
    if not of:
        return "–"
    p = n / of
    return f"{p:.3f} ± {math.sqrt(p * (1 - p) / of):.3f}"


def quiet_row(trials: int, turns: int) -> list[str]:
    """False alarms where quality declines along a line and nothing else happens."""
    rng = np.random.default_rng([trials, turns])
    adjusted = findings = other = cliffs = 0
    for _ in range(SUITES):
        made = suite(rng, trials, turns, Truth(slope=-0.5 / turns))
        flat = suite(rng, trials, turns, Truth())
        steps = steps_of(flat, rng=rng, n_flips=FLIPS).steps
        adjusted += any(s.p_adjusted is not None and s.p_adjusted <= 0.05 for s in steps)
        findings += any(s.state == "finding" for s in steps)
        verdict = shape(made, rng).verdict
        other += verdict not in ("flat", "slope")
        cliffs += verdict in CLIFFS
    counts = (adjusted, findings, other, cliffs)
    return [str(trials), str(turns), *(share(n, SUITES) for n in counts)]


def drop_row(trials: int, turns: int, step: float) -> list[str]:
    """What is found of a true step at two thirds of the turns."""
    rng = np.random.default_rng([trials, turns, round(-100 * step)])
    at = 2 * turns // 3
    found = covered = cliffs = right = held = 0
    for _ in range(SUITES):
        made = suite(rng, trials, turns, Truth(step=step, at=at))
        judged = {s.turn: s for s in steps_of(made, rng=rng, n_flips=FLIPS).steps}[at]
        found += judged.state == "finding"
        low, high = judged.population_low, judged.population_high
        covered += low is not None and high is not None and low <= step <= high
        seen = shape(made, rng)
        if seen.verdict in CLIFFS:
            cliffs += 1
            right += seen.turn == at
            held += at in seen.turns_confidence_set
    return [
        str(trials), str(turns), f"{step:g}", share(found, SUITES), share(covered, SUITES),
        share(cliffs, SUITES), share(right, cliffs), share(held, cliffs),
    ]  # fmt: skip


def power_row(trials: int, turns: int) -> list[str]:
    """How often a step is seen, and how often its power says: by claim."""
    alike = Spreads(turn=0.35, trial_turn=0.1)
    apart = replace(alike, scenario_step=0.3)
    every = Rule(n_positions=turns - 1)
    columns = (
        ("suite", Rule(), alike, lambda s: s.p <= 0.05),
        ("suite", every, alike, lambda s: s.p <= every.alpha_each),
        ("population", Rule(), apart, lambda s: not s.population_low <= 0 <= s.population_high),
        ("cliff", every, apart, lambda s: s.p_adjusted <= 0.05),
    )
    cells = []
    for estimand, rule, spreads, seen in columns:
        every_claim = claims_of(components(spreads), SCENARIOS)
        claim = next(claim for claim in every_claim if claim.estimand == estimand)
        assert not isinstance(claim.error, str)
        std_error, df = claim.error(trials)
        asked = Question(claim.estimand, rule, 0.8, claim.seen)
        said = chances(POWER_STEP, std_error, df, asked.rule_at(trials, df)).power
        found = sum(
            seen(judged_step(trials, turns, Recipe(step=-POWER_STEP, spreads=spreads), seed))
            for seed in range(SUITES)
        )
        cells += [f"{said:.3f}", share(found, SUITES)]
    return [str(trials), str(turns), *cells]


def components(spreads: Spreads) -> Components:
    """The variances of changes at the step, as a pilot without end would give them."""
    trial, rest = 2 * spreads.trial_turn**2, 2 * spreads.turn**2
    return Components(
        scenario=spreads.scenario_step**2, trial=trial, rest=rest,
        of_trials=trial + rest / SCENARIOS, of_scenarios=None, df_trials=1e9, df_population=1e9,
        n_trials=10, n_scenarios=SCENARIOS, n_positions=1, n_pairs=10 * SCENARIOS, n_incomplete=0,
    )  # fmt: skip


def judged_step(trials: int, turns: int, recipe: Recipe, seed: int) -> Step:
    """The recipe's step in a suite of it."""
    rng = np.random.default_rng([seed, trials, turns])
    drawn = simulate(recipe, n_trials=trials, n_scenarios=SCENARIOS, n_turns=turns, rng=rng)
    steps = steps_of(whole_suite(drawn.quality), rng=rng, n_flips=FLIPS).steps
    return next(step for step in steps if step.turn == recipe.turn)


def table(header: list[str], rows: list[list[str]]) -> str:
    """Rows as Markdown."""
    lines = [header, ["--:"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Measure, and write the page."""
    start = time.perf_counter()
    quiet = [quiet_row(trials, turns) for trials in TRIALS for turns in TURNS]
    drops = [
        drop_row(trials, turns, step)
        for trials in (5, 10)
        for turns in (12, 30)
        for step in (-0.2, -0.6)
    ]
    powers = [power_row(trials, turns) for trials in (3, 5, 10) for turns in (12, 30)]
    power_header = ["trials", "turns"]
    for claim in ("same, one turn", "same, every turn", "others", "adjusted p"):
        power_header += [claim, "found"]
    quiet_header = ["trials", "turns", "adjusted p < .05", "finding", "shape not a line", "a cliff"]
    drop_header = [
        *("trials", "turns", "step", "finding", "95 % interval holds it"),
        *("a cliff", "right turn", "set holds the turn"),
    ]
    page = [
        "# Calibration of `cliff`\n",
        f"Measured by `make calibrate` on {SUITES} made-up suites a row: {SCENARIOS} scenarios on "
        f"a scale of 0 to 4, levels .8 apart, slopes of their own, noise of {NOISE:g} a turn, "
        "α = .05.",
        "± is the Monte-Carlo error of the figure.\n",
        "## Where nothing happens\n",
        "How often something is said of suites without a step: an adjusted p below .05 at some "
        "turn, a *finding*.",
        "And of suites that decline by .5 along a line: any shape but a line, a cliff.",
        "The nominal chance is .05 for each but *finding*, which asks for a large step too.\n",
        table(quiet_header, quiet) + "\n",
        "## Where quality drops\n",
        "A step at two thirds of the turns, on whose size scenarios disagree by half of it.",
        "*Finding* is judged at that turn.",
        "The interval is that for other scenarios.",
        "The turn is right, and in the confidence set, among the suites called a cliff.",
        "A small step is rarely a *finding* by the bar of 3 paired SDs; its cliff is found all the "
        "same, since that looks at all turns on both sides.\n",
        table(drop_header, drops) + "\n",
        "## Whether power is what it says\n",
        f"How often a step of {POWER_STEP:g} is seen, as [power](power.md) has it and as found: by "
        "a t over trials at one turn and at every turn, by the interval for other scenarios, and "
        "by the adjusted p.",
        "Noise of .35 a turn, .1 shared by all runs of a trial; for the last two claims scenarios "
        "disagree on the step by .3.\n",
        table(power_header, powers) + "\n",
    ]
    PAGE.write_text("\n".join(page), encoding="utf-8")
    print(f"wrote {PAGE.name} in {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
