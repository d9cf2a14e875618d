"""How many trials a step needs to be seen, and which step so many trials can see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from turncurve.analysis.pilot import Pilot, Price, Spread, pilot_of
from turncurve.analysis.step_errors import (
    Claim,
    claims_by_components,
    claims_of,
    error_of_means,
)
from turncurve.analysis.step_sizes import (
    Design,
    Needed,
    Prices,
    Question,
    TopUp,
    Visible,
    design,
    needed,
    one_trial_design,
    top_up,
    visible,
)
from turncurve.errors import NotEnoughDataError
from turncurve.stats.step_power import Rule
from turncurve.table import TurnTable

SCENARIOS = (0.5, 1.0, 2.0, 4.0)
"""Numbers of scenarios that are weighed against trials: multiples of those to come."""
SHARES_OF_SCALE = (0.05, 0.1, 0.2)
"""Steps that are sized where none is asked for: shares of the scale."""
TRIALS = (5, 10, 20)
"""Numbers of trials that are looked at where none is asked for, beside the pilot's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPowerSettings:
    """What is to be seen, and by which rule.

    Attributes:
        steps: Mean changes to size for, in the signal's unit; signs do not matter. Empty for 5, 10
            and 20 % of the scale.
        trials: Numbers of trials, at least 2 each, whose smallest visible step is wanted; empty for
            the pilot's own number, 5, 10 and 20.
        turn: Later turn of the step; None pools the spread over all turns.
        sd: Standard deviation of the trials' mean changes; None takes it from the pilot.
        power: Wanted chance to see the step.
        alpha: Chance of a false alarm.
        n_positions: Turns that are looked at; None for those of the pilot that `cliff` would test,
            or 1 without one.
        critical: Critical value of the largest |t| over all turns, in place of Bonferroni's.
        n_scenarios: Scenarios of the runs to come; None for the pilot's.
        signal: Column; None for the one that stands for quality.
        quality_scale: Lowest and highest score, where the files do not say.
        level: Confidence level of the standard deviation's interval.
    """

    steps: tuple[float, ...] = ()
    trials: tuple[int, ...] = ()
    turn: int | None = None
    sd: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    n_positions: int | None = None
    critical: float | None = None
    n_scenarios: int | None = None
    signal: str | None = None
    quality_scale: tuple[float, float] | None = None
    level: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedFor:
    """What is paid for looking at every turn: turns, how, and the level or |t| that results."""

    n_positions: int
    method: Literal["none", "bonferroni", "max_t"]
    alpha: float
    critical: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPower:
    """How many trials steps need, what trials can see, and what that rests on.

    Attributes:
        signal: Column of the pilot; None without one.
        why_signal: Why that one.
        n_trials: Trials of the pilot; None without one.
        n_scenarios: Scenarios of the runs to come; None where nothing says.
        excluded: Reason to number of the pilot's runs left out.
        steps: Steps that were sized.
        needed: A row for each claim, step and rule.
        visible: A row for each claim, number of trials and rule.
        designs: Runs for the first step, looked for at every turn, as trials of other numbers of
            scenarios: a row for each claim and number, or one where the pilot has one trial; empty
            without a pilot or with a stated `sd`.
        components: What changes vary by.
        price: What a run costs and takes.
        adjusted_for: What is paid for looking at every turn.
        top_up: How to add trials; None where no step can be sized.
        settings: What was asked for.
    """

    signal: str | None
    why_signal: str | None
    n_trials: int | None
    n_scenarios: int | None
    excluded: Mapping[str, int]
    steps: tuple[float, ...]
    needed: tuple[Needed, ...]
    visible: tuple[Visible, ...]
    designs: tuple[Design, ...]
    components: Spread
    price: Price
    adjusted_for: AdjustedFor
    top_up: TopUp | None
    settings: StepPowerSettings


_DEFAULTS = StepPowerSettings()


def step_power(table: TurnTable | None, settings: StepPowerSettings = _DEFAULTS) -> StepPower:
    """Size a suite for a step, from a pilot or from a standard deviation alone.

    For the same scenarios (suite) the step is tested by a t over the trials' mean changes; for
    others like them (population) with the scenarios' spread too. The variance of the mean change
    is sigma2_scenario / S (population only) + sigma2_trial / R + sigma2_rest / (R S). What `cliff`
    calls by its adjusted p (cliff) is a t over scenarios' means, or over runs where scenarios are
    few; Bonferroni's critical value stands in for that of the largest |t|.

    Args:
        table: The pilot's runs, of one condition; None to size by `settings.sd`.
        settings: What is to be seen.

    Raises:
        NotEnoughDataError: There is neither a pilot nor an `sd`, no step to size for, or the pilot
            has no change to measure.
        UnknownNameError: There is no such signal.
    """
    pilot = _pilot(table, settings)
    spread = _spread(pilot, settings)
    n_scenarios = settings.n_scenarios or (pilot.n_scenarios if pilot else None)
    rules = _rules(settings, settings.n_positions or (pilot.n_positions if pilot else 1))
    prices = Prices(price=pilot.price if pilot else Price(), n_scenarios=n_scenarios)
    claims = tuple(_claims(pilot, settings, n_scenarios))
    steps = tuple(abs(step) for step in settings.steps) or _default_steps(pilot)
    trials = settings.trials or _default_trials(pilot)
    return StepPower(
        signal=pilot.signal if pilot else None,
        why_signal=pilot.why_signal if pilot else None,
        n_trials=pilot.n_trials if pilot else None,
        n_scenarios=n_scenarios,
        excluded=pilot.excluded if pilot else {},
        steps=steps,
        needed=tuple(
            needed(question, claim.error, step, spread, prices)
            for claim in claims
            for step in steps
            for question in _questions(claim, rules, settings.power)
        ),
        visible=tuple(
            visible(question, claim.error, n)
            for claim in claims
            for n in trials
            for question in _questions(claim, rules, settings.power)
        ),
        designs=tuple(_designs(pilot, settings, prices, (steps[0], rules[-1])))
        if pilot is not None and settings.sd is None
        else (),
        components=spread,
        price=prices.price,
        adjusted_for=_adjusted_for(rules[-1]),
        top_up=top_up(claims[0].error, steps[0], rules[-1], power=settings.power, trials=trials),
        settings=settings,
    )


def _pilot(table: TurnTable | None, settings: StepPowerSettings) -> Pilot | None:
    if table is not None:
        return pilot_of(
            table,
            signal=settings.signal,
            turn=settings.turn,
            quality_scale=settings.quality_scale,
            level=settings.level,
        )
    if settings.sd is None:
        raise NotEnoughDataError("step_power: a pilot or a standard deviation", need=1, got=0)
    return None


def _spread(pilot: Pilot | None, settings: StepPowerSettings) -> Spread:
    if settings.sd is not None or pilot is None:
        return Spread(paired_sd=settings.sd, source="as given")
    return pilot.spread


def _rules(settings: StepPowerSettings, n_positions: int) -> tuple[Rule, ...]:
    alone = Rule(alpha=settings.alpha)
    if n_positions == 1 and settings.critical is None:
        return (alone,)
    return alone, Rule(alpha=settings.alpha, n_positions=n_positions, critical=settings.critical)


def _questions(claim: Claim, rules: tuple[Rule, ...], power: float) -> Iterator[Question]:
    """The claim by each rule; `cliff` always pays for looking at every turn."""
    for rule in rules[-1:] if claim.estimand == "cliff" else rules:
        yield Question(claim.estimand, rule, power, claim.seen)


def _default_steps(pilot: Pilot | None) -> tuple[float, ...]:
    if pilot is None or pilot.scale is None:
        raise NotEnoughDataError(
            "step_power: a step to size for, as no scale says what is large,", need=1, got=0
        )
    low, high = pilot.scale
    return tuple(share * (high - low) for share in SHARES_OF_SCALE)


def _default_trials(pilot: Pilot | None) -> tuple[int, ...]:
    own = {pilot.n_trials} if pilot and pilot.n_trials > 1 else set()
    return tuple(sorted({*TRIALS, *own}))


def _claims(
    pilot: Pilot | None, settings: StepPowerSettings, n_scenarios: int | None
) -> Iterator[Claim]:
    if settings.sd is not None:
        yield Claim("suite", error_of_means(settings.sd**2))
        if pilot is not None and n_scenarios is not None:
            yield from claims_by_components(pilot.components, n_scenarios)
    elif pilot is not None and n_scenarios is not None:
        yield from claims_of(pilot.components, n_scenarios)


def _designs(
    pilot: Pilot, settings: StepPowerSettings, prices: Prices, what: tuple[float, Rule]
) -> Iterator[Design]:
    step, rule = what
    variance = pilot.components.of_scenarios
    if variance is not None:
        asked = Question("population", rule, settings.power, None)
        # With one trial scenarios are the units, as trials are in a suite.
        error = error_of_means(variance)
        yield one_trial_design(asked, error, step, pilot.spread, prices.price)
    if pilot.n_trials == 1 or prices.n_scenarios is None:
        return
    for n_scenarios in sorted({max(2, round(share * prices.n_scenarios)) for share in SCENARIOS}):
        each = replace(prices, n_scenarios=n_scenarios)
        for claim in claims_of(pilot.components, n_scenarios):
            asked = Question(claim.estimand, rule, settings.power, claim.seen)
            yield design(asked, claim.error, step, pilot.spread, each)


def _adjusted_for(rule: Rule) -> AdjustedFor:
    if rule.critical is not None:
        method: Literal["none", "bonferroni", "max_t"] = "max_t"
    else:
        method = "bonferroni" if rule.n_positions > 1 else "none"
    return AdjustedFor(
        n_positions=rule.n_positions, method=method, alpha=rule.alpha_each, critical=rule.critical
    )
