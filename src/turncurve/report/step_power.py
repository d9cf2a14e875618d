"""How many trials a step needs, in words, tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from turncurve.analysis.pilot import Spread
from turncurve.analysis.step_errors import Estimand
from turncurve.analysis.step_power import StepPower
from turncurve.analysis.step_sizes import Design, Needed, Visible
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import ABSENT, amount, counted, interval, usd
from turncurve.report.plain import plain

SCHEMA_VERSION = "1.0"
TITLE = "how many trials a step needs"

_CLAIMS: dict[Estimand, str] = {
    "suite": "the same scenarios again",
    "population": "other scenarios like these",
    "cliff": "an adjusted p of turncurve cliff",
}
_SHORT: dict[Estimand, str] = {"suite": "same", "population": "other", "cliff": "cliff"}
_KEY = (
    "same: would these scenarios do it again, by a t over trials; other: would others like them; "
    "cliff: is the adjusted p of turncurve cliff small enough, by a t over scenarios or runs."
)


def step_power_json(result: StepPower) -> dict[str, Any]:
    """The result as plain values; an infinite critical |t| is null."""
    return {"schema_version": SCHEMA_VERSION, "sentence": sentence(result), **plain(result)}


def step_power_blocks(result: StepPower) -> tuple[Block, ...]:
    """The first step's trials in a sentence, both tables for each claim, and what they rest on."""
    return tuple(_blocks(result))


def sentence(result: StepPower) -> str:
    """What the first step that was asked for needs, looked for at every turn."""
    row = next(
        row
        for row in reversed(result.needed)
        if (row.estimand, row.step) == ("suite", result.steps[0])
    )
    what = f"A step of {_size(row.step)} {_where(row)}"
    chance = f"to be seen with a chance of {100 * row.power:g} %"
    level = f"by the {100 * result.settings.level:g} % interval of the spread"
    alone = next((design for design in result.designs if design.n_trials == 1), None)
    if row.n_trials is not None:
        at_ends = _span(row.n_trials_low, row.n_trials_high)
        within = f" ({at_ends} {level})" if at_ends else ""
        needs = f"{what} needs {counted(row.n_trials, 'trial')}{within} {chance}{_price(row)}."
        return f"{needs}{_by_cliff(result, row)}"
    if alone is not None and alone.n_scenarios is not None:
        at_ends = _span(alone.n_runs_low, alone.n_runs_high)
        within = f" ({at_ends} {level})" if at_ends else ""
        return (
            f"{what} needs one trial of {counted(alone.n_scenarios, 'scenario')}{within} {chance} "
            f"in others like these{_price(alone)}. For the same scenarios it cannot be sized: "
            f"{row.why}."
        )
    return f"{what} cannot be sized: {row.why}."


def _by_cliff(result: StepPower, of: Needed) -> str:
    for row in result.needed:
        if row.estimand == "cliff" and row.step == of.step and row.n_trials is not None:
            return (
                f" For an adjusted p of turncurve cliff below {result.settings.alpha:g}, "
                f"{counted(row.n_trials, 'trial')} will do."
            )
    return ""


def _span(low: int | None, high: int | None) -> str:
    """Two numbers, of which the larger may be out of reach."""
    if low is None:
        return ""
    return f"{low:,} to {high:,}" if high is not None else f"{low:,} to no number"


def _where(row: Needed) -> str:
    if row.n_positions == 1 and row.critical is None:
        return "at one turn chosen beforehand"
    return f"at any of {counted(row.n_positions, 'turn')}"


def _price(row: Needed | Design) -> str:
    parts = [
        counted(row.n_runs, "run") if row.n_runs is not None else None,
        usd(row.cost_usd) if row.cost_usd is not None else None,
        _hours(row.hours) if row.hours is not None else None,
    ]
    said = [part for part in parts if part is not None]
    return f": {', '.join(said)}" if said else ""


def _blocks(result: StepPower) -> Iterator[Block]:
    yield Said(sentence(result))
    for estimand, claim in _CLAIMS.items():
        why = {row.why for row in result.needed if row.estimand == estimand}
        if len(why) == 1 and None not in why:
            yield Facts(title=f"Not sized: {claim}", pairs=(("why", f"{why.pop()}."),))
    sized = {row.estimand for row in result.needed if row.why is None}
    if sized:
        yield _needed_table([row for row in result.needed if row.estimand in sized])
        yield _visible_table([row for row in _visible(result) if row.estimand in sized])
    if result.designs:
        yield _designs_table(result.designs)
    yield Facts(title="What this rests on", pairs=tuple(_facts(result)))
    yield Facts(title="Adding trials after a look", pairs=tuple(_top_up(result)))


def _visible(result: StepPower) -> Iterator[Visible]:
    """The rows by the rule that pays for looking at every turn."""
    last = result.needed[-1]
    for row in result.visible:
        if (row.n_positions, row.critical) == (last.n_positions, last.critical):
            yield row


def _needed_table(rows: list[Needed]) -> Table:
    cells = tuple(
        (
            _SHORT[row.estimand],
            _size(row.step),
            f"{row.n_positions:,}",
            _test(row),
            _count(row.n_trials),
            _range(row.n_trials_low, row.n_trials_high),
            _count(row.n_runs),
            usd(row.cost_usd),
            _hours(row.hours),
        )
        for row in rows
    )
    return Table(
        title="Trials that a step needs",
        header=("claim", "step", "turns", "each test", "trials", "by SD", "runs", "cost", "time"),
        rows=cells,
        align="<" + ">" * 8,
        notes=(
            *dict.fromkeys(f"{_size(row.step)}: {row.why}." for row in rows if row.why),
            _KEY,
        ),
    )


def _visible_table(rows: list[Visible]) -> Table:
    cells = tuple(
        (
            _SHORT[row.estimand],
            f"{row.n_trials:,}",
            _size(row.step),
            _times(row.exaggeration),
            _chance(row.wrong_sign),
            _chance(row.half_power),
            _times(row.half_exaggeration),
            _chance(row.half_wrong_sign),
        )
        for row in rows
    )
    return Table(
        title="The smallest step that trials see",
        header=(
            *("claim", "trials", "step", "too large", "sign"),
            *("half: seen", "too large", "sign"),
        ),
        rows=cells,
        align="<" + ">" * 7,
        notes=(
            f"Looked for at {counted(rows[0].n_positions, 'turn')}, {_test(rows[0])} at each.",
            "too large: mean size of a significant estimate over the true size. sign: chance that "
            "it has the wrong one. half: the same of a step half as large, which is seen seldom, "
            "and when it is, looks so much larger than it is.",
        ),
    )


def _designs_table(rows: tuple[Design, ...]) -> Table:
    cells = tuple(
        (
            _SHORT[row.estimand],
            _count(row.n_scenarios),
            _count(row.n_trials),
            _count(row.n_runs),
            _range(row.n_runs_low, row.n_runs_high),
            usd(row.cost_usd),
            _hours(row.hours),
        )
        for row in sorted(rows, key=lambda row: tuple(_CLAIMS).index(row.estimand))
    )
    return Table(
        title=f"More trials or more scenarios: a step of {_size(rows[0].step)} at any turn",
        header=("claim", "scenarios", "trials", "runs", "by SD", "cost", "time"),
        rows=cells,
        align="<" + ">" * 6,
        notes=(
            *_fewest(rows),
            *dict.fromkeys(f"{_count(row.n_scenarios)}: {row.why}." for row in rows if row.why),
        ),
    )


def _fewest(rows: tuple[Design, ...]) -> Iterator[str]:
    """Which of a claim's rows asks for the fewest runs."""
    for estimand, claim in _CLAIMS.items():
        sized = [
            (row.n_runs, row) for row in rows if row.estimand == estimand and row.n_runs is not None
        ]
        if len(sized) > 1:
            n_runs, row = min(sized, key=lambda pair: pair[0])
            yield (
                f"Fewest runs for {claim}: {counted(row.n_scenarios or 0, 'scenario')} in "
                f"{counted(row.n_trials or 0, 'trial')}, {counted(n_runs, 'run')}."
            )


def _test(row: Needed | Visible) -> str:
    return f"p<{row.alpha:.3g}" if row.critical is None else f"|t|>{row.critical:.3g}"


def _range(low: int | None, high: int | None) -> str:
    return ABSENT if low is None else f"{low:,}-{'none' if high is None else format(high, ',')}"


def _facts(result: StepPower) -> Iterator[tuple[str, str]]:
    spread, adjusted = result.components, result.adjusted_for
    yield "standard deviation", _spread_words(spread)
    if spread.rest_sd is not None:
        yield (
            "made of",
            f"scenarios {amount(spread.scenario_sd)}, trials {amount(spread.trial_sd)}, the single "
            f"run {amount(spread.rest_sd)}, as standard deviations, over "
            f"{counted(spread.n_pairs - spread.n_incomplete, 'change')} of runs.",
        )
    for reason in dict.fromkeys(spread.not_estimable.values()):
        yield "not estimable", f"{reason}."
    if spread.n_incomplete:
        yield (
            "left out",
            f"of scenarios, trials and the single run: {counted(spread.n_incomplete, 'change')} of "
            "scenarios that lack it in another trial.",
        )
    if spread.share_present is not None and spread.share_present < 1:
        yield (
            "runs that end",
            f"{100 * spread.share_present:.0f} % of the runs have the change, on average. Other "
            "scenarios are sized as if every run had it.",
        )
    if result.settings.turn is None and result.signal is not None and spread.rest_sd is not None:
        yield (
            "the step itself",
            "scenarios may disagree more on a step than on other changes: with --turn the spread "
            "is that of one turn.",
        )
    ratio = result.needed[0].in_paired_sds
    if ratio is not None:
        yield (
            "large enough",
            f"a step of {_size(result.steps[0])} is {ratio:.1f} paired SDs; below the bar of "
            "turncurve cliff, 3, it is a finding only with a stated --size.",
        )
    yield "signal", f"{result.signal}: {result.why_signal}." if result.signal else "none: no pilot."
    yield "looking at every turn", _adjusted(adjusted.method, adjusted.n_positions, adjusted.alpha)
    yield "price of a run", _price_of_a_run(result)
    if result.excluded:
        left_out = "; ".join(f"{reason}: {n:,}" for reason, n in result.excluded.items())
        yield "runs left out", f"{left_out}."


def _spread_words(spread: Spread) -> str:
    if spread.paired_sd is None:
        if spread.one_trial_sd is None:
            return "not estimable."
        return f"{amount(spread.one_trial_sd)} of the scenarios' changes, from {spread.source}."
    limits = interval(spread.paired_sd_low, spread.paired_sd_high)
    within = "" if limits == ABSENT else f" {limits}"
    where = spread.source if spread.source == "as given" else f"from {spread.source}"
    return f"{amount(spread.paired_sd)}{within} of the trials' mean changes, {where}."


def _adjusted(method: str, n_positions: int, alpha: float) -> str:
    if method == "max_t":
        return (
            "the stated |t| is taken as it is, for all numbers of trials; with fewer trials than "
            "it was found with, it lets through too much."
        )
    if method == "bonferroni":
        return f"{n_positions:,} turns share the false alarms (Bonferroni): {alpha:.3g} for each."
    return "not paid for: one turn, chosen before the data are seen."


def _price_of_a_run(result: StepPower) -> str:
    price = result.price
    if result.signal is None:
        return "not known: no pilot."
    cost, time = "cost not known", "time not known"
    if price.usd_per_run is not None:
        cost = f"{usd(price.usd_per_run)} (mean of {price.n_runs_with_cost:,})"
    if price.seconds_per_run is not None:
        time = f"{_hours(price.seconds_per_run / 3_600)} (mean of {price.n_runs_with_time:,})"
    return f"{cost}; {time}; of {counted(price.n_runs, 'run')}. Times are of one run after another."


def _top_up(result: StepPower) -> Iterator[tuple[str, str]]:
    yield (
        "never",
        "A t test that is repeated as trials come in finds a step that is not there far more often "
        "than its level says. The trials above are for one look, at the end.",
    )
    rule = result.top_up
    if rule is None:
        return
    passes = ", ".join(
        f"{n:,}: {value:.2f}" if math.isfinite(value) else f"{n:,}: none"
        for n, value in rule.critical.items()
    )
    yield (
        "at any look",
        f"A step counts where its |t| over trials passes, by their number: {passes}. Then the "
        f"chance of ever calling a step that is not there is at most {rule.alpha:.3g} at one turn.",
    )
    yield (
        "its price",
        f"A step of {_size(rule.step)} is seen at one look with {_count(rule.n_trials)} trials in "
        f"place of {_count(rule.n_best)}. The rule is tuned for {rule.n_best:,}; that is fixed "
        "before the first look (anytime_mean in Python).",
    )


def _size(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3g}"


def _count(n: int | None) -> str:
    return ABSENT if n is None else f"{n:,}"


def _times(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}x"


def _chance(value: float | None) -> str:
    return ABSENT if value is None else "<.001" if value < 0.001 else f"{value:.3f}"


def _hours(hours: float | None) -> str:
    if hours is None:
        return ABSENT
    return (
        f"{3_600 * hours:.0f} s"
        if hours < 1 / 60
        else f"{60 * hours:.0f} min"
        if hours < 2
        else f"{hours:,.1f} h"
    )
