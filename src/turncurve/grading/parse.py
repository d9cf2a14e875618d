"""A grader's reply to an answer, or to why there is none: no text of it is ever evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from turncurve.grading.dimensions import Answer, broken_invariant
from turncurve.grading.rubric import Rubric
from turncurve.readers.grade_lines import Absence

_THOUGHT = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_FENCED = re.compile(r"```[ \t]*(?:json|JSON)?[ \t]*\r?\n(.*?)```", re.DOTALL)
MOST_CHARACTERS = 200_000
"""A reply is read this far: an answer is some hundred characters."""
MOST_OBJECTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """An answer, or why there is none."""

    answer: Answer | None = None
    missing: Absence | None = None


def parse_answer(text: str, rubric: Rubric, turn: int) -> Parsed:
    """The answer in a reply: blocks of reasoning, fences and words around it are read over.

    Of several JSON objects the last one that has every key counts. Keys that were not asked for
    are left out. A value outside of its set, or values that do not fit together, make no answer.

    Args:
        text: The reply.
        rubric: What was asked.
        turn: The turn that was judged.
    """
    names = [one.name for one in rubric.dimensions]
    objects = [*_objects(without_thoughts(text[:MOST_CHARACTERS]))]
    if not objects:
        return _none("no JSON", "the reply has no JSON object")
    whole = [one for one in objects if all(name in one for name in names)]
    if not whole:
        lacking = ", ".join(name for name in names if name not in objects[-1])
        return _none("broken invariant", f"the JSON object lacks: {lacking}")
    answer = {name: whole[-1][name] for name in names}
    for one in rubric.dimensions:
        if not one.accepts(answer[one.name], turn):
            said = json.dumps(answer[one.name], default=str)[:80]
            wanted = one.wanted(turn)
            return _none("broken invariant", f"{one.name}: wanted {wanted}, got {said}")
    broken = broken_invariant(rubric.kind, answer)
    return Parsed(answer=answer) if broken is None else _none("broken invariant", broken)


def parse_text(text: str) -> Parsed:
    """A reply that is wanted as a text, without blocks of reasoning."""
    words = without_thoughts(text[:MOST_CHARACTERS]).strip()
    if not words:
        return _none("broken invariant", "the reply is empty")
    return Parsed(answer={"text": words})


def without_thoughts(text: str) -> str:
    """A reply without the blocks in which a model reasons."""
    return _THOUGHT.sub("", text)


def _none(reason: Any, detail: str) -> Parsed:
    return Parsed(missing=Absence(reason=reason, detail=detail))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Each JSON object of a text, those in fences last: they are what is meant to be read."""
    yield from _outer_objects(_FENCED.sub(" ", text))
    for fenced in _FENCED.finditer(text):
        yield from _outer_objects(fenced[1])


def _outer_objects(text: str) -> Iterator[dict[str, Any]]:
    """Each JSON object that lies in no other."""
    decoder = json.JSONDecoder()
    at = n_tried = 0
    while (at := text.find("{", at)) >= 0 and n_tried < MOST_OBJECTS:
        n_tried += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        at = end
        yield value
