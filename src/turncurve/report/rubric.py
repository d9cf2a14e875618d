"""A rubric as a grader gets it, in words and JSON."""

from __future__ import annotations

from typing import Any

from turncurve.grading.dimensions import as_said
from turncurve.grading.prompt import system_text
from turncurve.grading.rubric import Rubric
from turncurve.grading.tokens import estimated_tokens
from turncurve.report.figures import counted
from turncurve.report.plain import plain

SCHEMA_VERSION = "1.0"


def rubric_json(rubric: Rubric) -> dict[str, Any]:
    """The rubric as plain values: what the grader is told, and what it may answer."""
    return {
        "schema_version": SCHEMA_VERSION,
        **plain({name: getattr(rubric, name) for name in ("name", "version", "kind", "digest")}),
        "construct": rubric.construct,
        "system": system_text(rubric),
        "answer_schema": rubric.schema,
        "tokens": estimated_tokens(system_text(rubric)),
    }


def rubric_line(rubric: Rubric) -> str:
    """What it is, in a sentence."""
    n = sum(len(one.values) for one in rubric.dimensions)
    return (
        f"{rubric.id} ({rubric.kind}): {counted(len(rubric.dimensions), 'question')} with "
        f"{counted(n, 'answer')}, about {estimated_tokens(system_text(rubric)):,} tokens, "
        f"digest {rubric.digest}; {rubric.construct}."
    )


def rubric_text(rubric: Rubric) -> str:
    """What it is, and all that a grader is told before any run."""
    answers = "\n".join(
        f"  {one.name}: {', '.join(map(as_said, one.values)) or 'number of an earlier turn'}"
        + (", null" if one.or_null else "")
        for one in rubric.dimensions
    )
    return (
        f"{rubric_line(rubric)}\n\nANSWERS\n{answers}\n\nTHE GRADER IS TOLD\n{system_text(rubric)}"
    )
