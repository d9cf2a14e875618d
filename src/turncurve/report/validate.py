"""A grader's validation in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turncurve.analysis.agreement import Agreement, ClassAgreement
from turncurve.analysis.breakdowns import Breakdown, Group
from turncurve.analysis.construct import WORDS
from turncurve.analysis.position_effect import PositionEffect, PositionTest
from turncurve.analysis.raters import AllRaters
from turncurve.analysis.validate_grader import GraderValidation
from turncurve.report.blocks import Block, Facts, Picture, Said, Table
from turncurve.report.figures import ABSENT, amount, counted, interval
from turncurve.report.json import plain
from turncurve.report.layout import visible
from turncurve.report.validate_picture import confusion_svg, positions_svg
from turncurve.report.validate_regrades import regrade_blocks
from turncurve.stats.estimate import Estimate

SCHEMA_VERSION = "1.0"
TITLE = "can the grader be trusted"
NAME = 40
"""Characters of a grader's name."""
LABEL = 16
"""Characters of a group's name in a table."""

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
        yield from _breakdown(title, breakdown)
    yield Facts(title="Change with the turn", pairs=tuple(_position_facts(result.position)))
    yield _slopes(result.position)
    yield from _raters(result)
    yield from regrade_blocks(result)
    yield Facts(title="What was compared", pairs=tuple(_facts(result)))


def _trust(result: GraderValidation) -> str:
    fail = result.fail.classes["fail"]
    return (
        f"{visible(result.grader, NAME)} finds {_shown(fail.sensitivity)} of the turns that "
        f"{visible(result.labeller, NAME)} calls failing (sensitivity) and clears "
        f"{_shown(fail.specificity)} of the others (specificity), over "
        f"{counted(result.fail.n_turns, 'turn')} of {counted(result.fail.n_runs, 'run')}; "
        f"kappa {_shown(result.fail.kappa)}, AC1 {_shown(result.fail.ac1)}."
    )


def _slope_sentence(test: PositionTest) -> str:
    if test.verdict == "finding":
        moved = [
            f"{one.of} {'falls' if (one.change.value or 0) < 0 else 'rises'} with the turn, by "
            f"{_shown(one.change)} in 10 turns"
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


def _shown(estimate: Estimate) -> str:
    """`0.742 [0.637, 0.828]`, or why there is nothing."""
    if estimate.value is None:
        return f"an unknown share ({estimate.reason})"
    limits = _limits(estimate)
    return f"{amount(estimate.value)} {limits if limits != ABSENT else '(no interval)'}"


def _limits(estimate: Estimate | None) -> str:
    return ABSENT if estimate is None else interval(estimate.low, estimate.high)


def _value(estimate: Estimate | None) -> str:
    return ABSENT if estimate is None else amount(estimate.value)


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
            _value(one.prevalence),
            _value(one.graded_rate),
            _value(one.sensitivity),
            _limits(one.sensitivity),
            _value(one.specificity),
            _limits(one.specificity),
        )
        for name, one in agreement.classes.items()
    ]
    pairs = [(n, e) for n, one in agreement.classes.items() for e in (one.sensitivity,)]
    pairs += [(n, one.specificity) for n, one in agreement.classes.items()]
    return Table(
        title="By category",
        header=("", "labelled", "graded", "sens.", _level(agreement), "spec.", _level(agreement)),
        rows=tuple(rows),
        align="<>>>>>>",
        notes=tuple(_notes(pairs)),
    )


def _level(agreement: Agreement) -> str:
    return f"{100 * agreement.kappa.level:g} %"


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
            rows.append((label, *(cell for one in pair for cell in (_value(one), _limits(one)))))
            named += [(label.strip(), one) for one in pair if one is not None]
    one = fail.classes["fail"]
    for label, index in (
        ("prevalence index", one.prevalence_index),
        ("bias index", one.bias_index),
    ):
        rows.append((label, _value(index), _limits(index), ABSENT, ABSENT))
        named.append((label, index))
    level = _level(fail)
    cut = 5 if validity is not None else 3
    return Table(
        title="Agreement beyond chance",
        header=("", "fail or not", level, "validity", level)[:cut],
        rows=tuple(row[:cut] for row in rows),
        align="<>>>>"[:cut],
        notes=(
            *_notes(named),
            "Kappa says little alone: with the same sensitivity and specificity it falls as "
            "failing turns get rarer. AC1 and PABAK do not.",
        ),
    )


def _notes(named: list[tuple[str, Estimate]]) -> Iterator[str]:
    """Why numbers, or their intervals, are absent; each reason once."""
    seen: dict[str, list[str]] = {}
    for label, estimate in named:
        for why in (estimate.reason, *estimate.warnings):
            if why is not None and (why.startswith("no interval") or estimate.reason):
                seen.setdefault(why, []).append(label)
    for why, labels in seen.items():
        yield f"{', '.join(dict.fromkeys(labels))}: {why}."


def _breakdown(title: str, breakdown: Breakdown) -> Iterator[Block]:
    if breakdown.reason is not None:
        yield Facts(title=f"By {title}", pairs=(("absent", f"{breakdown.reason}."),))
        return
    level = _level(breakdown.groups[0].agreement)
    notes = list(
        _notes(
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
                _value(g.agreement.kappa),
                _limits(g.agreement.kappa),
                _value(g.agreement.ac1),
                _limits(g.agreement.ac1),
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
            _notes(
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
        _value(fail.sensitivity),
        _limits(fail.sensitivity),
        f"{sound:,}",
        _value(fail.specificity),
        _limits(fail.specificity),
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
        f"log odds {_shown(one.log_odds)}"
        if one.log_odds.value is not None
        else f"log odds absent ({one.log_odds.reason})"
    )
    told = "".join(f" ({warning})" for warning in one.change.warnings)
    return (
        f"{_shown(one.change)} in 10 turns over {counted(one.change.n_turns, 'turn')} of "
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
        header=("", "slope", f"{100 * slopes.graded.level:g} %", "runs"),
        rows=tuple(
            (name, _value(one), _limits(one), f"{one.n_runs:,}" if one.n_runs else ABSENT)
            for name, one in rows
        ),
        align="<>>>",
        notes=tuple(_notes(list(rows))),
    )


def _raters(result: GraderValidation) -> Iterator[Block]:
    if not result.pairs:
        return
    for group in result.raters:
        yield _all_raters(group)
    yield Table(
        title="Each rater with each, on fail or not",
        header=("", "turns", "kappa", _level(result.fail), "AC1", _level(result.fail)),
        rows=tuple(
            (
                " / ".join(visible(name, LABEL) for name in pair.raters),
                f"{pair.n_turns:,}",
                _value(pair.kappa),
                _limits(pair.kappa),
                _value(pair.ac1),
                _limits(pair.ac1),
            )
            for pair in result.pairs
        ),
        align="<>>>>>",
        notes=tuple(_notes([(" / ".join(p.raters), p.kappa) for p in result.pairs])),
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
        header=("", "value", f"{100 * group.alpha.level:g} %"),
        rows=tuple((name, _value(one), _limits(one)) for name, one in known),
        align="<>>",
        notes=(
            f"{counted(group.n_turns, 'turn')} with two judgements or more, of "
            f"{counted(group.n_runs, 'run')}.",
            *_notes(known),
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
