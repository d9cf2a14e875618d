"""A graded step of an agent's trace, as the degradation grader for Inspect writes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

from turncurve.model import Grade, Validity
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


_LONG = 200


def grade_of_step(step: Mapping[str, Any], *, grader: str | None = None) -> Grade:
    """The judgement in a step.

    A parse error of the grader's answer makes it missing, whatever validity was filled in for it.

    Args:
        step: `{validity, complexity, dependency, severity, is_looping, grader_model, raw}`, all of
            which may be absent.
        grader: Who graded, where the step does not say.
    """
    get = step.get
    validity = _one_of(_VALIDITY, get("validity"))
    reason = parse_error(step)
    if reason is None and validity is None:
        reason = f"wanted validity fail, neutral or pass, got {get('validity')!r}"
    looping = get("is_looping")
    words = (
        as_name(get("grader_model")) or grader or "unknown",
        None if reason else validity,
        _one_of(_LEVEL, get("complexity")),
        _one_of(_DEPENDENCY, get("dependency")),
        _one_of(_LEVEL, get("severity")),
        looping if isinstance(looping, bool) else None,
        reason,
    )
    return _known(*words) if reason is None and len(words[0]) <= _LONG else _grade(*words)


def _grade(
    grader: str,
    validity: Validity | None,
    complexity: Level | None,
    dependency: Dependency | None,
    severity: Level | None,
    looping: bool | None,  # noqa: FBT001 - as it stands in the step
    reason: str | None,
) -> Grade:
    return Grade(
        grader=grader,
        validity=validity,
        complexity=complexity,
        dependency=dependency,
        severity=severity,
        looping=looping,
        missing_reason=reason,
    )


_known = lru_cache(maxsize=1024)(_grade)
"""One grade for all steps that were judged the same: there are few of them."""


def _one_of(words: Mapping[str, W], value: object) -> W | None:
    return words.get(value if type(value) is str else as_text(value))


def parse_error(step: Mapping[str, Any]) -> str | None:
    """Why the grader's answer to a step did not parse; None if it did."""
    raw = step.get("raw")
    fault = raw.get("parse_error") if isinstance(raw, dict) else None
    return (as_text(fault) or "the grader's answer did not parse") if fault else None
