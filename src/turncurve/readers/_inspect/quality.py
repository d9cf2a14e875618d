"""Judgements turn by turn that an Inspect log holds: graded traces, rubric scores in metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from turncurve.model import Grade
from turncurve.readers import graded_turns, judged_numbers
from turncurve.readers._graded_steps import grade_of_step
from turncurve.readers.fields import as_float, as_int, as_name

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage

GRADED_TRACE = "inspect_degradation.graded_trace"
PER_TURN = ("turncurve.quality", "turn_scores", "per_turn")
"""Keys of score metadata whose value gives a number a turn; the first that stands counts."""
SCALE = ("turncurve.scale", "scale")
"""Keys beside them whose value is [lowest, highest]."""
_NUMBER_KEYS = ("score", "quality", "value")


@dataclass(slots=True, kw_only=True)
class TurnJudgements:
    """What the scores of a sample say of its turns, by turn index."""

    values: dict[int, dict[str, float]] = field(default_factory=dict)
    grades: dict[int, tuple[Grade, ...]] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    by_rule: tuple[str, Mapping[str, Any]] | None = None
    """Name of the score, and its record, whose verdicts go by a rule over signals."""
    notes: list[str] = field(default_factory=list)


def per_turn_scores(metadata: Mapping[str, Any]) -> dict[int, float]:
    """Numbers by turn index in a score's metadata; {} if it has none.

    Understood under each key of `PER_TURN`: a list of numbers (the first is turn 1's), a list of
    objects with `turn` (from 1) and one of `score`, `quality`, `value`, or a mapping of turn to
    number. A null is a turn without a score.
    """
    for key in PER_TURN:
        found = _numbers_by_turn(metadata.get(key))
        if found:
            return found
    return {}


def judgements_of(
    sample: EvalSample, n_turns: int, message_turns: Mapping[str, int]
) -> TurnJudgements:
    """Everything that the sample's scores say of the turns of its main agent.

    Args:
        sample: The sample.
        n_turns: Number of turns of the main agent.
        message_turns: Turn index by the id of the message that the turn's model call gave.
    """
    judged = TurnJudgements()
    for name, metadata in _metadata_of(sample):
        trace = metadata.get(GRADED_TRACE)
        if isinstance(trace, Mapping):
            _add_grades(judged, trace, sample.messages, n_turns, message_turns)
        scores = per_turn_scores(metadata)
        if scores:
            _add_scores(judged, name, scores, _scale(metadata), n_turns)
        record = metadata.get(graded_turns.KEY)
        if isinstance(record, Mapping):
            _add_judgement(judged, name, record, n_turns)
    return judged


def add_verdicts_by_rule(judged: TurnJudgements, n_turns: int) -> None:
    """Let the verdicts of a rule over signals stand in where nothing else judges the turns.

    Of several such scores the last is the one.
    """
    if judged.by_rule is None:
        return
    name, record = judged.by_rule
    if judged.grades or any("quality" in values for values in judged.values.values()):
        judged.notes.append(
            f"the verdicts of the score {name!r}, which go by a rule over signals, were left out: "
            "the turns have grades or scores of their own"
        )
        return
    judged.notes.append(f"error: the verdicts of the score {name!r}, {graded_turns.BY_RULE}")
    _add_record(judged, name, record, n_turns)


def judges_turns(metadata: Mapping[str, Any]) -> bool:
    """Whether a score with this metadata judges turns: its own number is then no verdict."""
    return (
        GRADED_TRACE in metadata or graded_turns.KEY in metadata or bool(per_turn_scores(metadata))
    )


def _metadata_of(sample: EvalSample) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, score in (sample.scores or {}).items():
        yield name, score.metadata or {}
    if GRADED_TRACE in sample.metadata:
        yield "sample", {GRADED_TRACE: sample.metadata[GRADED_TRACE]}


def _numbers_by_turn(found: object) -> dict[int, float]:
    if isinstance(found, Mapping):
        pairs = [(_turn(key), as_float(value)) for key, value in found.items()]
    elif isinstance(found, list) and any(isinstance(item, Mapping) for item in found):
        pairs = [_pair(item) for item in found if isinstance(item, Mapping)]
    elif isinstance(found, list):
        pairs = [(index, as_float(value)) for index, value in enumerate(found, start=1)]
    else:
        return {}
    return {turn: value for turn, value in pairs if turn is not None and value is not None}


def _turn(key: object) -> int | None:
    turn = int(key) if isinstance(key, str) and key.isdecimal() else as_int(key)
    return turn if turn is not None and turn >= 1 else None


def _pair(item: Mapping[str, Any]) -> tuple[int | None, float | None]:
    number = next((item[key] for key in _NUMBER_KEYS if key in item), None)
    return _turn(item.get("turn")), as_float(number)


def _scale(metadata: Mapping[str, Any]) -> tuple[float, float] | None:
    for key in SCALE:
        given = metadata.get(key)
        if isinstance(given, list) and len(given) == 2:
            low, high = as_float(given[0]), as_float(given[1])
            if low is not None and high is not None and low < high:
                return low, high
    return None


def _add_scores(
    judged: TurnJudgements,
    name: str,
    scores: Mapping[int, float],
    scale: tuple[float, float] | None,
    n_turns: int,
) -> None:
    first = not any("quality" in values for values in judged.values.values())
    signal = "quality" if first else name
    kept = {turn: number for turn, number in scores.items() if turn <= n_turns}
    for turn, number in kept.items():
        judged.values.setdefault(turn, {})[signal] = number
    if first and kept:
        within = all(0 <= number <= 1 for number in kept.values())
        judged.scale = scale or ((0.0, 1.0) if within else None)
        source = "" if scale else ", its scale taken to be 0 to 1" if within else ", no scale given"
        judged.notes.append(f"quality: the score {name!r}{source}")
    _note_beyond(judged, name, n_turns, len(scores) - len(kept))


def _add_grades(
    judged: TurnJudgements,
    trace: Mapping[str, Any],
    messages: Sequence[ChatMessage],
    n_turns: int,
    message_turns: Mapping[str, int],
) -> None:
    metadata = trace.get("metadata")
    grader = as_name(metadata.get("grader")) if isinstance(metadata, Mapping) else None
    steps = [step for step in trace.get("steps") or [] if isinstance(step, Mapping)]
    turns = _turns_of_steps(len(steps), n_turns, messages, message_turns)
    lost = 0
    for position, step in enumerate(steps):
        index = as_int(step.get("step_index"))
        turn = turns.get(position if index is None else index)
        if turn is None:
            lost += 1
            continue
        judged.grades[turn] = (*judged.grades.get(turn, ()), grade_of_step(step, grader=grader))
    if lost:
        judged.notes.append(
            f"steps of {GRADED_TRACE} that are no model call of their own (a second tool result "
            f"of a call, say), whose grades were left out: {lost} of {len(steps)}"
        )


def _add_judgement(
    judged: TurnJudgements, name: str, record: Mapping[str, Any], n_turns: int
) -> None:
    """Take in what one of this package's scorers left."""
    if judged_numbers.holds_numbers(record):
        _add_numbers(judged, name, record, n_turns)
    elif graded_turns.source_of(record) == "rule":
        judged.by_rule = name, record
    else:
        _add_record(judged, name, record, n_turns)


def _add_numbers(
    judged: TurnJudgements, name: str, record: Mapping[str, Any], n_turns: int
) -> None:
    """A rubric's numbers; a second one of the same name stands under the score's own."""
    found = judged_numbers.numbers_of(record, n_turns=n_turns)
    taken = {signal for values in judged.values.values() for signal in values}
    taken.discard(judged_numbers.MISSING)
    for turn, numbers in found.items():
        values = judged.values.setdefault(turn, {})
        for signal, number in numbers.items():
            values[f"{name}_{signal}" if signal in taken else signal] = number
    given = dict.fromkeys(signal for numbers in found.values() for signal in numbers)
    if "quality" in given and "quality" not in taken:
        judged.scale = _scale(record)
    construct = as_name(record.get("construct"))
    of = f", {construct}" if construct else ""
    judged.notes += [
        f"{signal}: the score {name!r}{of}"
        for signal in given
        if signal not in taken and signal != judged_numbers.MISSING
    ]
    _note_beyond(judged, name, n_turns, len(record["asked"]) - n_turns)


def _add_record(judged: TurnJudgements, name: str, record: Mapping[str, Any], n_turns: int) -> None:
    if graded_turns.source_of(record) is None:
        judged.notes.append(f"the graded turns of the score {name!r} are of an unknown schema")
        return
    for turn, grade in graded_turns.grades_of(record, n_turns=n_turns).items():
        judged.grades[turn] = (*judged.grades.get(turn, ()), grade)
    _note_beyond(judged, name, n_turns, len(record["validity"]) - n_turns)


def _note_beyond(judged: TurnJudgements, name: str, n_turns: int, n_beyond: int) -> None:
    if n_beyond > 0:
        judged.notes.append(
            f"turns beyond the last turn {n_turns} that the score {name!r} judges, left out: "
            f"{n_beyond}"
        )


def _turns_of_steps(
    n_steps: int, n_turns: int, messages: Sequence[ChatMessage], message_turns: Mapping[str, int]
) -> dict[int, int]:
    """Turn by step index, where a step is a turn.

    The grader makes one step of each assistant message, and one more of every tool result after
    the first that follows it.
    """
    if n_steps <= n_turns:
        return {step: step + 1 for step in range(n_turns)}
    found = dict[int, int]()
    step, order, is_open = 0, 0, False
    for message in messages:
        if message.role == "assistant":
            order += 1
            turn = message_turns.get(message.id or "", order)
            if turn <= n_turns:
                found[step] = turn
            step, is_open = step + 1, True
        elif message.role == "tool":
            step, is_open = step + (not is_open), False
        elif message.role == "user":
            is_open = False
    return found
