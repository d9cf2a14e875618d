"""A turn table of made-up runs whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.errors import UnknownNameError
from turncurve.model import ExitType
from turncurve.signals import SIGNALS
from turncurve.stats.simulate import RECIPES, Recipe, Simulated, Truth, simulate, truth_of
from turncurve.table import CallTable, EventTable, RunTable, TurnTable
from turncurve.table.columns import objects

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_START = 1_767_225_600.0
"""When the first trial starts: 2026-01-01, UTC, in seconds since 1970."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpSuite:
    """Runs as an analysis gets them, and what is true of them.

    Attributes:
        table: The turns that the runs had before they ended.
        truth: What the runs are like on average, had none ended early.
        recipe: What they were drawn from.
        complete: Quality of every turn, those after a run's end included; shape (n_trials,
            n_scenarios, n_turns).
        n_off_scale: Values of it that were moved to an end of the scale.
    """

    table: TurnTable
    truth: Truth
    recipe: Recipe
    complete: FloatArray
    n_off_scale: int

    def records(self) -> Iterator[dict[str, Any]]:
        """One record a turn, as the format `turns` has them: to be written and read as a file is.

        The scale has no place in them, and a crash no name.
        """
        runs, columns = self.table.runs, self.table.columns
        for row, (run, turn) in enumerate(
            zip(self.table.run.tolist(), self.table.turn.tolist(), strict=True)
        ):
            success = float(runs.success[run])
            record = {
                "run": runs.id[run],
                "condition": runs.condition[run],
                "scenario": runs.scenario[run],
                "trial": int(runs.trial[run]),
                "success": None if math.isnan(success) else success == 1,
                "turn": turn,
                "compaction": bool(columns["compaction"][row]),
            }
            yield record | {name: float(columns[name][row]) for name in _WRITTEN}


_WRITTEN = ("quality", "cost_usd", "started_at", "seconds", "context_tokens", "output_tokens")
"""Numbers that a record holds."""


def made_up_suite(
    recipe: str | Recipe = "cliff",
    *,
    n_trials: int = 5,
    n_scenarios: int = 36,
    n_turns: int = 12,
    seed: int = 0,
    condition: str | None = None,
) -> MadeUpSuite:
    """Make up a suite of runs: every scenario in every trial, with a known truth.

    Besides quality each turn has context and output tokens, a cost, a duration and a start; each
    run an exit type and, unless it crashed, an outcome. Events are compactions, after which the
    context is short again.

    Args:
        recipe: A recipe, or the name of one: flat, slope, knee, cliff, cliff_on_slope, event_cliff,
            composition, crash, difficulty_mix, lone_bad_turn.
        n_trials: Trials of the suite.
        n_scenarios: Scenarios; they have the same names in every suite of that size.
        n_turns: Turns of the longest run.
        seed: The same seed gives the same table.
        condition: Condition of the runs.

    Raises:
        UnknownNameError: No recipe has this name.
        ValueError: A number is below 1.
    """
    if isinstance(recipe, str):
        if recipe not in RECIPES:
            raise UnknownNameError("recipe", recipe, RECIPES)
        recipe = RECIPES[recipe]
    quality_rng, usage_rng = np.random.default_rng(seed).spawn(2)
    runs = simulate(
        recipe, n_trials=n_trials, n_scenarios=n_scenarios, n_turns=n_turns, rng=quality_rng
    )
    return MadeUpSuite(
        table=_table(runs, recipe, condition, usage_rng),
        truth=truth_of(recipe, n_scenarios=n_scenarios, n_turns=n_turns),
        recipe=recipe,
        complete=runs.quality,
        n_off_scale=runs.n_off_scale,
    )


def _table(
    runs: Simulated, recipe: Recipe, condition: str | None, rng: np.random.Generator
) -> TurnTable:
    lengths = runs.n_turns.ravel()
    position = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    turn = np.concatenate([np.arange(1, n + 1, dtype=np.int64) for n in lengths])
    event_turn = runs.event_turn.ravel()
    happened = (event_turn > 0) & (event_turn <= lengths)
    quality = runs.quality.reshape(len(lengths), -1)[position, turn - 1]
    trial = np.repeat(np.arange(runs.n_turns.shape[0]), runs.n_turns.shape[1])
    columns = {
        "quality": quality,
        "compaction": ((turn == event_turn[position]) & happened[position]).astype(np.float64),
        **_usage(turn, np.where(happened, event_turn, 0)[position], rng),
    }
    columns["started_at"] = _starts(position, columns["seconds"], lengths) + _DAY * trial[position]
    return TurnTable(
        runs=_runs(runs, recipe, condition),
        run=position,
        turn=turn,
        columns=columns,
        calls=_no_calls(),
        events=EventTable(
            run=np.flatnonzero(happened).astype(np.int64),
            turn=event_turn[happened],
            kind=objects(["compaction"] * int(happened.sum())),
        ),
        info={name: SIGNALS[name].info for name in columns},
    )


def _usage(turn: IntArray, event_turn: IntArray, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Tokens, cost and time of each turn: the context grows until a compaction starts it anew."""
    since = np.where((event_turn > 0) & (turn >= event_turn), turn - event_turn, turn - 1)
    context = np.rint(3_000 + 1_200 * since * rng.uniform(0.8, 1.2, len(turn)))
    output = np.rint(rng.lognormal(np.log(300), 0.4, len(turn)))
    return {
        "context_tokens": context,
        "output_tokens": output,
        "cost_usd": 3e-6 * context + 15e-6 * output,
        "cost_estimated": np.zeros(len(turn)),
        "seconds": 1 + 0.02 * output + 2e-5 * context,
    }


def _starts(position: IntArray, seconds: FloatArray, lengths: IntArray) -> FloatArray:
    """Each turn starts when the one before has ended."""
    ends = np.cumsum(seconds)
    first = (ends - seconds)[np.cumsum(lengths) - lengths]
    return np.asarray(_START + ends - seconds - first[position], dtype=np.float64)


def _runs(runs: Simulated, recipe: Recipe, condition: str | None) -> RunTable:
    n_trials, n_scenarios = runs.n_turns.shape
    kinds = np.where(runs.hard, "hard", "easy") if runs.hard.any() else ["scenario"] * n_scenarios
    names = [f"{kind}-{i:03d}" for i, kind in enumerate(kinds, start=1)]
    n = n_trials * n_scenarios
    unknown, nothing = np.full(n, np.nan), objects([None] * n)
    crashed, cut = runs.crashed.ravel(), runs.cut.ravel()
    success = np.where(crashed, np.nan, (runs.succeeded.ravel() & ~cut).astype(np.float64))
    finished = [ExitType.finished(succeeded == 1).value for succeeded in success]
    exits = np.where(crashed, ExitType.CRASH.value, np.where(cut, ExitType.BUDGET.value, finished))
    where = f"{condition}/" if condition else ""
    return RunTable(
        id=objects([f"{where}{name}/{t}" for t in range(1, n_trials + 1) for name in names]),
        scenario=objects(names * n_trials),
        trial=np.repeat(np.arange(1, n_trials + 1, dtype=np.int64), n_scenarios),
        condition=objects([condition] * n),
        agent=objects(["main"] * n),
        parent=nothing,
        model=objects(["made-up"] * n),
        format=objects(["made_up"] * n),
        path=objects(["made-up"] * n),
        record=nothing,
        exit_type=objects(exits.tolist()),
        exit_text=nothing,
        success=success,
        score=unknown,
        n_turns=runs.n_turns.ravel(),
        total_input_tokens=unknown,
        total_cached_input_tokens=unknown,
        total_output_tokens=unknown,
        total_cost_usd=unknown,
        quality_low=np.full(n, recipe.scale[0]),
        quality_high=np.full(n, recipe.scale[1]),
        grader_tokens=unknown,
        absent=objects([{}] * n),
        notes=objects([()] * n),
    )


def _no_calls() -> CallTable:
    return CallTable(
        row=np.zeros(0, dtype=np.int64),
        key=np.zeros(0, dtype=np.uint64),
        result_key=np.zeros(0, dtype=np.uint64),
        failed=np.zeros(0, dtype=np.int8),
        transient=np.zeros(0, dtype=np.bool_),
    )
