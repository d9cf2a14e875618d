"""A verdict for each turn from its signals alone: what a rule can say without reading the turn."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from turncurve.model import Validity
from turncurve.table import TurnTable

RULE = "signals-1"
"""Name and version of the rule below; a change of it is a new version."""

NOT_KNOWN = "nothing to go by: no tool result of known outcome, no rule, no schema"


class Verdict(NamedTuple):
    """What the rule says of one turn."""

    validity: Validity | None
    """None where there is nothing to go by."""
    looping: bool | None
    """Whether the turn goes round in circles; None in a turn without an action."""
    why: str


def turn_verdicts(table: TurnTable) -> list[Verdict]:
    """The verdict of each row of a table, by a rule over its signals.

    The first that applies:

    - fail: a tool call of the turn failed, its answer could not be read as an action, its output
      breaks the schema, or it breaks a rule;
    - neutral: it loops. That is, the run is in a `spiral`, or all actions of the turn equal the one
      right before and bring nothing new (`repeated_action_consecutive` and `repeated_result` are
      1). Retries of a transient failure are no loop;
    - pass: something is known to be in order: a tool result, the schema, or the rules;
    - none: nothing is known, as in a turn of text alone. It is missing, never neutral.

    So `pass` says that the turn did something and that nothing is known against it, not that it was
    a step forward; a wrong answer from a tool that worked is a pass.
    """
    loops = _loops(table)
    failed = table.column("tool_error")
    unreadable = table.column("format_error")
    schema, rules = table.column("schema_valid"), table.column("adherence")
    return [
        _verdict(*row)
        for row in zip(
            *(column.tolist() for column in (failed, unreadable, schema, rules, loops)), strict=True
        )
    ]


def _verdict(
    failed: float, unreadable: float, schema: float, rules: float, loops: float
) -> Verdict:
    looping = None if math.isnan(loops) else bool(loops)
    faults = [
        why
        for is_fault, why in (
            (failed > 0, "a tool call failed"),
            (unreadable > 0, "the answer could not be read as an action"),
            (schema < 1, "the output breaks the schema"),
            (rules < 1, "a rule is broken"),
        )
        if is_fault
    ]
    if faults:
        return Verdict("fail", looping, "; ".join(faults))
    if looping:
        return Verdict("neutral", looping, "repeats what was done, with the same result")
    if failed == 0 or schema == 1 or rules == 1:
        return Verdict("pass", looping, "something was done, and nothing is known against it")
    return Verdict(None, looping, NOT_KNOWN)


def _loops(table: TurnTable) -> NDArray[np.float64]:
    """1 where a turn loops, 0 where it acts and doesn't, NaN where it doesn't act."""
    stuck = table.column("repeated_action_consecutive") == 1
    stuck &= table.column("repeated_result") == 1
    loops = stuck | (table.column("spiral") == 1)
    return np.where(table.column("n_actions") > 0, loops.astype(np.float64), np.nan)
