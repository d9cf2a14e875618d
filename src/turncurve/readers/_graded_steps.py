"""A graded step of an agent's trace, as the degradation grader for Inspect writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from turncurve.model import Grade, Validity
from turncurve.readers._items import as_mapping
from turncurve.readers.fields import as_name, as_text

Level: TypeAlias = Literal["low", "medium", "high"]

_VALIDITY: dict[str, Validity] = {"fail": "fail", "neutral": "neutral", "pass": "pass"}
_LEVEL: dict[str, Level] = {"low": "low", "medium": "medium", "high": "high"}
_DEPENDENCY: dict[str, Literal["independent", "dependent", "n/a"]] = {
    "independent": "independent",
    "dependent": "dependent",
    "n/a": "n/a",
}


def grade_of_step(step: Mapping[str, Any], *, grader: str | None = None) -> Grade:
    """The judgement in a step.

    A parse error of the grader's answer makes it missing, whatever validity was filled in for it.

    Args:
        step: `{validity, complexity, dependency, severity, is_looping, grader_model, raw}`, all of
            which may be absent.
        grader: Who graded, where the step does not say.
    """
    validity = _VALIDITY.get(as_text(step.get("validity")))
    reason = parse_error(step)
    if reason is None and validity is None:
        reason = f"wanted validity fail, neutral or pass, got {step.get('validity')!r}"
    looping = step.get("is_looping")
    return Grade(
        grader=as_name(step.get("grader_model")) or grader or "unknown",
        validity=None if reason else validity,
        complexity=_LEVEL.get(as_text(step.get("complexity"))),
        dependency=_DEPENDENCY.get(as_text(step.get("dependency"))),
        severity=_LEVEL.get(as_text(step.get("severity"))),
        looping=looping if isinstance(looping, bool) else None,
        missing_reason=reason,
    )


def parse_error(step: Mapping[str, Any]) -> str | None:
    """Why the grader's answer to a step did not parse; None if it did."""
    fault = as_mapping(step.get("raw")).get("parse_error")
    return (as_text(fault) or "the grader's answer did not parse") if fault else None
