"""Metrics over the runs that a scorer of turns has scored, every epoch by itself.

Inspect gives a metric one score a sample, epochs already reduced to one number; that would make
forty epochs of one sample look like one run. These metrics ask for the scores of all epochs.

Each gives its value, `..._low` and `..._high` (95 %), and `..._n`, the number of runs behind it. An
interval that can't be given is left out; a value that can't be is NaN. Where a rubric gives numbers
in place of verdicts, the metrics of verdicts give nothing; and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from inspect_ai.scorer import Metric, SampleScore, Value, metric

if TYPE_CHECKING:
    from turncurve.inspect_ext.scored_runs import ScoredRuns
    from turncurve.stats.estimate import Estimate

Of: TypeAlias = Literal["verdicts", "numbers", "any"]
Unit: TypeAlias = Literal["run", "sample"]
"""What the interval takes as independent: every run, or samples with all their epochs."""


@metric(scores="unreduced")
def error_rate(unit: Unit = "run") -> Metric:
    """Failing turns over turns with a verdict.

    Args:
        unit: "run" for what re-running these samples would give, "sample" for other samples too.
    """
    return _rate("error_rate", unit)


@metric(scores="unreduced")
def neutral_rate(unit: Unit = "run") -> Metric:
    """Neutral turns over turns with a verdict.

    Args:
        unit: As of `error_rate`.
    """
    return _rate("neutral_rate", unit)


@metric(scores="unreduced")
def productive_rate(unit: Unit = "run") -> Metric:
    """Passing turns over turns with a verdict.

    Args:
        unit: As of `error_rate`.
    """
    return _rate("productive_rate", unit)


@metric(scores="unreduced")
def loop_rate(unit: Unit = "run") -> Metric:
    """Looping turns over turns of which it is known whether they loop.

    Args:
        unit: As of `error_rate`.
    """
    return _rate("loop_rate", unit)


@metric(scores="unreduced")
def missing_rate(unit: Unit = "run") -> Metric:
    """Turns without a verdict or number over all turns that were to be judged.

    Args:
        unit: As of `error_rate`.
    """

    def estimate(runs: ScoredRuns) -> Estimate:
        from turncurve.analysis.verdict_rates import verdict_rate  # noqa: PLC0415 - heavy

        if runs.numbers:
            scenarios = runs.scenarios_of_numbers(unit)
            return verdict_rate("missing_rate", runs.numbers, scenarios=scenarios)
        return verdict_rate("missing_rate", runs.verdicts, scenarios=runs.scenarios(unit))

    return _metric("missing_rate", estimate, of="any")


@metric(scores="unreduced")
def error_rate_slope(unit: Unit = "run") -> Metric:
    """Mean over runs of the change of the failing share by turn, of runs with 8 verdicts or more.

    Args:
        unit: As of `error_rate`.
    """

    def estimate(runs: ScoredRuns) -> Estimate:
        from turncurve.analysis.verdict_rates import error_rate_slope  # noqa: PLC0415 - heavy

        return error_rate_slope(runs.verdicts, scenarios=runs.scenarios(unit))

    return _metric("error_rate_slope", estimate)


@metric(scores="unreduced")
def median_time_to_first_error() -> Metric:
    """Turn by which half of the runs have failed, with runs that never did counted as censored."""

    def estimate(runs: ScoredRuns) -> Estimate:
        from turncurve.analysis.verdict_rates import (  # noqa: PLC0415 - heavy
            median_time_to_first_error,
        )

        return median_time_to_first_error(runs.verdicts)

    return _metric("median_time_to_first_error", estimate)


@metric(scores="unreduced")
def rubric_mean(unit: Unit = "run") -> Metric:
    """Mean over runs of the mean of what a rubric gives the run's turns, in its own unit.

    Args:
        unit: As of `error_rate`.
    """

    def estimate(runs: ScoredRuns) -> Estimate:
        from turncurve.analysis.number_rates import number_mean  # noqa: PLC0415 - heavy

        return number_mean(runs.numbers, scenarios=runs.scenarios_of_numbers(unit))

    return _metric("rubric_mean", estimate, of="numbers")


@metric(scores="unreduced")
def rubric_slope(unit: Unit = "run") -> Metric:
    """Mean over runs of the change by turn of what a rubric gives, of runs with 8 numbers or more.

    Args:
        unit: As of `error_rate`.
    """

    def estimate(runs: ScoredRuns) -> Estimate:
        from turncurve.analysis.number_rates import number_slope  # noqa: PLC0415 - heavy

        return number_slope(runs.numbers, scenarios=runs.scenarios_of_numbers(unit))

    return _metric("rubric_slope", estimate, of="numbers")


def _rate(name: str, unit: Unit) -> Metric:
    def estimate(runs: ScoredRuns) -> Estimate:
        from turncurve.analysis.verdict_rates import verdict_rate  # noqa: PLC0415 - heavy

        return verdict_rate(name, runs.verdicts, scenarios=runs.scenarios(unit))

    return _metric(name, estimate)


def _metric(name: str, estimate: Callable[[ScoredRuns], Estimate], of: Of = "verdicts") -> Metric:
    def compute(scores: list[SampleScore]) -> Value:
        from turncurve.inspect_ext.scored_runs import scored_runs  # noqa: PLC0415 - heavy

        runs = scored_runs(scores)
        if of != "any" and (of == "numbers") != bool(runs.numbers):
            return {}
        found = estimate(runs)
        return {
            name: math.nan if found.value is None else found.value,
            **({} if found.low is None else {f"{name}_low": found.low}),
            **({} if found.high is None else {f"{name}_high": found.high}),
            f"{name}_n": found.n_runs,
        }

    return compute


METRICS = [
    error_rate(),
    neutral_rate(),
    productive_rate(),
    loop_rate(),
    missing_rate(),
    error_rate_slope(),
    median_time_to_first_error(),
]
"""The metrics of scorers that give verdicts."""
RUBRIC_METRICS = [*METRICS, rubric_mean(), rubric_slope()]
"""The metrics of scorers that go by a rubric of any kind."""
