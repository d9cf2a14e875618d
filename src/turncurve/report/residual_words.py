"""The residual in sentences and facts; never a cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from turncurve.analysis.residual import ProtocolResidual, Residual
from turncurve.analysis.residual_verdict import Judgement, Verdict
from turncurve.report.estimate_words import limits_of, shown
from turncurve.report.figures import amount, counted, interval, signed

_FOUND: Mapping[Verdict, str] = {
    "deficit": "The whole task succeeds less often than its stages predict",
    "consistent": "The whole task succeeds as often as its stages predict, within the margin",
    "surplus": "The whole task succeeds more often than its stages predict",
    "inconclusive": "Open: the trials do not settle whether the whole task does as its stages "
    "predict",
}
_OVER = {
    "tasks": "other tasks of the kind: t over tasks",
    "these tasks": "these tasks, were their trials run anew",
    "one task": "this one task, were its trials run anew",
}
LIMITS = (
    (
        "no cause",
        "A residual is a contrast under one protocol for checkpoints. It does not say that "
        "history, length or context did it; an intervention can.",
    ),
    (
        "protocol",
        "Another way to make checkpoints can give the other sign. Try a second one.",
    ),
    (
        "consistent",
        "Consistent means that a residual beyond the margin is excluded, not that history has no "
        "effect: effects can cancel.",
    ),
)


def headline(result: Residual) -> str:
    """The verdict with its numbers."""
    one = result.primary
    return (
        f"{_FOUND[one.verdict.verdict]}: predicted {shown(one.predicted)}, observed "
        f"{shown(one.observed)}, residual {signed(one.residual.value)} {limits_of(one.residual)} "
        f"over {_amounts(one)}."
    )


def _amounts(one: ProtocolResidual) -> str:
    n_stage = sum(task.predicted.n for task in one.tasks)
    n_whole = sum(task.observed.n for task in one.tasks)
    return (
        f"{counted(len(one.tasks), 'task')}, {counted(n_stage, 'stage trial')} and "
        f"{counted(n_whole, 'end-to-end run')}"
    )


def verdict_facts(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """What the verdict rests on, and what would settle it."""
    yield "verdict", f"{judgement.verdict}: {judgement.why}."
    same = judgement.equivalence
    if same is not None:
        level = 100 * (1 - 2 * same.alpha)
        yield (
            "equivalence",
            f"{level:g} % limits {interval(same.low, same.high)} "
            f"{'lie' if same.shown else 'do not lie'} within the margin of {same.margin:g}.",
        )
    if judgement.settle is not None:
        words = judgement.settle.words
        yield "to settle it", f"{words[:1].upper()}{words[1:]}."


def basis_facts(result: Residual) -> Iterator[tuple[str, str]]:
    """Signs, protocol, study, what the limits are over, what was left out."""
    one = result.primary
    yield "sign", f"{result.sign}."
    yield "checkpoints", f"{one.protocol}."
    if result.study is not None:
        since = f"frozen {result.study_frozen}" if result.study_frozen else (
            "not frozen: nothing shows that it was declared before the first trial"
        )  # fmt: skip
        yield "study", f"{result.study_name}, digest {result.study}, {since}."
    else:
        yield "study", "none named: nothing shows that this was declared before the first trial."
    yield "limits", f"{100 * result.settings.level:g} %, of {_OVER[one.over]}."
    yield from _naive(one)
    yield from _condition_facts(result)
    for reason, n in (*result.excluded.items(), *one.excluded.items()):
        yield "left out", f"{reason}: {counted(n, 'trial')}."
    for assumption in one.residual.assumptions:
        yield "assumed", f"{assumption}."


def _naive(one: ProtocolResidual) -> Iterator[tuple[str, str]]:
    if one.product_of_means is None or one.predicted.value is None or len(one.tasks) < 2:
        return
    gap = one.predicted.value - one.product_of_means
    yield (
        "product of means",
        f"{amount(one.product_of_means)}, which is {signed(gap)} off the mean of the tasks' "
        "products: no prediction where tasks differ.",
    )


def _condition_facts(result: Residual) -> Iterator[tuple[str, str]]:
    found = result.conditions
    if found.digest is not None:
        yield "configuration", f"the same in all trials, digest {found.digest[:16]}."
    elif found.same:
        yield "configuration", f"the same in all trials that name it: {', '.join(found.same)}."
    for part, n in found.unknown.items():
        yield "not recorded", f"{part}, in {counted(n, 'trial')}: taken on trust to be the same."
    for one in found.different:
        stages = ", ".join(f"{value} ({n:,})" for value, n in one.stages.items()) or "none named"
        whole = ", ".join(f"{value} ({n:,})" for value, n in one.whole.items()) or "none named"
        yield (
            "different",
            f"{one.part}: stage trials {stages}; end-to-end runs {whole}. The residual is of the "
            "two together.",
        )


def warning_lines(result: Residual) -> Iterator[str]:
    """What to know before believing it."""
    for warning in result.primary.warnings:
        yield f"{warning[:1].upper()}{warning[1:]}."
    for departed in result.departed:
        yield f"Not as declared: {departed}."
    if len(result.protocols) > 1 and result.study is None:
        yield (
            "No study says which protocol is the primary one; it is the one that was asked for, or "
            "the first in the files."
        )
    if result.signs_differ:
        yield (
            "Protocols disagree: a deficit under one and a surplus under another. What is found "
            "depends on how checkpoints are made."
        )
