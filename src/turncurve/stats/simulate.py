"""Suites of runs whose truth is known: for tests of methods, for examples and for sizing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

NO_EVENT = 0
"""In `Simulated.event_turn`: a run to which nothing happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreads:
    """What makes runs differ: standard deviations in points of quality, each drawn normal.

    In the change from one turn to the next `scenario`, `trial` and `run` cancel. Of its two-way
    variance there remain `scenario_step`**2 between scenarios (at the changepoint alone), twice
    `trial_turn`**2 between trials, and `slope`**2 plus twice `turn`**2 times one less
    `autocorrelation` in the single run.
    """

    scenario: float = 0.8
    """Of the scenarios' levels."""
    trial: float = 0.05
    """Of the trials' levels, the same for all scenarios of a trial."""
    run: float = 0.2
    """Of the levels of single runs: a scenario in a trial."""
    turn: float = 0.35
    """Of a run's turns around its own line."""
    autocorrelation: float = 0.0
    """Of neighbouring turns around that line; from 0 to below 1."""
    slope: float = 0.0
    """Of the runs' slopes, in points a turn."""
    scenario_step: float = 0.0
    """Of the scenarios' steps around the mean step."""
    trial_turn: float = 0.0
    """Of what all runs of a trial have in common at a turn and at no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How quality runs over turns, who stops when, and what runs differ by.

    The expected quality of a run at turn t is `level` + `slope` (t - 1) + `bend` (t - `turn` + 1)
    from `turn` on + `step` from `turn` on + `dip` at `turn` alone. With `event_turns` the step
    comes not at `turn` but with an event, whose turn is drawn anew for each run.
    """

    level: float = 6.0
    slope: float = 0.0
    turn: int = 8
    """First turn of what `step`, `bend` and `dip` change; a kink lies one turn before."""
    step: float = 0.0
    bend: float = 0.0
    dip: float = 0.0
    event_turns: tuple[int, ...] = ()
    """First turns after the event that a run may have, or none."""
    event_chances: tuple[float, ...] = ()
    """Chance of each; what is missing to 1 is the chance of no event."""
    hard_share: float = 0.0
    """Share of the scenarios, the first ones, that are hard."""
    hard_lower: float = 0.0
    """By how much hard scenarios lie below the others."""
    easy_falls: float = 1.0
    """What part of slope, step, bend and dip scenarios that are not hard take."""
    ends: Literal["last", "easy_first", "crash"] = "last"
    """When runs end: all at the last turn; the sooner, the better their scenario fares, which needs
    no fall at all; or by a crash, the likelier, the lower the quality of the turn before."""
    end_pace: float = 3.0
    """Turns by which a run is shorter for a point of its scenario's level ("easy_first")."""
    crash_odds: float = 0.01
    """Odds of a crash after a turn of quality `level` ("crash")."""
    crash_gain: float = 1.5
    """By how much each point below it raises the logarithm of those odds."""
    success_at: float = 5.0
    """Quality of the last turn at which half of the runs succeed."""
    spreads: Spreads = field(default_factory=Spreads)
    scale: tuple[float, float] = (0.0, 10.0)
    """Lowest and highest quality; what is drawn outside is moved to its end."""

    def __post_init__(self) -> None:
        if len(self.event_turns) != len(self.event_chances) or sum(self.event_chances) > 1 + 1e-9:
            raise ValueError(
                "event_chances: wanted one for each of event_turns, with a sum of at most 1, got "
                f"{self.event_chances!r} for {self.event_turns!r}"
            )
        if not 0 <= self.spreads.autocorrelation < 1:
            raise ValueError(
                f"autocorrelation: wanted 0 to below 1, got {self.spreads.autocorrelation!r}"
            )


RECIPES: dict[str, Recipe] = {
    "flat": Recipe(),
    "slope": Recipe(slope=-0.06, spreads=Spreads(slope=0.03)),
    "knee": Recipe(bend=-0.25),
    "cliff": Recipe(step=-0.66),
    "cliff_on_slope": Recipe(step=-0.5, slope=-0.06, spreads=Spreads(slope=0.03)),
    "event_cliff": Recipe(
        step=-0.81,
        slope=-0.02,
        event_turns=(7, 8, 9, 10),
        event_chances=(0.135, 0.54, 0.135, 0.09),
    ),
    "composition": Recipe(ends="easy_first"),
    "crash": Recipe(
        ends="crash",
        slope=-0.12,
        spreads=Spreads(scenario=0.3, autocorrelation=0.5, slope=0.12),
    ),
    "difficulty_mix": Recipe(hard_share=0.4, hard_lower=1.5, easy_falls=0.0, step=-0.66),
    "lone_bad_turn": Recipe(dip=-0.66),
}
"""Recipes by name, with figures like those of real suites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a recipe's runs are like on average, had nobody stopped and were scores without end."""

    expected: FloatArray
    """Expected quality of each turn, over the scenarios' mix; shape (n_turns,)."""
    changepoint: int | None
    """First turn of the worse regime, the same in every run; None where there is none: a flat
    curve, a slope, a lone bad turn, a step that comes with an event."""
    step: float
    """Jump at the changepoint or at the event, without what the slope does; 0 where there is none.
    Over the scenarios' mix."""
    slope: float
    """Change a turn up to the changepoint, over the scenarios' mix."""
    slope_after: float
    """Change a turn from there on."""
    lone_turn: int | None
    """A turn that alone is bad."""
    event_reached: FloatArray
    """Share of runs whose event has come by each turn; shape (n_turns,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """Runs of a recipe; arrays of shape (n_trials, n_scenarios), and n_turns where there are."""

    quality: FloatArray
    """Of every turn, those after a run's end included."""
    n_turns: IntArray
    """Turns that each run has before it ends."""
    event_turn: IntArray
    """First turn after its event; `NO_EVENT` where it has none. It may lie after the run's end."""
    crashed: BoolArray
    cut: BoolArray
    """Stopped by the limit on turns before it was done."""
    succeeded: BoolArray
    """Whether it succeeded, or would have."""
    hard: BoolArray
    """Shape (n_scenarios,)."""
    n_off_scale: int
    """Values that were moved to an end of the scale; they make the truth less than exact."""


def truth_of(recipe: Recipe, *, n_scenarios: int, n_turns: int) -> Truth:
    """The expected curve of a recipe, and where it breaks.

    Args:
        recipe: The recipe.
        n_scenarios: Scenarios, of which a rounded share is hard.
        n_turns: Turns of the expected curve.
    """
    hard = _hard(recipe, n_scenarios)
    takes = float(np.where(hard, 1.0, recipe.easy_falls).mean())
    turn = np.arange(1, n_turns + 1)
    reached = np.zeros(n_turns)
    for first, chance in zip(recipe.event_turns, recipe.event_chances, strict=True):
        reached += chance * (turn >= first)
    jumped = reached if recipe.event_turns else (turn >= recipe.turn).astype(np.float64)
    breaks = recipe.turn <= n_turns and (recipe.step != 0 or recipe.bend != 0)
    together = not recipe.event_turns or recipe.bend != 0
    return Truth(
        expected=recipe.level
        - recipe.hard_lower * float(hard.mean())
        + takes * (_line(recipe, turn) + recipe.step * jumped),
        changepoint=recipe.turn if breaks and together else None,
        step=takes * recipe.step,
        slope=takes * recipe.slope,
        slope_after=takes * (recipe.slope + recipe.bend),
        lone_turn=recipe.turn if recipe.dip else None,
        event_reached=reached,
    )


def simulate(
    recipe: Recipe, *, n_trials: int, n_scenarios: int, n_turns: int, rng: np.random.Generator
) -> Simulated:
    """Draw the runs of a suite: every scenario in every trial.

    Args:
        recipe: What they are like.
        n_trials: Trials of the suite, at least 1.
        n_scenarios: Scenarios, at least 1.
        n_turns: Turns of the longest run, at least 1.
        rng: Source of randomness; the same state gives the same runs.

    Raises:
        ValueError: A number is below 1.
    """
    shape = (n_trials, n_scenarios, n_turns)
    if min(shape) < 1:
        raise ValueError(f"simulate: wanted at least 1 trial, scenario and turn, got {shape}")
    spreads = recipe.spreads
    hard = _hard(recipe, n_scenarios)
    takes = np.where(hard, 1.0, recipe.easy_falls)
    turn = np.arange(1, n_turns + 1)
    of_scenario = rng.normal(0, spreads.scenario, n_scenarios) - recipe.hard_lower * hard
    event_turn = _event_turns(recipe, rng.random(shape[:2]))
    jumped = (
        turn >= (event_turn if recipe.event_turns else np.full(shape[:2], recipe.turn))[..., None]
    )
    if recipe.event_turns:
        jumped &= (event_turn != NO_EVENT)[..., None]
    step = recipe.step * takes + rng.normal(0, spreads.scenario_step, n_scenarios)
    quality = (
        recipe.level
        + of_scenario[:, None]
        + takes[:, None] * _line(recipe, turn)
        + step[:, None] * jumped
        + rng.normal(0, spreads.trial, (n_trials, 1, 1))
        + rng.normal(0, spreads.run, (n_trials, n_scenarios, 1))
        + rng.normal(0, spreads.slope, (n_trials, n_scenarios, 1)) * (turn - 1)
        + rng.normal(0, spreads.trial_turn, (n_trials, 1, n_turns))
        + _turn_noise(spreads, shape, rng)
    )
    kept = np.clip(quality, *recipe.scale)
    lengths, crashed, cut = _lengths(recipe, kept, of_scenario, rng)
    last = np.take_along_axis(kept, lengths[..., None] - 1, axis=2)[..., 0]
    return Simulated(
        quality=kept,
        n_turns=lengths,
        event_turn=event_turn,
        crashed=crashed,
        cut=cut,
        succeeded=rng.random(shape[:2]) < expit(2 * (last - recipe.success_at)),
        hard=hard,
        n_off_scale=int((kept != quality).sum()),
    )


def _hard(recipe: Recipe, n_scenarios: int) -> BoolArray:
    return np.arange(n_scenarios) < round(recipe.hard_share * n_scenarios)


def _line(recipe: Recipe, turn: IntArray) -> FloatArray:
    """What slope, bend and dip make of each turn."""
    after = np.maximum(turn - recipe.turn + 1, 0)
    return np.asarray(
        recipe.slope * (turn - 1) + recipe.bend * after + recipe.dip * (turn == recipe.turn),
        dtype=np.float64,
    )


def _event_turns(recipe: Recipe, drawn: FloatArray) -> IntArray:
    if not recipe.event_turns:
        return np.full(drawn.shape, NO_EVENT, dtype=np.int64)
    which = np.searchsorted(np.cumsum(recipe.event_chances), drawn, side="right")
    return np.array([*recipe.event_turns, NO_EVENT], dtype=np.int64)[which]


def _turn_noise(
    spreads: Spreads, shape: tuple[int, int, int], rng: np.random.Generator
) -> FloatArray:
    """First-order autoregressive, with the same spread at every turn; shape as given."""
    noise = rng.normal(0, spreads.turn, shape)
    rho = spreads.autocorrelation
    for turn in range(1, shape[2]):
        noise[..., turn] = rho * noise[..., turn - 1] + np.sqrt(1 - rho**2) * noise[..., turn]
    return noise


def _lengths(
    recipe: Recipe, quality: FloatArray, of_scenario: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, BoolArray, BoolArray]:
    """Turns of each run, whether it crashed, and whether the limit on turns cut it."""
    n_trials, n_scenarios, n_turns = quality.shape
    whole = np.full((n_trials, n_scenarios), n_turns, dtype=np.int64)
    never = np.zeros(whole.shape, dtype=np.bool_)
    if recipe.ends == "easy_first":
        wanted = 0.75 * n_turns - recipe.end_pace * of_scenario + rng.normal(0, 1.2, whole.shape)
        least = min(4, n_turns)
        return np.clip(np.rint(wanted), least, n_turns).astype(np.int64), never, wanted > n_turns
    if recipe.ends == "last" or n_turns == 1:
        return whole, never, never
    odds = np.log(recipe.crash_odds) + recipe.crash_gain * (recipe.level - quality[..., :-1])
    crash = rng.random(odds.shape) < expit(odds)
    crashed = crash.any(axis=2)
    return np.where(crashed, crash.argmax(axis=2) + 1, whole), crashed, never
