"""What changes of scenarios over trials vary by: scenarios, trials, and the single run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanSquares:
    """Mean squares of a two-way table without gaps, R trials by S scenarios; R and S at least 2."""

    trial: float
    """S times the variance of the trials' means."""
    scenario: float
    """R times the variance of the scenarios' means."""
    rest: float
    n_trials: int
    n_scenarios: int

    def population_error(self) -> tuple[float, float]:
        """Standard error of the table's mean for other scenarios and trials, and its df.

        The root of max(`scenario` + `trial` - `rest`, `scenario`) / (R S) with Satterthwaite's
        degrees of freedom; without more between trials than chance gives, S - 1.
        """
        r, s = self.n_trials, self.n_scenarios
        total = max(self.scenario + self.trial - self.rest, self.scenario)
        df: float = s - 1
        if self.trial > self.rest and total > 0:
            parts = (
                (self.scenario, s - 1),
                (self.trial, r - 1),
                (self.rest, (r - 1) * (s - 1)),
            )
            df = total**2 / sum(ms**2 / its_df for ms, its_df in parts)
        return math.sqrt(total / (r * s)), df


def mean_squares(table: FloatArray) -> MeanSquares:
    """The mean squares of a two-way table.

    Args:
        table: Shape (n_trials, n_scenarios), both at least 2; no NaN.

    References:
        Cornfield & Tukey (1956), Annals of Mathematical Statistics 27:907-949.
    """
    r, s = table.shape
    mean = table.mean()
    of_trial, of_scenario = table.mean(axis=1), table.mean(axis=0)
    rest = table - of_trial[:, None] - of_scenario + mean
    return MeanSquares(
        trial=s * float(((of_trial - mean) ** 2).sum()) / (r - 1),
        scenario=r * float(((of_scenario - mean) ** 2).sum()) / (s - 1),
        rest=float((rest**2).sum()) / ((r - 1) * (s - 1)),
        n_trials=r,
        n_scenarios=s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Variances that make up the changes of a pilot; None where they can't be told apart.

    A component is the difference of mean squares and may come out below 0 by chance; it is then 0.
    """

    scenario: float | None
    """Between scenarios, whichever trial: how far they disagree on the change."""
    trial: float | None
    """Between trials, shared by all scenarios of a trial."""
    rest: float | None
    """Of the single run."""
    of_trials: float | None
    """Of the trials' mean changes, which sizing for the same scenarios goes by: `trial` +
    `rest` / S; None with one trial."""
    of_scenarios: float | None
    """Of the scenarios' mean changes; None with one scenario."""
    df_trials: float
    """Degrees of freedom behind `of_trials`."""
    n_trials: int
    n_scenarios: float
    """Scenarios with a change in every trial; their mean over the positions."""
    n_positions: int
    """Changes from one turn to the next that were pooled."""
    n_pairs: int
    """Runs with a value at both turns, over the positions."""
    n_incomplete: int
    """Those left out, as another trial of their scenario has no pair."""

    def of_suite(self, n_scenarios: int) -> float | None:
        """Variance of a trial's mean change over so many scenarios like these.

        The pilot's own for the pilot's number of scenarios. None with one trial, or for another
        number where `trial` and `rest` can't be told apart.
        """
        if n_scenarios == self.n_scenarios:
            return self.of_trials
        if self.trial is None or self.rest is None:
            return None
        return self.trial + self.rest / n_scenarios

    def expected(self, n_trials: int, n_scenarios: int) -> MeanSquares | None:
        """The mean squares to expect of so many trials and scenarios; None where not estimable.

        `population_error` of them is the root of scenario / S + trial / R + rest / (R S).
        """
        if self.scenario is None or self.trial is None or self.rest is None:
            return None
        return MeanSquares(
            trial=self.rest + n_scenarios * self.trial,
            scenario=self.rest + n_trials * self.scenario,
            rest=self.rest,
            n_trials=n_trials,
            n_scenarios=n_scenarios,
        )


def components_of(changes: ArrayLike) -> Components:
    """Estimate what changes vary by, pooled over positions.

    At each position the scenarios count that have a change in every trial. Variances are means over
    the positions. Neighbouring positions share a turn, so their squares correlate by a quarter
    where turns are independent; `df_trials` is less by that.

    Args:
        changes: From one turn to the next; shape (n_trials, n_scenarios, n_positions), NaN where a
            run lacks one of the two turns.

    Returns:
        The components. With one trial none can be told apart and `of_trials` is None; with one
        scenario `trial` and `rest` can't be told apart.

    Raises:
        NotEnoughDataError: At no position does a scenario have a change in every trial.
    """
    d = np.asarray(changes, dtype=np.float64)
    n_trials = d.shape[0]
    known = ~np.isnan(d)
    complete = np.logical_and.reduce(known, axis=0)
    whole = [d[:, complete[:, position], position] for position in range(d.shape[2])]
    whole = [table for table in whole if table.size]
    if not whole:
        raise NotEnoughDataError(
            "components_of: scenarios with both turns in every trial", need=1, got=0
        )
    squares = [mean_squares(table) for table in whole if min(table.shape) > 1]
    rest = _mean([each.rest for each in squares])
    trial = _mean([(each.trial - each.rest) / each.n_scenarios for each in squares])
    scenario = _mean([(each.scenario - each.rest) / each.n_trials for each in squares])
    n_pooled, n_used = len(whole), sum(table.size for table in whole)
    return Components(
        scenario=_floored(scenario),
        trial=_floored(trial),
        rest=rest,
        of_trials=_mean([_variance(table.mean(axis=1)) for table in whole if n_trials > 1]),
        of_scenarios=_mean(
            [_variance(table.mean(axis=0)) for table in whole if table.shape[1] > 1]
        ),
        df_trials=(n_trials - 1) * n_pooled / (1 + 0.5 * (n_pooled - 1) / n_pooled),
        n_trials=n_trials,
        n_scenarios=float(np.mean([table.shape[1] for table in whole])),
        n_positions=n_pooled,
        n_pairs=int(known.sum()),
        n_incomplete=int(known.sum()) - n_used,
    )


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _variance(values: FloatArray) -> float:
    """With n - 1 degrees of freedom; values that agree up to rounding have none."""
    spread = np.ptp(values) > 1e-12 * np.abs(values).max()
    return float(values.var(ddof=1)) if spread else 0.0


def _floored(value: float | None) -> float | None:
    return None if value is None else max(value, 0.0)
