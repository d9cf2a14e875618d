"""Output-schema validity: does a turn's output follow a JSON Schema?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from turncurve.errors import RuleError
from turncurve.model import Run, Turn
from turncurve.signals.adherence import OnTrouble, texts_of
from turncurve.signals.base import FloatArray, Signal, given, per_turn
from turncurve.table import SignalInfo

if TYPE_CHECKING:
    from turncurve.signals.json_schema import JsonSchema

TOOL_KEY = "x-turncurve-tool"
"""Top-level key of a schema file that names the tool whose arguments the schema is of."""


def schema_valid(run: Run) -> FloatArray:
    """Validity that the file itself gives, 1 or 0; NaN where it gives none.

    With an output schema it is worked out when runs are read: see `OutputSchema`.
    """
    return given(run, "schema_valid")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSchema:
    """What a turn's output should follow."""

    schema: JsonSchema
    applies_to: str = "text"
    """`text`, or the name of the tool whose arguments are the output."""

    def observe(self, run: Run, on_trouble: OnTrouble) -> FloatArray:
        """1 where all of the turn's output is JSON that follows the schema, 0 where some is not.

        NaN where the turn has no output to check, or telling took too long. White space around a
        text is left out; a code fence is not.
        """
        return per_turn(self._valid(turn, on_trouble) for turn in run.turns)

    def _valid(self, turn: Turn, on_trouble: OnTrouble) -> float | None:
        outputs = [text for text in texts_of(turn, self.applies_to) if text.strip()]
        if not outputs:
            return None
        try:
            return float(all(self.schema.accepts_text(text) for text in outputs))
        except TimeoutError as problem:
            on_trouble(turn, f"the output schema could not be checked: {problem}")
            return None


def load_output_schema(path: Path) -> OutputSchema:
    """The schema of a JSON file; its key `x-turncurve-tool` may name a tool.

    Raises:
        RuleError: The file cannot be read, is no JSON, or is no valid JSON Schema.
    """
    from turncurve.signals.json_schema import JsonSchema  # noqa: PLC0415 - slow to import

    try:
        document = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError) as problem:
        raise RuleError(f"{path}: cannot be read as JSON: {problem}") from problem
    if not isinstance(document, dict):
        raise RuleError(f"{path}: wanted a JSON Schema, an object; got {document!r}")
    tool = document.get(TOOL_KEY, "text")
    if not isinstance(tool, str) or not tool:
        raise RuleError(f"{path}, key {TOOL_KEY!r}: wanted the name of a tool, got {tool!r}")
    return OutputSchema(schema=JsonSchema(document, where=str(path)), applies_to=tool)


SCHEMA_VALID = Signal(
    info=SignalInfo(
        name="schema_valid",
        title="Output follows its schema",
        unit="share",
        better="high",
        denominator="turns with an output to check",
        low=0.0,
        high=1.0,
    ),
    observe=schema_valid,
)
