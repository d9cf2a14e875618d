"""The statistical battery: what graded steps say of degradation, and what that survives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from turncurve.analysis.battery_dependence import (
    Dependence,
    SerialDependence,
    dependence,
    serial_dependence,
)
from turncurve.analysis.battery_missing import MissingGradesTest, missing_grades
from turncurve.analysis.battery_rates import Rate, RunRates, rates, run_rates
from turncurve.analysis.battery_signatures import Signatures, signatures
from turncurve.analysis.battery_stretches import StretchLengths, stretch_lengths
from turncurve.analysis.battery_verdict import BatteryVerdict, verdict_of
from turncurve.analysis.first_error import FirstError, time_to_first_error
from turncurve.analysis.graded_steps import MissingGrades, Unit, graded_steps
from turncurve.analysis.settings import Settings
from turncurve.analysis.slope import Slope, SlopeSettings
from turncurve.analysis.slope_groups import (
    By,
    Groups,
    LengthSlopes,
    OutcomeSlopes,
    group_slopes,
    length_slopes,
    outcome_slopes,
)
from turncurve.analysis.slope_phase import PhaseSlopes, phase_slopes
from turncurve.analysis.slopes import slopes, slopes_on_axes
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class BatterySettings:
    """How the battery is run.

    Attributes:
        missing: What a grade that was tried and is missing counts as: nothing ("excluded"), or, to
            reproduce older tools, "neutral".
        by: What a configuration is: condition, model or file; None takes conditions, or else
            models, if there are several.
        min_turns: Graded turns that a run needs for a slope of its own.
        margin: Change of a share over the middle 90 % of positions that does not matter.
        level: Confidence level of every interval.
        seed: Seed of the shuffles.
        resamples: Number of shuffles.
    """

    missing: MissingGrades = "excluded"
    by: By | None = None
    min_turns: int = 3
    margin: float = 0.1
    level: float = 0.95
    seed: int = Settings().seed
    resamples: int = 999


@dataclass(frozen=True, slots=True, kw_only=True)
class Battery:
    """What graded steps say.

    Attributes:
        verdict: Whether the failing share changes along runs, and survives its controls.
        n_runs: Runs with a graded turn.
        n_turns: Graded turns.
        n_clusters: Independent units: tasks or runs, as `unit` says.
        unit: What the units are.
        excluded: Reason to number of turns, or runs, left out.
        rates: Shares of failing, neutral, passing and looping turns.
        slopes: The failing share by turn, one a model.
        axes: The default slope by tokens and by progress.
        phase: Within phases, standardised, and what phases explain.
        length: Within runs, and between runs of different length.
        outcome: By how runs ended; no control.
        groups: By configuration.
        signatures: More errors, more flailing, more loops: told apart.
        stretches: Cascades, failing stretches, loops.
        dependence: Failing stretches against shuffles.
        serial: Ljung-Box, run by run.
        first_error: When runs first fail.
        missing: Where grades are missing, and what that could do.
        runs: Every run.
        warnings: What to know before reading any of it.
        settings: How the battery was run.
    """

    verdict: BatteryVerdict
    n_runs: int
    n_turns: int
    n_clusters: int
    unit: Unit
    excluded: Mapping[str, int]
    rates: tuple[Rate, ...]
    slopes: tuple[Slope, ...]
    axes: tuple[Slope, ...]
    phase: PhaseSlopes
    length: LengthSlopes
    outcome: OutcomeSlopes
    groups: Groups
    signatures: Signatures
    stretches: tuple[StretchLengths, ...]
    dependence: tuple[Dependence, ...]
    serial: tuple[SerialDependence, ...]
    first_error: FirstError
    missing: MissingGradesTest
    runs: tuple[RunRates, ...]
    warnings: tuple[str, ...]
    settings: BatterySettings


_DEFAULTS = BatterySettings()


def battery(table: TurnTable, settings: BatterySettings = _DEFAULTS) -> Battery:
    """Run the battery on the graded turns of a table.

    Args:
        table: Runs of any number of conditions; those of sub-agents are left out.
        settings: Level, seed, what a missing grade is.

    Raises:
        NotEnoughDataError: No turn is graded.
    """
    steps, level = graded_steps(table, missing=settings.missing), settings.level
    how = SlopeSettings(level=level, min_turns=settings.min_turns)
    reading = replace(Settings(), level=level, seed=settings.seed)
    found = slopes(steps, how)
    three = signatures(steps, margin=settings.margin, level=level)
    return Battery(
        verdict=verdict_of(found, span=three.span, margin=settings.margin),
        n_runs=steps.n_runs,
        n_turns=steps.n_steps,
        n_clusters=steps.n_clusters,
        unit=steps.unit,
        excluded=steps.excluded,
        rates=rates(steps, level=level),
        slopes=found,
        axes=slopes_on_axes(steps, how),
        phase=phase_slopes(steps, how),
        length=length_slopes(steps, how),
        outcome=outcome_slopes(steps, how),
        groups=group_slopes(steps, how, settings.by),
        signatures=three,
        stretches=stretch_lengths(steps, level=level),
        dependence=dependence(steps, level=level, seed=settings.seed, resamples=settings.resamples),
        serial=serial_dependence(steps, level=level),
        first_error=time_to_first_error(steps.table, "failing_grade", settings=reading),
        missing=missing_grades(steps, level=level),
        runs=run_rates(steps, level=level),
        warnings=steps.warnings,
        settings=settings,
    )
