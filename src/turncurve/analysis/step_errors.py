"""What the mean step of a suite to come varies by, for each claim that can be made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from turncurve.analysis.pilot import ONE_TRIAL, not_apart
from turncurve.analysis.steps import units_for
from turncurve.stats.step_power import Error
from turncurve.stats.two_way import Components

Estimand: TypeAlias = Literal["suite", "population", "cliff"]
"""Would running the same scenarios again agree, by a t over trials; would other scenarios like them
agree; would `cliff` give an adjusted p below alpha, by a t over scenarios or runs."""

ONE_SCENARIO = "one scenario says nothing of others"
NO_SPREAD = "the pilot's changes agree exactly: there is no spread to size by"


class Claim(NamedTuple):
    """A claim, and what the mean step varies by.

    Attributes:
        estimand: Which claim.
        error: True standard error of the mean step and the degrees of freedom of the one that the
            test sees, by number of trials; or why there are none.
        seen: The standard error that the test sees over the true one, by number of trials; None
            where they are the same on average.
    """

    estimand: Estimand
    error: Error | str
    seen: Callable[[int], float] | None = None


def claims_of(components: Components, n_scenarios: int) -> Iterator[Claim]:
    """Each claim with its error, for so many scenarios like those of a pilot."""
    yield Claim("suite", _suite_error(components, n_scenarios))
    yield from claims_by_components(components, n_scenarios)


def claims_by_components(components: Components, n_scenarios: int) -> Iterator[Claim]:
    """The claims that go by the spreads between scenarios, trials and single runs."""
    yield Claim("population", _population_error(components, n_scenarios))
    yield _cliff_claim(components, n_scenarios)


def error_of_means(variance: float) -> Error | str:
    """The error of a mean of independent units with this variance, by their number."""
    if variance == 0:
        return NO_SPREAD
    return lambda n: (math.sqrt(variance / n), n - 1)


def _suite_error(components: Components, n_scenarios: int) -> Error | str:
    variance = components.of_suite(n_scenarios)
    if variance is not None:
        return error_of_means(variance)
    return ONE_TRIAL if components.of_trials is None else not_apart(components)


def _population_error(components: Components, n_scenarios: int) -> Error | str:
    expected = components.expected
    least = expected(2, n_scenarios)
    if least is None:
        return not_apart(components)
    if n_scenarios < 2:
        return ONE_SCENARIO
    if least.population_error()[0] == 0:
        return NO_SPREAD

    def error(n_trials: int) -> tuple[float, float]:
        squares = expected(n_trials, n_scenarios)
        assert squares is not None
        return squares.population_error()

    return error


def _cliff_claim(components: Components, n_scenarios: int) -> Claim:
    """The t over scenarios' means, or over runs, that `cliff` adjusts for all turns.

    Over scenarios it does not see what all runs of a trial share; over runs it sees how scenarios
    disagree, which does not vary from trial to trial.
    """
    scenario, trial, rest = components.scenario, components.trial, components.rest
    if scenario is None or trial is None or rest is None:
        return Claim("cliff", not_apart(components))
    between, shared, own = scenario, trial, rest
    if own + between == 0:
        return Claim("cliff", NO_SPREAD)
    by_scenario = units_for(2, n_scenarios) == "scenarios"

    def true(n_trials: int) -> float:
        n_runs = n_trials * n_scenarios
        others = between / n_scenarios if by_scenario else 0.0
        return math.sqrt(others + shared / n_trials + own / n_runs)

    def seen(n_trials: int) -> float:
        n_runs = n_trials * n_scenarios
        variance = (
            between / n_scenarios + own / n_runs
            if by_scenario
            else (between + shared + own) / n_runs
        )
        return math.sqrt(variance) / true(n_trials)

    def error(n_trials: int) -> tuple[float, float]:
        units = n_scenarios if by_scenario else n_trials * n_scenarios
        return true(n_trials), units - 1

    if true(2) == 0:
        return Claim("cliff", NO_SPREAD)
    return Claim("cliff", error, seen)
