"""The rule that gives turns a verdict from their signals alone."""

from __future__ import annotations

import numpy as np
import pytest

from table_factory import make_table
from turncurve.signals.verdicts import NOT_KNOWN, turn_verdicts
from turncurve.table import TurnTable

ACTS = {"n_actions": [1.0], "tool_error": [0.0]}
TWICE = {"repeated_action_consecutive": [1.0], "repeated_result": [1.0]}


def table(**columns: list[float | None]) -> TurnTable:
    return make_table({"a": columns})


@pytest.mark.parametrize(
    ("columns", "validity", "looping"),
    [
        (ACTS, "pass", False),
        (ACTS | {"tool_error": [1.0]}, "fail", False),
        (ACTS | {"format_error": [1.0]}, "fail", False),
        (ACTS | {"schema_valid": [0.0]}, "fail", False),
        (ACTS | {"adherence": [0.75]}, "fail", False),
        (ACTS | TWICE, "neutral", True),
        (ACTS | {"spiral": [1.0]}, "neutral", True),
        (ACTS | TWICE | {"tool_error": [1.0]}, "fail", True),
        (ACTS | TWICE | {"repeated_action_consecutive": [0.5]}, "pass", False),
        (ACTS | TWICE | {"repeated_result": [0.5]}, "pass", False),
        (ACTS | TWICE | {"repeated_result": [None]}, "pass", False),
        ({"n_actions": [1.0], "tool_error": [None]}, None, False),
        ({"format_error": [0.0]}, None, None),
        ({"schema_valid": [1.0]}, "pass", None),
        ({"adherence": [1.0]}, "pass", None),
        ({"adherence": [0.0]}, "fail", None),
    ],
)
def test_the_rule(
    columns: dict[str, list[float | None]],
    validity: str | None,
    looping: bool | None,  # noqa: FBT001 - parametrized
) -> None:
    """The first of fail, loop, in order, nothing known; a loop is told beside a failure too."""
    (verdict,) = turn_verdicts(table(**columns))
    assert (verdict.validity, verdict.looping) == (validity, looping)


def test_all_faults_are_named() -> None:
    """A turn with several faults names each; a turn with nothing to go by says so."""
    both, nothing = turn_verdicts(
        make_table({"a": {"tool_error": [1.0, None], "schema_valid": [0.0, None]}})
    )
    assert both.why == "a tool call failed; the output breaks the schema"
    assert nothing.why == NOT_KNOWN


def test_a_table_without_signals_has_no_verdicts() -> None:
    """Columns that are not there are not known: every turn is missing."""
    found = turn_verdicts(make_table({"a": {"quality": np.zeros(3)}}))
    assert [verdict.validity for verdict in found] == [None] * 3
