"""Is the drop real, where is it, and what is it tied to?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from turncurve.analysis.alignment import EventStep, event_kinds, event_step
from turncurve.analysis.composition import Composition, composition
from turncurve.analysis.quality import pick_quality, scale_of
from turncurve.analysis.screening import CurveScreening, screening
from turncurve.analysis.settings import Settings
from turncurve.analysis.shape_turns import in_turns
from turncurve.analysis.steps import BAR, Steps, by_unit, steps_of
from turncurve.analysis.suite import Suite, suite_of
from turncurve.analysis.token_axis import TokenAxis, token_axis
from turncurve.errors import NotEnoughDataError, UnknownNameError
from turncurve.stats.shape import Shape, shape_of
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class CliffSettings:
    """What counts as a drop, and how it is looked for.

    Attributes:
        signal: Column to look at; None for the one that stands for quality.
        quality_scale: Lowest and highest score, where the files do not say.
        bucket: Turns whose mean is one value.
        bar: Paired standard deviations that a finding must pass.
        size: A change that a finding must pass in place of the bar, and that must be visible for
            "flat" to be said; in the signal's unit.
        event: Kind of event to align on; None for the most frequent one.
        level: Confidence level; 1 - `level` is that of every test.
        seed: Seed of every random procedure.
        n_flips: Flips of signs where there are too many units to try all.
    """

    signal: str | None = None
    quality_scale: tuple[float, float] | None = None
    bucket: int = 1
    bar: float = BAR
    size: float | None = None
    event: str | None = None
    level: float = 0.95
    seed: int = Settings().seed
    n_flips: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cliff:
    """What the steps of a suite are, and what could have made them up.

    Attributes:
        signal: Column that was looked at.
        why_signal: Why that one.
        better: Its good direction.
        n_runs: Runs.
        n_trials: Most trials of a scenario.
        n_scenarios: Scenarios.
        n_turns: Longest run.
        excluded: Reason to number of runs left out.
        steps: Every step.
        shape: The shape of the curve, from the units of the steps; None with `no_shape`.
        no_shape: Why there is no shape.
        composition: Four readings of the curve.
        event: The step at an event; None with `no_event`.
        no_event: Why there is none.
        tokens: Whether turns can be told from tokens.
        screening: Where a segmentation would cut the mean curve, for a look and no more; None where
            there are too few turns.
        settings: What was asked for.
    """

    signal: str
    why_signal: str
    better: str | None
    n_runs: int
    n_trials: int
    n_scenarios: int
    n_turns: int
    excluded: Mapping[str, int]
    steps: Steps
    shape: Shape | None
    no_shape: str | None
    composition: Composition
    event: EventStep | None
    no_event: str | None
    tokens: TokenAxis
    screening: CurveScreening | None
    settings: CliffSettings


_DEFAULTS = CliffSettings()


def cliff(table: TurnTable, settings: CliffSettings = _DEFAULTS) -> Cliff:
    """Judge every step of a signal, its shape, and the two ways in which its curve may lie.

    Args:
        table: Runs of one condition.
        settings: What counts as a drop.

    Raises:
        NotEnoughDataError: No run has a turn, or nothing can stand for quality.
        UnknownNameError: There is no such signal.
        UnknownEventError: No run has such an event.
        InvariantError: The event cannot be aligned on.
    """
    quality = pick_quality(table, Settings(quality_scale=settings.quality_scale))
    signal = settings.signal or quality.name
    if signal is None:
        what = "cliff: turns with a score, a grade or a tool result"
        raise NotEnoughDataError(what, need=1, got=0)
    if signal not in table.columns:
        raise UnknownNameError("signal", signal, sorted(table.columns))
    suite = suite_of(table, signal, bucket=settings.bucket)
    alpha = 1 - settings.level
    rng = np.random.default_rng(settings.seed)
    shape, no_shape = _shape(suite, settings, rng)
    event, no_event = _event(suite, table, settings, rng)
    n_trials, n_scenarios, _ = suite.values.shape
    composed = composition(suite, table, floor=_worst(table, signal, settings))
    return Cliff(
        signal=signal,
        why_signal=quality.why if signal == quality.name else "the signal that was asked for",
        better=suite.better,
        n_runs=suite.n_runs,
        n_trials=n_trials,
        n_scenarios=n_scenarios,
        n_turns=int(suite.n_turns.max()),
        excluded=suite.excluded,
        steps=steps_of(
            suite,
            rng=rng,
            alpha=alpha,
            bar=settings.bar,
            size=settings.size,
            n_flips=settings.n_flips,
        ),
        shape=shape,
        no_shape=no_shape,
        composition=composed,
        event=event,
        no_event=no_event,
        tokens=token_axis(table),
        screening=screening(composed.curve),
        settings=settings,
    )


def _shape(
    suite: Suite, settings: CliffSettings, rng: np.random.Generator
) -> tuple[Shape | None, str | None]:
    try:
        shape = shape_of(
            by_unit(suite, suite.values),
            rng=rng,
            alpha=1 - settings.level,
            n_flips=settings.n_flips,
            wanted_step=settings.size,
        )
    except NotEnoughDataError as problem:
        return None, str(problem).removeprefix("shape_of: ")
    return in_turns(shape, settings.bucket), None


def _event(
    suite: Suite, table: TurnTable, settings: CliffSettings, rng: np.random.Generator
) -> tuple[EventStep | None, str | None]:
    event = settings.event
    if event is None:
        kinds = event_kinds(table)
        if not kinds:
            return None, "no run has an event that turns could be counted from"
        if settings.bucket != 1:
            return None, "buckets of several turns cannot be lined up on an event"
        event = kinds[0]
    return event_step(suite, table, event, rng=rng, level=settings.level), None


def _worst(table: TurnTable, signal: str, settings: CliffSettings) -> float | None:
    """The bad end of the signal's scale; None where it is not known."""
    low, high = scale_of(table, signal, Settings(quality_scale=settings.quality_scale))
    info = table.info.get(signal)
    if info is None or info.better is None:
        return None
    return low if info.better == "high" else high
