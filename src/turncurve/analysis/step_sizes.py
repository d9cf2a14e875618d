"""The trials that one step needs, and the step that so many trials see, under one rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from turncurve.analysis.pilot import Price, Spread
from turncurve.analysis.step_errors import Estimand
from turncurve.stats.anytime import anytime_critical
from turncurve.stats.estimate import none_if_nan
from turncurve.stats.step_power import Error, Rule, chances, trials_needed, visible_step

NEVER = "no number of trials is enough"
ZERO = "a step of 0 is never seen, however many trials there are"


class Question(NamedTuple):
    """Which claim is to be made, by which rule, and with which chance.

    `seen` is the standard error that the test sees over the true one, by number of trials; None
    where they are the same on average.
    """

    estimand: Estimand
    rule: Rule
    power: float
    seen: Callable[[int], float] | None

    def rule_at(self, n_trials: int, df: float) -> Rule:
        """The rule as it stands against the true standard error."""
        if self.seen is None:
            return self.rule
        return Rule(critical=self.rule.critical_at(df) * self.seen(n_trials))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What trials cost and take: a run's price, and the runs of a trial (None where not known)."""

    price: Price
    n_scenarios: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """Trials that a step needs.

    Attributes:
        estimand: About which claim.
        step: Size of the step.
        alpha: Level of the test at one turn.
        n_positions: Turns that are looked at.
        critical: The stated critical |t|, in place of that of `alpha`.
        power: Wanted chance to see the step.
        in_paired_sds: The step over `paired_sd`, which `cliff` holds against its bar; None where
            that is not known.
        n_trials: The fewest trials; None with a reason in `why`.
        n_trials_low: As many, were the error at the lower end of its interval; None where the
            interval is not known.
        n_trials_high: As many at the upper end; None there too, and where no number is enough.
        n_runs: Trials times scenarios; None where the number of scenarios is not known.
        cost_usd: Of these runs, at the pilot's mean.
        hours: Of these runs one after another, at the pilot's mean.
        why: Why there is no number.
    """

    estimand: Estimand
    step: float
    alpha: float
    n_positions: int
    critical: float | None
    power: float
    in_paired_sds: float | None
    n_trials: int | None
    n_trials_low: int | None
    n_trials_high: int | None
    n_runs: int | None
    cost_usd: float | None
    hours: float | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The smallest step that so many trials see with the wanted chance.

    Attributes:
        estimand: About which claim.
        n_trials: Trials.
        alpha: Level of the test at one turn.
        n_positions: Turns that are looked at.
        critical: The stated critical |t|, in place of that of `alpha`.
        power: Wanted chance.
        step: Size of the step; None with a reason in `why`.
        exaggeration: Mean size of a significant estimate over the true size, if that is `step`.
        wrong_sign: Chance that a significant estimate has the wrong sign then.
        half_power: Chance to see a step of half that size.
        half_exaggeration: By how much its significant estimates are too large.
        half_wrong_sign: Chance that these have the wrong sign.
        why: Why there is no number.
    """

    estimand: Estimand
    n_trials: int
    alpha: float
    n_positions: int
    critical: float | None
    power: float
    step: float | None
    exaggeration: float | None = None
    wrong_sign: float | None = None
    half_power: float | None = None
    half_exaggeration: float | None = None
    half_wrong_sign: float | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Runs that a step needs, as trials of another number of scenarios.

    Attributes:
        estimand: About which claim.
        step: Size of the step.
        n_scenarios: Scenarios; None with a reason in `why`.
        n_trials: Trials; None with a reason in `why`.
        n_runs: Both multiplied.
        n_runs_low: As many, were the error at the lower end of its interval; None where the
            interval is not known.
        n_runs_high: As many at the upper end; None there too, and where no number is enough.
        cost_usd: Of these runs, at the pilot's mean.
        hours: Of these runs one after another, at the pilot's mean.
        why: Why there is no number.
    """

    estimand: Estimand
    step: float
    n_scenarios: int | None
    n_trials: int | None
    n_runs: int | None
    n_runs_low: int | None
    n_runs_high: int | None
    cost_usd: float | None
    hours: float | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopUp:
    """A rule that allows to look after every trial, and then to add more.

    Attributes:
        step: The step that it is tuned for.
        n_best: Trials at which it is sharpest, fixed before the first look: as many as the step
            needs.
        n_trials: Trials with which it sees the step, at that look alone, with the wanted chance.
        alpha: Chance of ever passing it at one turn where there is no step.
        critical: Number of trials to the |t| that they have to pass; infinite for too few.
    """

    step: float
    n_best: int
    n_trials: int | None
    alpha: float
    critical: Mapping[int, float]


def needed(
    asked: Question, error: Error | str, step: float, spread: Spread, prices: Prices
) -> Needed:
    """The trials that a step needs, and their price.

    Args:
        asked: Claim, rule and chance.
        error: Standard error and degrees of freedom by number of trials, or why there are none.
        step: Size of the step.
        spread: Its `paired_sd`, and limits.
        prices: What trials cost and take.
    """

    def trials(size: float) -> int | None:
        if isinstance(error, str):
            return None
        return trials_needed(
            size, error, lambda n: asked.rule_at(n, error(n)[1]), power=asked.power
        )

    def trials_at(factor: float | None) -> int | None:
        """Where the error is another, the step is as much larger or smaller against it."""
        return None if factor is None else trials(step / factor)

    low, high = _factors(asked.estimand, spread)
    n_trials = trials(step)
    n_runs = _times(n_trials, prices.n_scenarios)
    return Needed(
        estimand=asked.estimand,
        step=step,
        alpha=asked.rule.alpha_each,
        n_positions=asked.rule.n_positions,
        critical=asked.rule.critical,
        power=asked.power,
        in_paired_sds=step / spread.paired_sd if spread.paired_sd else None,
        n_trials=n_trials,
        n_trials_low=trials_at(low),
        n_trials_high=trials_at(high),
        n_runs=n_runs,
        cost_usd=prices.price.usd(n_runs),
        hours=prices.price.hours(n_runs),
        why=_why(error, n_trials, step),
    )


def _factors(estimand: Estimand, spread: Spread) -> tuple[float | None, float | None]:
    """The limits of a claim's error as multiples of it."""
    if estimand != "suite":
        return spread.population_factor_low, spread.population_factor_high
    sd, low, high = spread.paired_sd, spread.paired_sd_low, spread.paired_sd_high
    if not sd or low is None or high is None:
        return None, None
    return low / sd, high / sd


def _why(error: Error | str, n_trials: int | None, step: float) -> str | None:
    if isinstance(error, str):
        return error
    if n_trials is not None:
        return None
    return NEVER if step else ZERO


def design(
    asked: Question, error: Error | str, step: float, spread: Spread, prices: Prices
) -> Design:
    """The trials that a step needs with so many scenarios.

    Args:
        asked: Claim, rule and chance.
        error: Standard error and degrees of freedom by number of trials, with these scenarios, or
            why there are none.
        step: Size of the step.
        spread: Its `paired_sd`, and limits.
        prices: What trials cost and take, and the number of scenarios.
    """
    found = needed(asked, error, step, spread, prices)
    return Design(
        estimand=asked.estimand,
        step=step,
        n_scenarios=prices.n_scenarios,
        n_trials=found.n_trials,
        n_runs=found.n_runs,
        n_runs_low=_times(found.n_trials_low, prices.n_scenarios),
        n_runs_high=_times(found.n_trials_high, prices.n_scenarios),
        cost_usd=found.cost_usd,
        hours=found.hours,
        why=found.why,
    )


def one_trial_design(
    asked: Question, error: Error | str, step: float, spread: Spread, price: Price
) -> Design:
    """The scenarios that a step needs with one trial of each.

    Args:
        asked: Claim, rule and chance.
        error: Standard error and degrees of freedom by number of scenarios, or why there are none.
        step: Size of the step.
        spread: Its `paired_sd`, and limits.
        price: What a run costs and takes.
    """
    found = needed(asked, error, step, spread, Prices(price=price, n_scenarios=1))
    return Design(
        estimand=asked.estimand,
        step=step,
        n_scenarios=found.n_trials,
        n_trials=None if found.n_trials is None else 1,
        n_runs=found.n_runs,
        n_runs_low=found.n_trials_low,
        n_runs_high=found.n_trials_high,
        cost_usd=found.cost_usd,
        hours=found.hours,
        why=found.why,
    )


def _times(n_trials: int | None, n_scenarios: int | None) -> int | None:
    return None if n_trials is None or n_scenarios is None else n_trials * n_scenarios


def visible(asked: Question, error: Error | str, n_trials: int) -> Visible:
    """The smallest step that so many trials see, and what significance means there.

    Args:
        asked: Claim, rule and chance.
        error: Standard error and degrees of freedom by number of trials, or why there are none.
        n_trials: Trials, at least 2.
    """
    rule = asked.rule
    found = Visible(
        estimand=asked.estimand,
        n_trials=n_trials,
        alpha=rule.alpha_each,
        n_positions=rule.n_positions,
        critical=rule.critical,
        power=asked.power,
        step=None,
        why=error if isinstance(error, str) else None,
    )
    if isinstance(error, str):
        return found
    std_error, df = error(n_trials)
    at = asked.rule_at(n_trials, df)
    step = visible_step(std_error, df, at, power=asked.power)
    there, half = (chances(size, std_error, df, at) for size in (step, step / 2))
    return replace(
        found,
        step=step,
        exaggeration=none_if_nan(there.exaggeration),
        wrong_sign=none_if_nan(there.wrong_sign),
        half_power=half.power,
        half_exaggeration=none_if_nan(half.exaggeration),
        half_wrong_sign=none_if_nan(half.wrong_sign),
    )


def top_up(
    error: Error | str, step: float, rule: Rule, *, power: float, trials: tuple[int, ...]
) -> TopUp | None:
    """The rule for adding trials, at Bonferroni's level: a stated |t| is for one look alone.

    Args:
        error: Standard error and degrees of freedom by number of trials, or why there are none.
        step: The step that it is tuned for.
        rule: Its `alpha` and `n_positions` count.
        power: Wanted chance.
        trials: Numbers of trials whose |t| is wanted.

    Returns:
        The rule; None where the step cannot be sized.
    """
    if isinstance(error, str):
        return None
    n_best = trials_needed(step, error, rule, power=power)
    if n_best is None:
        return None
    alpha = rule.alpha / rule.n_positions
    critical = {
        n: anytime_critical(n, n_best=n_best, alpha=alpha) for n in sorted({*trials, n_best})
    }

    def rule_at(n: int) -> Rule:
        return Rule(critical=anytime_critical(n, n_best=n_best, alpha=alpha))

    return TopUp(
        step=step,
        n_best=n_best,
        n_trials=trials_needed(step, error, rule_at, power=power, fewest=n_best),
        alpha=alpha,
        critical=critical,
    )
