"""Output-schema validity."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from signals.hand_made import run_of, turn
from turncurve.errors import ReadError, RuleError
from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Run, ToolCall
from turncurve.table import TurnTable

OBJECT = {"type": "object", "required": ["answer"]}


def checked(tmp_path: Path, schema: object, *runs: Run) -> tuple[TurnTable, list[ReadError]]:
    """The table of these runs with this output schema, and the problems met."""
    path = tmp_path / "schema.json"
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    problems: list[ReadError] = []
    options = ReadOptions(output_schema=path, prices=False)
    return table_from_runs(runs, options=options, on_problem=problems.append), problems


def test_the_text_has_to_be_json_that_follows_the_schema(tmp_path: Path) -> None:
    """Text that is no JSON is invalid; a turn without text has nothing to check."""
    texts = ['{"answer": 1}', " {}\n", "no JSON", "", '```json\n{"answer": 1}\n```']
    run = run_of([turn(i, text=text) for i, text in enumerate(texts, 1)])
    table, _ = checked(tmp_path, OBJECT, run)
    assert_array_equal(table.columns["schema_valid"], [1, 0, 0, np.nan, 0])


def test_a_tool_s_arguments_in_place_of_the_text(tmp_path: Path) -> None:
    """With `x-turncurve-tool` the arguments of that tool's calls are the output."""
    run = run_of(
        [
            turn(1, tool_calls=(ToolCall(name="final", arguments={"answer": 1}),)),
            turn(2, tool_calls=(ToolCall(name="final", arguments="{broken"),)),
            turn(3, tool_calls=(ToolCall(name="other", arguments={}),)),
        ]
    )
    table, _ = checked(tmp_path, {**OBJECT, "x-turncurve-tool": "final"}, run)
    assert_array_equal(table.columns["schema_valid"], [1, 0, np.nan])


def test_what_the_file_gives_passes_through() -> None:
    """Without an output schema the file's own `schema_valid` is the signal."""
    run = run_of([turn(1, values={"schema_valid": 0.0}), turn(2)])
    table = table_from_runs([run], options=ReadOptions(prices=False))
    assert_array_equal(table.columns["schema_valid"], [0, np.nan])


def test_an_output_nested_without_end_is_invalid(tmp_path: Path) -> None:
    """Nesting 10,000 deep is refused as JSON; the other turns are still checked."""
    run = run_of([turn(1, text="[" * 10_000 + "]" * 10_000), turn(2, text='{"answer": 1}')])
    table, _ = checked(tmp_path, OBJECT, run)
    assert_array_equal(table.columns["schema_valid"], [0, 1])


def test_a_pattern_out_of_time_gives_no_verdict(tmp_path: Path) -> None:
    """The turn is missing in under 10 s of processor time, and a problem names run and turn."""
    began = time.process_time()
    schema = {"type": "string", "pattern": "^(a|aa)+$"}
    run = run_of([turn(1, text=json.dumps("a" * 5_000 + "b")), turn(2, text='"aa"')])
    table, problems = checked(tmp_path, schema, run)
    assert_array_equal(table.columns["schema_valid"], [np.nan, 1])
    assert [p.record for p in problems] == ["run turn 1"]
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("{", "cannot be read as JSON"),
        ([], "wanted a JSON Schema, an object"),
        ({"type": "no such type"}, "wanted a valid JSON Schema"),
        ({"x-turncurve-tool": 5}, "wanted the name of a tool, got 5"),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"$ref": "https://example.org/schema"}, "which is not fetched"),
    ],
)
def test_a_schema_file_that_is_wrong(tmp_path: Path, schema: object, message: str) -> None:
    """The error names the file and what was wanted."""
    with pytest.raises(RuleError, match=message):
        checked(tmp_path, schema, run_of([turn(1, text="{}")]))
