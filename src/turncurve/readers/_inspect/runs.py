"""One Inspect sample of one epoch to the runs of its agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from turncurve.model import Event, Run, Turn
from turncurve.readers._inspect.agents import AgentDraft
from turncurve.readers._inspect.outcome import outcome_of
from turncurve.readers._inspect.quality import (
    TurnJudgements,
    add_verdicts_by_rule,
    judgements_of,
)
from turncurve.readers._inspect.sample import Reading, read_sample
from turncurve.readers._inspect.usage import RULE_NOTES, summed, totals_of
from turncurve.readers._models import most_used_model
from turncurve.readers.absent import absent_signals

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

_ABSENT = {
    "context_tokens": "no model call of the sample has token counts",
    "cached_input_tokens": "no model call of the sample has a count of cached tokens",
    "output_tokens": "no model call of the sample has token counts",
    "cost_usd": "the log gives no cost (Inspect writes one where the model's prices are set)",
    "quality": "no score of the log judges turns",
    "error": "no score of the log holds grades of turns",
    "seconds": "the log gives no time for the sample's model calls",
}
_ABSENT_FROM_MESSAGES = {
    "started_at": "the log has no events, and messages bear no time",
    "compaction": "the log has no events, so that compactions can't be seen",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogContext:
    """What all samples of one log share."""

    path: str
    task: str
    model: str | None
    eval_id: str
    status: str
    graduated: frozenset[str] = frozenset()


def runs_of(sample: EvalSample, log: LogContext, record: str | int) -> Iterator[Run]:
    """The runs of a sample: its main agent's first, then those of the agents beneath.

    Args:
        sample: The sample, with its attachments resolved.
        log: Its log.
        record: Where the sample stands in the file.
    """
    reading = read_sample(sample)
    names = _names(f"{log.task}/{sample.id}/{sample.epoch}@{log.eval_id}", reading.drafts)
    for draft, (name, parent) in zip(reading.drafts, names, strict=True):
        turns = [turn.turn(index) for index, turn in enumerate(draft.turns, start=1)]
        judged = TurnJudgements()
        if parent is None:
            judged = judgements_of(sample, len(turns), draft.message_turns())
        _add_intermediate(judged, draft)
        add_verdicts_by_rule(judged, len(turns))
        run = _run(sample, log, draft, [_with_judgements(turn, judged) for turn in turns])
        run = replace(
            run,
            id=name,
            parent=parent,
            record=record,
            quality_scale=judged.scale,
            absent=_absent(run.turns, from_messages=reading.from_messages),
            notes=(*run.notes, *judged.notes),
        )
        yield run if parent is not None else _with_outcome(run, sample, log, reading)


def _run(sample: EvalSample, log: LogContext, draft: AgentDraft, turns: Sequence[Turn]) -> Run:
    return Run(
        id="",
        turns=tuple(turns),
        format="inspect",
        path=log.path,
        scenario=f"{log.task}/{sample.id}",
        trial=sample.epoch if sample.epoch >= 1 else None,
        model=most_used_model(turns) or log.model,
        agent="/".join(draft.path) or "main",
        events=tuple(draft.events),
        notes=tuple(RULE_NOTES[rule] for rule in sorted(draft.rules)),
    )


def _with_outcome(run: Run, sample: EvalSample, log: LogContext, reading: Reading) -> Run:
    outcome = outcome_of(sample, log.status, log.graduated)
    events = run.events
    if sample.limit is not None and not any(event.kind == "limit" for event in events):
        last = Event(kind="limit", turn=len(run.turns) + 1, detail={"type": sample.limit.type})
        events = (*events, last)
    without_usage = all(turn.usage is None for turn in run.turns)
    totals = totals_of(sample.model_usage) if without_usage and not reading.grader else None
    return replace(
        run,
        events=events,
        exit_type=outcome.exit_type,
        exit_text=outcome.exit_text,
        success=outcome.success,
        score=outcome.score,
        totals=totals,
        grader_usage=summed(reading.grader),
        notes=(*_reading_notes(run, sample, reading), *run.notes, *outcome.notes),
    )


def _names(base: str, drafts: Sequence[AgentDraft]) -> list[tuple[str, str | None]]:
    """The id of each agent's run, and that of the run above it; the first is the main run."""
    names: list[tuple[str, str | None]] = [(base, None)]
    by_path = {drafts[0].path: base}
    times = Counter([drafts[0].path])
    for draft in drafts[1:]:
        times[draft.path] += 1
        nth = f"#{times[draft.path]}" if times[draft.path] > 1 else ""
        name = f"{base}:{'/'.join(draft.path) or 'main'}{nth}"
        above = (draft.path[:length] for length in range(len(draft.path) - 1, -1, -1))
        names.append((name, next((by_path[path] for path in above if path in by_path), base)))
        by_path[draft.path] = name
    return names


def _add_intermediate(judged: TurnJudgements, draft: AgentDraft) -> None:
    """Scores given while the agent ran are its quality, where one scorer gave them all."""
    scorers = {name for scores in draft.scores.values() for name in scores}
    taken = any("quality" in values for values in judged.values.values())
    is_quality = len(scorers) == 1 and not taken
    for turn, scores in draft.scores.items():
        for scorer, number in scores.items():
            name = "quality" if is_quality else scorer
            judged.values.setdefault(turn, {}).setdefault(name, number)
    if is_quality:
        numbers = [number for scores in draft.scores.values() for number in scores.values()]
        if all(0 <= number <= 1 for number in numbers):
            judged.scale = (0.0, 1.0)
        judged.notes.append(
            f"quality: the intermediate scores of {scorers.pop()!r}, each that of the turn before"
        )


def _with_judgements(turn: Turn, judged: TurnJudgements) -> Turn:
    values, grades = judged.values.get(turn.index, {}), judged.grades.get(turn.index, ())
    return replace(turn, values=values, grades=grades) if values or grades else turn


def _absent(turns: Sequence[Turn], *, from_messages: bool) -> dict[str, str]:
    if not turns:
        return dict.fromkeys(_ABSENT, "the log has no model call of the agent")
    return absent_signals(turns, _ABSENT | (_ABSENT_FROM_MESSAGES if from_messages else {}))


def _reading_notes(run: Run, sample: EvalSample, reading: Reading) -> Iterator[str]:
    if not run.turns:
        yield (
            "no turns: the log holds no call of the agent's model"
            + (" (its agent ran outside Inspect)" if sample.events else "")
        )
    if reading.from_messages:
        yield "the log has no events: its turns are the assistant messages of the conversation"
    if reading.n_pending:
        yield f"model calls that never came back, left out: {reading.n_pending}"
    if reading.n_summaries:
        yield f"model calls that wrote a compaction's summary, no turns: {reading.n_summaries}"
    if reading.n_probes:
        yield f"model calls of probes, no turns: {reading.n_probes}"
    if sample.error_retries:
        yield f"errors after which the sample was tried again: {len(sample.error_retries)}"
    if sample.invalidation is not None:
        yield "the sample was marked invalid in the log"
