"""Rules and an output schema, checked while runs are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from turncurve.errors import ReadError
from turncurve.ingest.measure import Addition, Columns
from turncurve.model import Run, Turn
from turncurve.readers import OnProblem
from turncurve.signals.adherence import OnTrouble, RuleBook
from turncurve.signals.schema_validity import load_output_schema


def rule_check(path: Path) -> Addition:
    """Fills `adherence` and `n_rules_applicable` from a rule file."""
    from turncurve.signals.rules import load_rules  # noqa: PLC0415 - only where rules are given

    book = RuleBook(load_rules(path))

    def check(run: Run, columns: Columns, on_problem: OnProblem) -> dict[str, str]:
        kept, applicable = book.observe(run, _trouble(run, on_problem))
        columns["adherence"], columns["n_rules_applicable"] = kept, applicable
        return {"adherence": "no rule applies to the turn"}

    return check


def no_rules(run: Run, columns: Columns, on_problem: OnProblem) -> dict[str, str]:
    """Says why there is no adherence where no rule file is given."""
    del run, on_problem
    return _not_given(columns, "adherence", "no rule file is given")


def schema_check(path: Path) -> Addition:
    """Fills `schema_valid` from an output schema."""
    schema = load_output_schema(path)

    def check(run: Run, columns: Columns, on_problem: OnProblem) -> dict[str, str]:
        columns["schema_valid"] = schema.observe(run, _trouble(run, on_problem))
        return {"schema_valid": "the turn has no output to check"}

    return check


def no_schema(run: Run, columns: Columns, on_problem: OnProblem) -> dict[str, str]:
    """Says why there is no schema validity where no output schema is given."""
    del run, on_problem
    return _not_given(columns, "schema_valid", "no output schema is given")


def _not_given(columns: Columns, name: str, reason: str) -> dict[str, str]:
    return {name: reason} if np.isnan(columns[name]).all() else {}


def _trouble(run: Run, on_problem: OnProblem) -> OnTrouble:
    def tell(turn: Turn, reason: str) -> None:
        where = f"{run.id} turn {turn.index}"
        on_problem(ReadError(run.path, reason, record=where, kept=True))

    return tell
