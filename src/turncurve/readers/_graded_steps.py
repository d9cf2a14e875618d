"""A graded step of an agent's trace, as the degradation grader for Inspect writes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

from turncurve.model import Construct, Grade, Validity
from turncurve.readers.fields import as_name, as_text

Level: TypeAlias = Literal["low", "medium", "high"]
Dependency: TypeAlias = Literal["independent", "dependent", "n/a"]
W = TypeVar("W")

_VALIDITY: dict[str, Validity] = {"fail": "fail", "neutral": "neutral", "pass": "pass"}
_LEVEL: dict[str, Level] = {"low": "low", "medium": "medium", "high": "high"}
_DEPENDENCY: dict[str, Dependency] = {
    "independent": "independent",
    "dependent": "dependent",
    "n/a": "n/a",
}
CONSTRUCTS: dict[str, Construct] = {"hindsight": "hindsight", "no_hindsight": "no_hindsight"}


def grade_of_step(
    step: Mapping[str, Any], *, grader: str | None = None, construct: Construct | None = None
) -> Grade:
    """The judgement in a step.

    A parse error of the grader's answer makes it missing, whatever validity was filled in for it.

    Args:
        step: `{validity, complexity, dependency, severity, is_looping, construct, grader_model,
            raw}`, all of which may be absent.
        grader: Who graded, where the step does not say.
        construct: What the grader knew, where the step does not say.
    """
    get = step.get
    words = (
        as_name(get("grader_model")) or grader or "unknown",
        get("validity"),
        get("complexity"),
        get("dependency"),
        get("severity"),
        get("is_looping"),
        get("construct") or construct,
    )
    fault = parse_error(step)
    if fault is None:
        try:
            return _known(*words)
        except TypeError:  # a list or a mapping where a word should be, or an unusual word
            pass
    return _grade(*words, fault=fault)


def _grade(grader: str, *words: object, fault: str | None = None) -> Grade:
    validity, complexity, dependency, severity, looping, construct = words
    judged = _one_of(_VALIDITY, validity)
    if fault is None and judged is None:
        fault = f"wanted validity fail, neutral or pass, got {validity!r}"
    return Grade(
        grader=grader,
        validity=None if fault else judged,
        complexity=_one_of(_LEVEL, complexity),
        dependency=_one_of(_DEPENDENCY, dependency),
        severity=_one_of(_LEVEL, severity),
        looping=looping if isinstance(looping, bool) else None,
        missing_reason=fault,
        construct=_one_of(CONSTRUCTS, construct),
    )


_LONG = 200
_WORDS = frozenset({*_VALIDITY, *_LEVEL, *_DEPENDENCY, *CONSTRUCTS, None, True, False})


@lru_cache(maxsize=1024, typed=True)
def _known(grader: str, *words: object) -> Grade:
    """One grade for all steps that were judged the same in usual words: there are few of them."""
    if len(grader) > _LONG or not _WORDS.issuperset(words):
        raise TypeError
    return _grade(grader, *words)


def _one_of(words: Mapping[str, W], value: object) -> W | None:
    return words.get(value if type(value) is str else as_text(value))


def parse_error(step: Mapping[str, Any]) -> str | None:
    """Why the grader's answer to a step did not parse; None if it did."""
    raw = step.get("raw")
    fault = raw.get("parse_error") if isinstance(raw, dict) else None
    return (as_text(fault) or "the grader's answer did not parse") if fault else None
