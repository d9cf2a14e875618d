"""A grader's validation group by group: agreement beyond chance, and the grader's errors."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.agreement import ClassAgreement
from turncurve.analysis.breakdowns import Breakdown, Group
from turncurve.report.blocks import Block, Facts, Table
from turncurve.report.estimate_words import level_of, limits_of, reasons_of, value_of
from turncurve.report.figures import counted
from turncurve.report.layout import visible

LABEL = 16
"""Characters of a group's name in a table."""


def breakdown_blocks(title: str, breakdown: Breakdown) -> Iterator[Block]:
    """Two tables of a breakdown, or the reason why there is none."""
    if breakdown.reason is not None:
        yield Facts(title=f"By {title}", pairs=(("absent", f"{breakdown.reason}."),))
        return
    level = level_of(breakdown.groups[0].agreement.kappa)
    notes = list(
        reasons_of(
            [(f"{g.label} kappa", g.agreement.kappa) for g in breakdown.groups]
            + [(f"{g.label} AC1", g.agreement.ac1) for g in breakdown.groups]
        )
    )
    if title != "position":
        notes.append(f"By: {breakdown.by}.")
    if breakdown.n_left_out:
        notes.append(f"{counted(breakdown.n_left_out, 'turn')} in none of the groups.")
    missing = sum(group.n_missing or 0 for group in breakdown.groups)
    if missing:
        where = ", ".join(f"{g.label}: {g.n_missing}" for g in breakdown.groups if g.n_missing)
        notes.append(f"Judgements that could not be had, by turn: {where}.")
    yield Table(
        title=f"By {title}: agreement",
        header=("", "turns", "runs", "kappa", level, "AC1", level),
        rows=tuple(
            (
                visible(g.label, LABEL),
                f"{g.agreement.n_turns:,}",
                f"{g.agreement.n_runs:,}",
                value_of(g.agreement.kappa),
                limits_of(g.agreement.kappa),
                value_of(g.agreement.ac1),
                limits_of(g.agreement.ac1),
            )
            for g in breakdown.groups
        ),
        align="<>>>>>>",
        notes=tuple(notes),
    )
    yield Table(
        title=f"By {title}: errors of the grader",
        header=("", "failing", "sens.", level, "sound", "spec.", level),
        rows=tuple(_error_row(group) for group in breakdown.groups),
        align="<>>>>>>",
        notes=tuple(
            reasons_of(
                [(f"{g.label} sensitivity", _fail(g).sensitivity) for g in breakdown.groups]
                + [(f"{g.label} specificity", _fail(g).specificity) for g in breakdown.groups]
            )
        ),
    )


def _fail(group: Group) -> ClassAgreement:
    return group.agreement.classes["fail"]


def _error_row(group: Group) -> tuple[str, ...]:
    fail = _fail(group)
    failing, sound = (sum(column) for column in zip(*group.agreement.confusion, strict=True))
    return (
        visible(group.label, LABEL),
        f"{failing:,}",
        value_of(fail.sensitivity),
        limits_of(fail.sensitivity),
        f"{sound:,}",
        value_of(fail.specificity),
        limits_of(fail.specificity),
    )
