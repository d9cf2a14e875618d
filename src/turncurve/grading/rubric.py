"""A rubric: what a grader is asked of each turn, with its version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from turncurve.grading.dimensions import Dimension, answer_schema, as_said
from turncurve.readers.grade_lines import Kind, RubricMark, Value

Sees: TypeAlias = Literal["results", "action"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What is asked of each turn.

    Attributes:
        name: As the file says.
        version: From 1; raised with every change of a word.
        kind: What the answers are.
        instructions: What the grader is told to do.
        dimensions: What it may answer.
        sees: Whether it sees the results of the turn's own tool calls; never anything later.
        restated: Whether the objective is judged as a copy of the turn's state restates it when
            asked, and not as the turn itself says it; of the kind `fidelity` only.
    """

    name: str
    version: int
    kind: Kind
    instructions: str
    dimensions: tuple[Dimension, ...]
    sees: Sees = "results"
    restated: bool = False

    @property
    def id(self) -> str:
        """Name and version."""
        return f"{self.name}@{self.version}"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of an answer."""
        return answer_schema(self.dimensions)

    @property
    def digest(self) -> str:
        """Of all that a grader is told by it; comments and layout of the file are no part."""
        told = [self.kind, self.sees, self.text(), self.schema]
        if self.restated:
            told.append("restated")
        return blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=8).hexdigest()

    @property
    def construct(self) -> str:
        """What a grade by it is of, so that two constructs are not mixed."""
        if self.restated:
            return "objective as restated in a copy of the turn's state"
        if self.kind == "fidelity":
            return "objective as restated in the turn"
        own = "own results shown" if self.sees == "results" else "own results hidden"
        return f"no hindsight, {own}"

    def mark(self) -> RubricMark:
        """As a grade file says it."""
        levels = [v for one in self.dimensions for v in one.values if type(v) is int]
        scaled = self.kind in ("score", "fidelity")
        return RubricMark(
            name=self.name,
            version=self.version,
            digest=self.digest,
            kind=self.kind,
            low=float(min(levels)) if scaled else None,
            high=float(max(levels)) if scaled else None,
            construct=self.construct,
        )

    def text(self) -> str:
        """Instructions and questions as the grader reads them."""
        parts = [self.instructions.strip(), "Answer with one JSON object with exactly these keys:"]
        parts += [_question(one) for one in self.dimensions]
        return "\n\n".join(parts)


def _question(dimension: Dimension) -> str:
    allowed = [*map(_quoted, dimension.values), *(["null"] if dimension.or_null else [])]
    told = " | ".join(allowed) if dimension.values else "number of an earlier turn | null"
    lines = [f'"{dimension.name}": {told}', f"  {dimension.question}"]
    lines += [f"  - {value}: {meaning}" for value, meaning in dimension.meanings]
    return "\n".join(lines)


def _quoted(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else as_said(value)
