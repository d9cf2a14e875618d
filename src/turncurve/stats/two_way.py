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
    """Of the trials' mean changes, each over the pairs that it has, which sizing for the same
    scenarios goes by; in a table without gaps `trial` + `rest` / S. None with one trial."""
    of_scenarios: float | None
    """Of the scenarios' changes where there is one trial; None with more, or with one scenario."""
    df_trials: float
    """Degrees of freedom behind `of_trials`; 0 with one trial."""
    df_population: float | None
    """Those behind the error for other scenarios; with several trials by Satterthwaite."""
    n_trials: int
    n_scenarios: int
    n_positions: int
    """Changes from one turn to the next that were pooled."""
    n_pairs: int
    """Runs with a value at both turns, over the positions."""
    n_incomplete: int
    """Those that the components leave out, as another trial of their scenario has no pair."""

    def of_suite(self, n_scenarios: int) -> float | None:
        """Variance of a trial's mean change over so many scenarios like these.

        What the scenarios of a trial do not share falls with their number. The pilot's own for the
        pilot's number of scenarios. None with one trial, or for another number where `trial` can't
        be told apart.
        """
        if n_scenarios == self.n_scenarios or self.of_trials is None:
            return self.of_trials
        if self.trial is None:
            return None
        own = max(self.of_trials - self.trial, 0.0)
        return self.trial + own * self.n_scenarios / n_scenarios

    def expected(self, n_trials: int, n_scenarios: int) -> MeanSquares | None:
        """The mean squares to expect of so many trials and scenarios; None where not estimable.

        `population_error` of them is the root of scenario / S + trial / R + rest / (R S).
        """
        if self.scenario is None or self.trial is None or self.rest is None:
            return None
        return _expected((self.scenario, self.trial, self.rest), n_trials, n_scenarios)


def components_of(changes: ArrayLike) -> Components:
    """Estimate what changes vary by, pooled over positions.

    `of_trials` is measured as `paired_step` does. The components need the two-way table without a
    gap: at each position the scenarios count that have a change in every trial. Neighbouring
    positions share a turn, so their squares correlate by a quarter where turns are independent;
    degrees of freedom are less by that.

    Args:
        changes: From one turn to the next; shape (n_trials, n_scenarios, n_positions), NaN where a
            run lacks one of the two turns.

    Returns:
        The components. They can't be told apart with one trial, which leaves `of_scenarios`, nor
        with one scenario, which leaves `of_trials`.

    Raises:
        NotEnoughDataError: No run has both turns.
    """
    d = np.asarray(changes, dtype=np.float64)
    n_trials, n_scenarios, n_positions = d.shape
    known = ~np.isnan(d)
    if not known.any():
        raise NotEnoughDataError("components_of: runs with both turns", need=1, got=0)
    means = [_trial_means(d[:, :, position]) for position in range(n_positions)]
    repeated = [each for each in means if len(each) > 1]
    whole = [d[:, known[:, :, k].all(axis=0), k] for k in range(n_positions)]
    squares = [mean_squares(table) for table in whole if min(table.shape) > 1]
    apart = _told_apart(squares, least=1e-24 * float(np.nanmax(np.abs(d))) ** 2)
    of_trials, df_trials = _pooled(repeated)
    alone = [d[0, known[0, :, k], k] for k in range(n_positions)] if n_trials == 1 else []
    of_scenarios, df_scenarios = _pooled([each for each in alone if len(each) > 1])
    return Components(
        scenario=apart[0],
        trial=apart[1],
        rest=apart[2],
        of_trials=of_trials,
        of_scenarios=of_scenarios,
        df_trials=df_trials,
        df_population=_df_population(squares, apart) or df_scenarios or None,
        n_trials=n_trials,
        n_scenarios=n_scenarios,
        n_positions=sum(bool(len(each)) for each in means),
        n_pairs=int(known.sum()),
        n_incomplete=int(known.sum()) - sum(table.size for table in whole),
    )


def _told_apart(
    squares: list[MeanSquares], *, least: float
) -> tuple[float, float, float] | tuple[None, None, None]:
    """Mean components between scenarios, between trials and of the rest; 0 below `least`."""
    if not squares:
        return None, None, None
    each = [
        ((s.scenario - s.rest) / s.n_trials, (s.trial - s.rest) / s.n_scenarios, s.rest)
        for s in squares
    ]
    scenario, trial, rest = np.mean(each, axis=0)
    return _floored(scenario, least), _floored(trial, least), _floored(rest, least)


def _floored(value: float, least: float) -> float:
    return float(value) if value > least else 0.0


def _df_population(
    squares: list[MeanSquares], components: tuple[float, float, float] | tuple[None, None, None]
) -> float | None:
    if components[0] is None:
        return None
    typical = round(float(np.mean([each.n_scenarios for each in squares])))
    _, df = _expected(components, squares[0].n_trials, typical).population_error()
    return df * _worth(len(squares))


def _expected(
    components: tuple[float, float, float], n_trials: int, n_scenarios: int
) -> MeanSquares:
    scenario, trial, rest = components
    return MeanSquares(
        trial=rest + n_scenarios * trial,
        scenario=rest + n_trials * scenario,
        rest=rest,
        n_trials=n_trials,
        n_scenarios=n_scenarios,
    )


def _trial_means(table: FloatArray) -> FloatArray:
    """Mean change of each trial that has any, over its pairs."""
    return np.asarray(np.nanmean(table[(~np.isnan(table)).any(axis=1)], axis=1))


def _pooled(samples: list[FloatArray]) -> tuple[float | None, float]:
    """Variance within samples, weighted by degrees of freedom, and what these are worth."""
    if not samples:
        return None, 0.0
    df = np.array([len(each) - 1 for each in samples], dtype=np.float64)
    variance = np.array([_variance(each) for each in samples])
    return float(df @ variance / df.sum()), float(df.mean()) * _worth(len(samples))


def _worth(n_positions: int) -> float:
    """Independent positions that so many neighbouring ones are worth."""
    return n_positions / (1 + 0.5 * (n_positions - 1) / n_positions)


def _variance(values: FloatArray) -> float:
    """With n - 1 degrees of freedom; values that agree up to rounding have none."""
    spread = np.ptp(values) > 1e-12 * np.abs(values).max()
    return float(values.var(ddof=1)) if spread else 0.0
