"""The report's word on whether the drop is real: one sentence, what it survives, its limits."""

from __future__ import annotations

from dataclasses import dataclass

from turncurve.analysis.cliff import Cliff, CliffSettings, cliff
from turncurve.analysis.composition import Verdict
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.quality import QualitySignal
from turncurve.analysis.run_lengths import last_turns
from turncurve.analysis.settings import Settings
from turncurve.analysis.steps import Step
from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.report.cliff import composition_words, foremost, limit_words, sentence
from turncurve.report.figures import counted
from turncurve.stats.shape import Verdict as ShapeVerdict
from turncurve.table import TurnTable

MOST_CELLS = 2_000_000
"""Runs times the longest one's turns that a report looks at turn by turn."""
FLIPS = 2_000

_OWN_COMMAND = "`turncurve cliff` looks at them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Whether the curve of the quality signal has a real drop; `turncurve cliff` gives it whole.

    Attributes:
        sentence: What was found, or why nothing was looked for.
        step: The surest finding among the steps from one turn to the next, or else the step with
            the lowest adjusted p; None where no step could be judged.
        n_steps: Steps that were judged.
        n_findings: Those that are findings.
        n_to_watch: Those to watch.
        shape: The curve's shape, None where it cannot be told.
        shape_turn: Where the cliff, knee or lone turn stands; None without one.
        composition: What makes up the curve besides change within runs.
        event: Kind of event that the runs were lined up on; None without one.
        step_by_turn: The largest step by turn among the runs with the event, by the widest sides.
        step_by_offset: The step at the event, by sides as wide.
        facts: Label and words of what to know with the sentence.
    """

    sentence: str
    step: Step | None = None
    n_steps: int = 0
    n_findings: int = 0
    n_to_watch: int = 0
    shape: ShapeVerdict | None = None
    shape_turn: int | None = None
    composition: Verdict | None = None
    event: str | None = None
    step_by_turn: float | None = None
    step_by_offset: float | None = None
    facts: tuple[tuple[str, str], ...] = ()


def drop_of(table: TurnTable, quality: QualitySignal, settings: Settings) -> Drop:
    """Look at the steps of the signal that stands for quality, or say why that can't be done."""
    why = _not_to_look(table, quality)
    if why is not None:
        return Drop(sentence=why)
    asked = CliffSettings(
        signal=quality.name,
        quality_scale=settings.quality_scale,
        level=settings.level,
        seed=settings.seed,
        n_flips=FLIPS,
    )
    try:
        return _told(cliff(table, asked))
    except (InvariantError, NotEnoughDataError) as problem:
        return Drop(sentence=f"Not looked at turn by turn: {problem}.")


def _not_to_look(table: TurnTable, quality: QualitySignal) -> str | None:
    own = own_runs(table)
    longest = int(last_turns(table)[own].max(initial=0))
    conditions = {name for name in table.runs.condition[own].tolist() if name is not None}
    if quality.name is None:
        return f"Not looked at: {quality.why}."
    if own.sum() < 2:
        return "Not looked at: one run has no other to tell a step from chance."
    if len(conditions) > 1:
        many = counted(len(conditions), "condition")
        return f"Not looked at, as the runs are of {many}; {_OWN_COMMAND} one by one."
    if own.sum() * longest > MOST_CELLS:
        many = counted(int(own.sum()), "run")
        return f"Not looked at here, as {many} of up to {longest:,} turns are many; {_OWN_COMMAND}."
    return None


def _told(result: Cliff) -> Drop:
    states = [step.state for step in result.steps.steps]
    shape, event = result.shape, result.event
    at_event = event.steps_by_offset[-1] if event and event.steps_by_offset else None
    by_turn = {step.width: step.delta for step in event.steps_by_turn} if event else {}
    return Drop(
        sentence=sentence(result),
        step=foremost(result),
        n_steps=len(states),
        n_findings=states.count("finding"),
        n_to_watch=states.count("watch"),
        shape=shape.verdict if shape else None,
        shape_turn=shape.turn if shape else None,
        composition=result.composition.verdict,
        event=event.event if event else None,
        step_by_turn=by_turn.get(at_event.width) if at_event else None,
        step_by_offset=at_event.delta if at_event else None,
        facts=(*composition_words(result), *limit_words(result)),
    )
