"""A grader's validation in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turncurve.analysis.agreement import Agreement
from turncurve.analysis.construct import WORDS
from turncurve.analysis.position_effect import PositionEffect, PositionTest
from turncurve.analysis.raters import AllRaters
from turncurve.analysis.validate_grader import GraderValidation
from turncurve.report.blocks import Block, Facts, Picture, Said, Table
from turncurve.report.estimate_words import level_of, limits_of, reasons_of, shown, value_of
from turncurve.report.figures import ABSENT, counted
from turncurve.report.layout import visible
from turncurve.report.plain import plain
from turncurve.report.validate_groups import breakdown_blocks
from turncurve.report.validate_picture import confusion_svg, positions_svg
from turncurve.report.validate_regrades import regrade_blocks
from turncurve.stats.estimate import Estimate

SCHEMA_VERSION = "1.0"
TITLE = "can the grader be trusted"
NAME = 40
"""Characters of a grader's name."""

_BREAKDOWNS = ("by_position", "by_length", "by_severity", "by_phase")


def validation_json(result: GraderValidation) -> dict[str, Any]:
    """The result as plain values.

    Agreement on fail against the rest stands at the top and in each row of `by_position`,
    `by_length`, `by_severity` and `by_phase`; `breakdowns` says what these are by, and why one has
    no row.
    """
    whole = plain(result)
    parts = {name: whole.pop(name) for name in _BREAKDOWNS}
    top = {"schema_version": SCHEMA_VERSION, **_flat(whole.pop("fail"))}
    rows = {name: [_flat_group(group) for group in parts[name]["groups"]] for name in _BREAKDOWNS}
    about = {name: _without(parts[name], "groups") for name in _BREAKDOWNS}
    settings = whole.pop("settings")
    return {**top, **rows, "breakdowns": about, **whole, "settings": settings}


def _flat(agreement: dict[str, Any]) -> dict[str, Any]:
    """Two categories have one set of shares, which needs no level of its own."""
    return {**_without(agreement, "classes"), **agreement["classes"]["fail"]}


def _flat_group(group: dict[str, Any]) -> dict[str, Any]:
    return {**_without(group, "agreement"), **_flat(group["agreement"])}


def _without(mapping: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key != name}


def validation_blocks(result: GraderValidation) -> tuple[Block, ...]:
    """Sentences on trust and on slopes, then every coefficient, group by group."""
    return tuple(_blocks(result))


def _blocks(result: GraderValidation) -> Iterator[Block]:
    yield Said(_trust(result))
    yield Said(_slope_sentence(result.position))
    yield Picture(
        title="Where they agree",
        svg=confusion_svg(result.validity or result.fail),
        caption="Turns by the grader's category (rows) and the labels' (columns).",
    )
    if result.by_position.groups:
        yield Picture(
            title="Agreement by position",
            svg=positions_svg(result.by_position.groups),
            caption="Kappa (filled) and AC1 (hollow) by turn, intervals over runs. Kappa falls "
            "where failing turns get rare even if the grader errs no more often: look at "
            "sensitivity and specificity before you call it decay.",
        )
    yield _confusion(result.validity or result.fail)
    yield _shares(result.validity or result.fail)
    yield _coefficients(result.fail, result.validity)
    for title, breakdown in (
        ("position", result.by_position),
        ("input length", result.by_length),
        ("severity", result.by_severity),
        ("phase", result.by_phase),
    ):
        yield from breakdown_blocks(title, breakdown)
    yield Facts(title="Change with the turn", pairs=tuple(_position_facts(result.position)))
    yield _slopes(result.position)
    yield from _raters(result)
    yield from regrade_blocks(result)
    yield Facts(title="What was compared", pairs=tuple(_facts(result)))


def _trust(result: GraderValidation) -> str:
    fail = result.fail.classes["fail"]
    return (
        f"{visible(result.grader, NAME)} finds {shown(fail.sensitivity)} of the turns that "
        f"{visible(result.labeller, NAME)} calls failing (sensitivity) and clears "
        f"{shown(fail.specificity)} of the others (specificity), over "
        f"{counted(result.fail.n_turns, 'turn')} of {counted(result.fail.n_runs, 'run')}; "
        f"kappa {shown(result.fail.kappa)}, AC1 {shown(result.fail.ac1)}."
    )


def _slope_sentence(test: PositionTest) -> str:
    if test.verdict == "finding":
        moved = [
            f"{one.of} {'falls' if (one.change.value or 0) < 0 else 'rises'} with the turn, by "
            f"{shown(one.change)} in 10 turns"
            for one in (test.sensitivity, test.specificity)
            if one.p_adjusted is not None and one.p_adjusted < 1 - one.change.level
        ]
        return (
            f"{' and '.join(moved).capitalize()}: no slope over turns may be corrected with one "
            "sensitivity and one specificity, which can turn its sign. Correct turn by turn, or "
            "use labels of whole runs drawn at random."
        )
    if test.verdict == "clean":
        return (
            f"Neither sensitivity nor specificity changes by more than {test.margin:g} over "
            f"{test.span:.0f} turns: one pair of them may correct a slope over turns."
        )
    needed = (
        f"; about {counted(test.n_runs_needed, 'labelled run')} like these would settle it"
        if test.n_runs_needed is not None
        else "; too few runs carry an error to say how many would settle it"
    )
    return (
        "Whether sensitivity and specificity change with the turn is open: a change of "
        f"{test.margin:g} over {test.span:.0f} turns is neither found nor ruled out{needed}. Until "
        "then a slope over turns that one pair of them corrects is a guess."
    )


def _confusion(agreement: Agreement) -> Table:
    rows = [
        (f"graded {name}", *(f"{n:,}" for n in row), f"{sum(row):,}")
        for name, row in zip(agreement.categories, agreement.confusion, strict=True)
    ]
    columns = [sum(column) for column in zip(*agreement.confusion, strict=True)]
    total = ("all", *(f"{n:,}" for n in columns), f"{sum(columns):,}")
    return Table(
        title="Confusion matrix, in turns",
        header=("", *(f"labelled {name}" for name in agreement.categories), "all"),
        rows=(*rows, total),
        align="<" + ">" * (len(agreement.categories) + 1),
    )


def _shares(agreement: Agreement) -> Table:
    rows = [
        (
            name,
            value_of(one.prevalence),
            value_of(one.graded_rate),
            value_of(one.sensitivity),
            limits_of(one.sensitivity),
            value_of(one.specificity),
            limits_of(one.specificity),
        )
        for name, one in agreement.classes.items()
    ]
    errors = [(f"{name} sensitivity", one.sensitivity) for name, one in agreement.classes.items()]
    errors += [(f"{name} specificity", one.specificity) for name, one in agreement.classes.items()]
    level = level_of(agreement.kappa)
    return Table(
        title="By category",
        header=("", "labelled", "graded", "sens.", level, "spec.", level),
        rows=tuple(rows),
        align="<>>>>>>",
        notes=tuple(reasons_of(errors)),
    )


def _coefficients(fail: Agreement, validity: Agreement | None) -> Table:
    names = (
        ("agreement", "agreement"),
        ("kappa", "Cohen's kappa"),
        ("kappa_linear", "  linear weights"),
        ("kappa_quadratic", "  quadratic weights"),
        ("ac1", "Gwet's AC1"),
        ("ac2", "  AC2, quadratic"),
        ("alpha", "Krippendorff's alpha"),
        ("alpha_ordinal", "  ordinal"),
        ("alpha_interval", "  interval"),
        ("pabak", "PABAK"),
    )
    rows, named = list[tuple[str, ...]](), list[tuple[str, Estimate]]()
    for name, label in names:
        pair = [getattr(fail, name), None if validity is None else getattr(validity, name)]
        if any(one is not None for one in pair):
            rows.append(
                (label, *(cell for one in pair for cell in (value_of(one), limits_of(one))))
            )
            named += [(label.strip(), one) for one in pair if one is not None]
    one = fail.classes["fail"]
    for label, index in (
        ("prevalence index", one.prevalence_index),
        ("bias index", one.bias_index),
    ):
        rows.append((label, value_of(index), limits_of(index), ABSENT, ABSENT))
        named.append((label, index))
    level = level_of(fail.kappa)
    cut = 5 if validity is not None else 3
    return Table(
        title="Agreement beyond chance",
        header=("", "fail or not", level, "validity", level)[:cut],
        rows=tuple(row[:cut] for row in rows),
        align="<>>>>"[:cut],
        notes=(
            *reasons_of(named),
            "Kappa says little alone: with the same sensitivity and specificity it falls as "
            "failing turns get rarer. AC1 and PABAK do not.",
        ),
    )


def _position_facts(test: PositionTest) -> Iterator[tuple[str, str]]:
    for one in (test.sensitivity, test.specificity):
        yield one.of, _effect(one)
    change = f"a change of {test.margin:g} over {test.span:.0f} turns would matter"
    yield "verdict", f"{test.verdict}; {change}."


def _effect(one: PositionEffect) -> str:
    if one.change.value is None:
        return f"absent: {one.change.reason}."
    p = "no p value"
    if one.p is not None and one.p_adjusted is not None:
        p = f"p {one.p:.3g}, {one.p_adjusted:.3g} for two looks"
    odds = (
        f"log odds {shown(one.log_odds)}"
        if one.log_odds.value is not None
        else f"log odds absent ({one.log_odds.reason})"
    )
    told = "".join(f" ({warning})" for warning in one.change.warnings)
    return (
        f"{shown(one.change)} in 10 turns over {counted(one.change.n_turns, 'turn')} of "
        f"{counted(one.change.n_runs, 'run')}, {p}{told}; {odds}."
    )


def _slopes(test: PositionTest) -> Table:
    slopes = test.slopes
    rows = (
        ("by the labels", slopes.labelled),
        ("by the grades", slopes.graded),
        ("grades less labels", slopes.bias),
        ("grades / (Se + Sp - 1)", slopes.divided),
    )
    return Table(
        title="Slope of the error rate, in 10 turns",
        header=("", "slope", level_of(slopes.graded), "runs"),
        rows=tuple(
            (name, value_of(one), limits_of(one), f"{one.n_runs:,}" if one.n_runs else ABSENT)
            for name, one in rows
        ),
        align="<>>>",
        notes=tuple(reasons_of(list(rows))),
    )


def _raters(result: GraderValidation) -> Iterator[Block]:
    if not result.pairs:
        return
    for group in result.raters:
        yield _all_raters(group)
    yield _pairs(result)


def _pairs(result: GraderValidation) -> Table:
    numbers: dict[str, str] = {}
    for pair in result.pairs:
        for name in pair.raters:
            numbers.setdefault(name, str(len(numbers) + 1))
    labels = [" and ".join(numbers[name] for name in pair.raters) for pair in result.pairs]
    level = level_of(result.fail.kappa)
    return Table(
        title="Each rater with each, on fail or not",
        header=("raters", "turns", "kappa", level, "AC1", level),
        rows=tuple(
            (
                label,
                f"{pair.n_turns:,}",
                value_of(pair.kappa),
                limits_of(pair.kappa),
                value_of(pair.ac1),
                limits_of(pair.ac1),
            )
            for label, pair in zip(labels, result.pairs, strict=True)
        ),
        align="<>>>>>",
        notes=(
            *(f"{number}: {visible(name, 60)}." for name, number in numbers.items()),
            *reasons_of(
                [(f"{a} kappa", one.kappa) for a, one in zip(labels, result.pairs, strict=True)]
                + [(f"{a} AC1", one.ac1) for a, one in zip(labels, result.pairs, strict=True)]
            ),
        ),
    )


def _all_raters(group: AllRaters) -> Table:
    rows = [
        ("Krippendorff's alpha", group.alpha),
        ("  ordinal", group.alpha_ordinal),
        ("  interval", group.alpha_interval),
        ("Gwet's AC1", group.ac1),
        ("  AC2, quadratic", group.ac2),
        ("Fleiss' kappa", group.fleiss),
        ("Conger's kappa", group.conger),
    ]
    known = [(name, one) for name, one in rows if one is not None]
    scale = "fail or not" if len(group.categories) == 2 else "validity"
    return Table(
        title=f"All {len(group.raters)} raters, on {scale}",
        header=("", "value", level_of(group.alpha)),
        rows=tuple((name, value_of(one), limits_of(one)) for name, one in known),
        align="<>>",
        notes=(
            f"{counted(group.n_turns, 'turn')} with two judgements or more, of "
            f"{counted(group.n_runs, 'run')}.",
            *reasons_of(known),
        ),
    )


def _facts(result: GraderValidation) -> Iterator[tuple[str, str]]:
    yield "grades", f"by {visible(result.grader, NAME)}."
    yield "labels", f"by {visible(result.labeller, NAME)}."
    construct = "not stated" if result.construct is None else WORDS[result.construct]
    yield "what was known", f"{construct}."
    for reason, n in result.excluded.items():
        yield "left out", f"{reason}: {counted(n, 'turn')}."
    settings = result.settings
    yield (
        "intervals",
        (
            f"{100 * settings.level:g} %, {settings.resamples:,} resamples of whole runs, seed "
            f"{settings.seed}; with under 20 or over 1,000 runs t by leaving out each."
        ),
    )
    yield "family", "agreement by group is not corrected for the number of groups."
    for warning in result.warnings:
        yield "mind", f"{warning}."
