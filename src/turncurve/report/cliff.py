"""Steps, shape, composition and event in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from turncurve.analysis.alignment import EventStep
from turncurve.analysis.cliff import Cliff
from turncurve.analysis.composition import Change, Composition
from turncurve.analysis.steps import Step
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import ABSENT, amount, counted, interval, signed
from turncurve.report.plain import plain
from turncurve.stats.mean import Mean
from turncurve.stats.shape import Departure, Shape

SCHEMA_VERSION = "1.0"
TITLE = "is the drop real"
SHOWN = 10
"""Steps in the table; JSON has them all."""

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def cliff_json(result: Cliff) -> dict[str, Any]:
    """The result as plain values: steps, shape, composition, event, and what they rest on."""
    steps = plain(result.steps)
    others = ("steps", "shape", "composition", "event")
    whole = {field.name: plain(getattr(result, field.name)) for field in fields(result)}
    return {
        "schema_version": SCHEMA_VERSION,
        "sentence": sentence(result),
        "steps": steps.pop("steps"),
        "family": steps,
        "shape": None if result.shape is None else _shape_json(result.shape),
        "composition": plain(result.composition),
        "event": plain(result.event),
        **{name: value for name, value in whole.items() if name not in others},
    }


def _shape_json(shape: Shape) -> Mapping[str, Any]:
    whole = plain(shape)
    for name in ("step", "kink", "lone_turn"):
        departure = whole[name]
        whole[name] = {**departure.pop("size"), **departure}
    return {**whole, "slope": {**whole["slope"], "p": whole.pop("slope_p")}}


def cliff_blocks(result: Cliff) -> tuple[Block, ...]:
    """The finding in a sentence, the steps, the shape, what could make it up, and the limits."""
    return (
        Said(sentence(result)),
        Facts(title="What was looked at", pairs=tuple(_looked_at(result))),
        _steps_table(result),
        Facts(title="Shape", pairs=tuple(_shape_facts(result))),
        Facts(title="Two ways a curve lies", pairs=tuple(_lies(result))),
        Facts(title="Limits", pairs=tuple(limit_words(result))),
    )


def sentence(result: Cliff) -> str:
    """What changed, where, how sure that is, and what it survives."""
    step, shape = foremost(result), result.shape
    if step is None:
        return "No turn can be compared with the one before it: too few runs have both."
    if step.state == "finding":
        spread = "" if step.paired_sd is None else f" ± {amount(step.paired_sd, digits=2)}"
        return (
            f"{_title(result)} {_moves(step.delta)}{spread} at turn {step.turn:,} "
            f"{_agreement(step)}{_survives(result)}. {_shape_words(result)}"
        )
    largest = _largest(step)
    if shape is not None and shape.verdict in ("cliff", "cliff on a slope"):
        return (
            f"{_title(result)} {_moves(shape.step.size.value)} "
            f"{_limits_of_move(shape.step.size)} at turn {shape.turn:,} and stays there"
            f"{_survives(result)}. From one turn to the next no step is a finding: {largest}."
        )
    if step.delta == 0 and step.p_adjusted is None:
        return f"No step from one turn to the next is other than 0. {_shape_words(result)}"
    return f"No step from one turn to the next is a finding; {largest}. {_shape_words(result)}"


def _largest(step: Step) -> str:
    kind = "worth watching" if step.state == "watch" else "noise"
    way = "fall" if step.delta < 0 else "rise"
    tested = (
        "too few pairs to test it"
        if step.p_adjusted is None
        else f"adjusted p {_p(step.p_adjusted)}"
    )
    size = amount(abs(step.delta), digits=2)
    return f"the largest, a {way} of {size} at turn {step.turn:,}, is {kind} ({tested})"


def _title(result: Cliff) -> str:
    return result.signal[:1].upper() + result.signal[1:].replace("_", " ")


def foremost(result: Cliff) -> Step | None:
    """The surest finding, or else the step with the lowest adjusted p."""
    steps = result.steps.steps
    found = [step for step in steps if step.state == "finding"]
    known = found or [step for step in steps if step.p_adjusted is not None] or list(steps)
    return min(known, key=lambda s: (s.p_adjusted or 1.0, -abs(s.delta)), default=None)


def _moves(delta: float) -> str:
    return f"{'falls' if delta < 0 else 'rises'} {amount(abs(delta), digits=2)}"


def _agreement(step: Step) -> str:
    if step.n_trials < 2:
        return f"over {counted(step.n_pairs, 'run')} of one trial"
    every = _NUMBERS[step.n_trials] if step.n_trials < len(_NUMBERS) else f"{step.n_trials:,}"
    if step.n_agree == step.n_trials:
        return f"in all {every} trials" if step.n_trials > 2 else "in both trials"
    return f"in {step.n_agree:,} of {every} trials"


def _survives(result: Cliff) -> str:
    parts = []
    if result.composition.verdict == "none seen":
        parts.append("survives the balanced panel")
    elif result.composition.verdict != "not known":
        parts.append(f"is not free of {result.composition.verdict}")
    event = result.event
    if event is not None and event.sharpens and event.step_by_offset is not None:
        delta = amount(abs(event.steps_by_offset[-1].delta), digits=2)
        parts.append(f"sharpens to {delta} at the {event.event}")
    return f"; it {' and '.join(parts)}" if parts else ""


def _shape_words(result: Cliff) -> str:
    shape = result.shape
    if shape is None:
        return f"Its shape cannot be told: {result.no_shape}."
    size = signed(shape.step.size.value)
    words = {
        "flat": "The curve is flat",
        "slope": f"The curve is a slope of {signed(shape.slope.value)} a turn, without a cliff",
        "knee": f"The curve has a knee at turn {shape.turn}",
        "cliff": f"The curve has a cliff of {size} at turn {shape.turn}",
        "cliff on a slope": f"The curve has a cliff of {size} at turn {shape.turn}, on a slope",
        "lone turn": f"Turn {shape.turn} alone differs, which is no new level",
        "ambiguous": "The curve departs from a line, by a cliff or a knee: which, cannot be told",
        "underpowered": "The runs are too few to tell a cliff from a line",
    }
    return f"{words[shape.verdict]}."


def _looked_at(result: Cliff) -> Iterator[tuple[str, str]]:
    yield "signal", f"{result.signal}: {result.why_signal}."
    yield (
        "runs",
        (
            f"{counted(result.n_runs, 'run')} of {counted(result.n_scenarios, 'scenario')} in "
            f"{counted(result.n_trials, 'trial')}, up to {counted(result.n_turns, 'turn')}."
        ),
    )
    if result.excluded:
        left_out = "; ".join(f"{reason}: {n:,}" for reason, n in result.excluded.items())
        yield "left out", f"{left_out}."


def _steps_table(result: Cliff) -> Table:
    steps = result.steps
    order = {"finding": 0, "watch": 1, "noise": 2}
    ranked = sorted(steps.steps, key=lambda s: (order[s.state], s.p_adjusted or 1.0, -abs(s.delta)))
    chosen = sorted(ranked[:SHOWN], key=lambda s: s.turn)
    counts = {state: sum(s.state == state for s in steps.steps) for state in order}
    notes = [
        f"Of {counted(len(steps.steps), 'step')}: {counts['finding']:,} a finding, "
        f"{counts['watch']:,} to watch, {counts['noise']:,} noise."
        + (f" The first {SHOWN} are shown." if len(ranked) > SHOWN else ""),
        "SD is that between trials of the same scenarios; ratio is an effect size, no test. p is "
        f"for a turn chosen beforehand, adj. p for the largest of {steps.n_positions:,}, by "
        f"{'all' if steps.exact else 'random'} {steps.n_flips:,} flips of "
        f"{steps.n_units:,} {steps.units}.",
        *(
            f"Turn {step.turn:,} is to be watched: {step.to_settle.words}."
            for step in chosen
            if step.to_settle is not None
        ),
        *_looked_at_again(chosen),
        *(f"{note[:1].upper()}{note[1:]}." for note in steps.notes),
    ]
    return Table(
        title="Steps from one turn to the next",
        header=("turn", "change", "SD", "ratio", "t", "df", "p", "adj. p", "pairs", "state"),
        rows=tuple(_step_row(step) for step in chosen),
        align=">>>>>>>>><",
        notes=tuple(notes),
    )


def _looked_at_again(steps: list[Step]) -> Iterator[str]:
    if any(step.to_settle is not None and step.to_settle.more_runs for step in steps):
        yield (
            "A test that is repeated as runs are added finds steps that are not there; "
            "turncurve power steps has a |t| that may be looked at after every trial."
        )


def _step_row(step: Step) -> tuple[str, ...]:
    return (
        f"{step.turn:,}",
        signed(step.delta),
        amount(step.paired_sd),
        amount(step.ratio, digits=1),
        amount(step.t, digits=1),
        ABSENT if step.df is None else f"{step.df:g}",
        _p(step.p),
        _p(step.p_adjusted),
        f"{step.n_pairs:,}",
        step.state,
    )


def _p(value: float | None) -> str:
    if value is None:
        return ABSENT
    return "<.0001" if value < 1e-4 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def _shape_facts(result: Cliff) -> Iterator[tuple[str, str]]:
    shape = result.shape
    yield "verdict", _shape_words(result)
    if shape is None:
        return
    if shape.turns_confidence_set:
        yield "where", f"turn {_turns(shape.turns_confidence_set)}, at {_percent(shape.alpha)}."
    yield "best step", _departure(shape.step, "turn")
    yield "best knee", _departure(shape.kink, "after turn")
    yield "best lone turn", _departure(shape.lone_turn, "turn")
    yield "slope", f"{signed(shape.slope.value)} a turn {_limits_of(shape.slope)}."
    visible = shape.smallest_visible_step
    yield (
        "visible",
        (
            "no step could be found with so few units."
            if visible is None
            else f"a step of {amount(visible, digits=2)} would be found with a chance of 80 %."
        ),
    )
    yield from _screening_words(result)


def _screening_words(result: Cliff) -> Iterator[tuple[str, str]]:
    found = result.screening
    if found is None:
        return
    cut = f"would be cut at turn {_turns(found.turns)}" if found.turns else "would not be cut"
    yield (
        "screening",
        (
            f"the mean curve, detrended and standardised, {cut}; two lines fit it better than one "
            f"by most at turn {found.sup_f_turn:,}. Places to look at; no chance of error goes "
            "with them."
        ),
    )


def _turns(turns: tuple[int, ...]) -> str:
    if len(turns) > 2 and turns[-1] - turns[0] == len(turns) - 1:
        return f"{turns[0]} to {turns[-1]}"
    return ", ".join(map(str, turns))


def _percent(alpha: float) -> str:
    return f"{100 * (1 - alpha):g} %"


def _departure(found: Departure, place: str) -> str:
    return (
        f"{signed(found.size.value)} {_limits_of(found.size)} at {place} {found.turn}, "
        f"net of each unit's line; p {_p(found.p)} for the best of all turns and forms."
    ).replace(f"at after turn {found.turn}", f"after turn {found.turn}")


def _limits_of_move(mean: Mean) -> str:
    """The limits of a fall or rise, in its own direction."""
    if mean.value >= 0 or mean.low is None or mean.high is None:
        return _limits_of(mean)
    return interval(-mean.high, -mean.low)


def _limits_of(mean: Mean) -> str:
    return interval(mean.low, mean.high)


def _lies(result: Cliff) -> Iterator[tuple[str, str]]:
    yield from composition_words(result)
    if result.event is None:
        yield "event", f"not lined up: {result.no_event}."
    else:
        yield from _event_facts(result.event)
    yield "tokens", f"{result.tokens.verdict}: {result.tokens.why}."


def composition_words(result: Cliff) -> Iterator[tuple[str, str]]:
    """Whether runs that leave make up the curve, and the four readings of it."""
    found = result.composition
    yield "composition", f"{found.verdict}: {found.why}."
    if found.active.value is not None:
        yield f"to turn {found.horizon:,}", _readings(found)


def _readings(found: Composition) -> str:
    readings = {
        "still there": found.active,
        f"the same {found.n_balanced:,} runs": found.balanced,
        "weighted for those cut short": found.ipcw,
        "with failures at the floor": found.composite,
    }
    return "; ".join(f"{name} {_changed(change)}" for name, change in readings.items()) + "."


def _changed(change: Change) -> str:
    if change.value is None:
        return f"not known ({change.reason})"
    error = "" if change.std_error is None else f" (SE {amount(change.std_error)})"
    return f"{signed(change.value)}{error}"


def _event_facts(event: EventStep) -> Iterator[tuple[str, str]]:
    excluded = "; ".join(f"{reason}: {n:,}" for reason, n in event.excluded.items())
    by_turn = {step.width: step for step in event.steps_by_turn}
    for step in event.steps_by_offset:
        at = by_turn.get(step.width)
        beside = "" if at is None else f"; by turn at most {signed(at.delta)} (turn {at.turn})"
        placebo = "" if step.placebo_p is None else f"; placebo p {_p(step.placebo_p)}"
        width = "one turn" if step.width == 1 else f"{step.width} turns"
        yield (
            f"at the {event.event}",
            (
                f"{signed(step.delta)} {interval(step.low, step.high)} in "
                f"{counted(step.n_runs, 'run')}, {width} on either side{beside}{placebo}."
            ),
        )
    if excluded or event.n_multiple:
        multiple = f"; more than once: {event.n_multiple:,}, the first counts"
        yield "left out", f"{excluded or 'none'}{multiple if event.n_multiple else ''}."


def limit_words(result: Cliff) -> Iterator[tuple[str, str]]:
    """What the numbers do not say: other scenarios, and what is the cause."""
    yield (
        "suite or population",
        (
            "changes, SDs and intervals say what running these scenarios again would give; JSON "
            "has the error for other scenarios beside them (population_std_error)."
        ),
    )
    if result.event is not None:
        yield (
            "cause",
            (
                f"a step at the {result.event.event} is no proof that it is the cause. Runs with "
                "and without it at equal turns, drawn by lot, would tell."
            ),
        )
    else:
        yield "cause", "a step at a turn does not say what made it."
