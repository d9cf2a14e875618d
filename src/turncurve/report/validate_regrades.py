"""A grader against itself, graded again or with something changed, in tables."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.regrading import Regrade, Variant
from turncurve.analysis.validate_grader import GraderValidation
from turncurve.report.blocks import Block, Table
from turncurve.report.estimate_words import level_of, limits_of, value_of
from turncurve.report.layout import visible

NAME = 16
"""Characters of a grading's name in a table."""


def regrade_blocks(result: GraderValidation) -> Iterator[Block]:
    """The second gradings beside the labels, and the verdict on each variant."""
    regrades = [one.regrade for one in result.variants]
    if result.retest is not None:
        regrades.insert(0, result.retest)
    if not regrades:
        return
    yield _again(result, regrades)
    if result.variants:
        yield _invariance(result)


def _again(result: GraderValidation, regrades: list[Regrade]) -> Table:
    level = level_of(result.fail.kappa)
    fail = result.fail
    labels = (
        "the labels",
        f"{fail.n_turns:,}",
        value_of(fail.kappa),
        limits_of(fail.kappa),
        value_of(fail.ac1),
        limits_of(fail.ac1),
    )
    rows = [
        (
            visible(one.name, NAME),
            f"{one.agreement.n_turns:,}",
            value_of(one.agreement.kappa),
            limits_of(one.agreement.kappa),
            value_of(one.agreement.ac1),
            limits_of(one.agreement.ac1),
        )
        for one in regrades
    ]
    notes = [
        f"{visible(one.name, NAME)}: {value_of(one.flipped)} of the turns flip "
        f"{limits_of(one.flipped)}."
        for one in regrades
    ]
    others = [one for one in regrades if one.grader != result.grader]
    notes += [
        f"{visible(one.name, NAME)} is by {visible(one.grader, 40)}, another grader."
        for one in others
    ]
    notes.append(
        "A grader that agrees with itself more than with the labels repeats its errors; one that "
        "agrees with itself less errs by chance."
    )
    return Table(
        title="The grader against itself, on fail or not",
        header=("against", "turns", "kappa", level, "AC1", level),
        rows=(labels, *rows),
        align="<>>>>>",
        notes=tuple(notes),
    )


def _invariance(result: GraderValidation) -> Table:
    level = level_of(result.variants[0].shift)
    notes = [
        "Excess: turns flipped beyond what grading again flips. Shift: how much more often a turn "
        "is called failing. The level makes up for two looks at each of "
        f"{len(result.variants)} variant(s)."
    ]
    absent = dict.fromkeys(
        one.excess.reason for one in result.variants if one.excess.reason is not None
    )
    notes += [f"Excess is absent: {reason}." for reason in absent]
    return Table(
        title="Changes that should not matter",
        header=("changed", "excess", level, "shift", level, "verdict"),
        rows=tuple(_row(one) for one in result.variants),
        align="<>>>><",
        notes=tuple(notes),
    )


def _row(one: Variant) -> tuple[str, ...]:
    return (
        visible(one.regrade.name, NAME),
        value_of(one.excess),
        limits_of(one.excess),
        value_of(one.shift),
        limits_of(one.shift),
        one.verdict,
    )
