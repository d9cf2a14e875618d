"""How far a grader can be trusted: its grades against labels, and against itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from turncurve.analysis.agreement import Agreement, agreement_of
from turncurve.analysis.breakdowns import (
    Breakdown,
    by_length,
    by_phase,
    by_position,
    by_severity,
    fail_agreement,
)
from turncurve.analysis.construct import shared_construct
from turncurve.analysis.judgements import VALIDITIES, Judgements
from turncurve.analysis.matching import match, most_raters, of_rater, once_each, without_panels
from turncurve.analysis.over_clusters import Resampling
from turncurve.analysis.position_effect import PositionTest, position_test
from turncurve.analysis.ranges import Range
from turncurve.analysis.raters import AllRaters, Pair, all_raters, pairs_of_raters
from turncurve.analysis.regrading import Regrade, Variant, regrade, variant
from turncurve.analysis.settings import Settings
from turncurve.errors import NotEnoughDataError
from turncurve.model import Construct


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationSettings:
    """How a grader is validated.

    Attributes:
        grader: Which grader of the grades; None takes the only one.
        labeller: Which rater of the labels; None takes what most of them say.
        positions: Ranges of turns; None takes 1-3, 4-6, 7-10 and then ranges twice as long each.
        lengths: Ranges of input length; None takes ranges that hold about as many turns each.
        margin: Change of sensitivity, specificity or share of failing turns that does not matter.
        level: Confidence level of every interval.
        seed: Seed of the resamples.
        resamples: Draws of the runs behind each interval.
    """

    grader: str | None = None
    labeller: str | None = None
    positions: tuple[Range, ...] | None = None
    lengths: tuple[Range, ...] | None = None
    margin: float = 0.1
    level: float = 0.95
    seed: int = Settings().seed
    resamples: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderValidation:
    """What grades are worth.

    Attributes:
        grader: Whose grades.
        labeller: Whose labels.
        construct: What those who judged knew; None where neither side says.
        fail: Agreement on fail against the rest.
        validity: Agreement on the three validities; None where one side marks errors alone.
        by_position: By turn.
        by_length: By input length.
        by_severity: By the severity from which on an error counts.
        by_phase: By what the turn does.
        position: Whether sensitivity and specificity change with the turn.
        raters: All raters of both sides together.
        pairs: Each rater with each, where there are three or more.
        retest: The grader against itself, graded again; None without such grades.
        variants: The grader against itself with something changed.
        excluded: Reason to number of turns that are not compared.
        warnings: What to keep in mind.
    """

    grader: str
    labeller: str
    construct: Construct | None
    fail: Agreement
    validity: Agreement | None
    by_position: Breakdown
    by_length: Breakdown
    by_severity: Breakdown
    by_phase: Breakdown
    position: PositionTest
    raters: tuple[AllRaters, ...]
    pairs: tuple[Pair, ...]
    retest: Regrade | None
    variants: tuple[Variant, ...]
    excluded: Mapping[str, int]
    settings: ValidationSettings
    warnings: tuple[str, ...] = field(default=())


_DEFAULTS = ValidationSettings()


def validate_grader(
    grades: Judgements,
    labels: Judgements,
    *,
    retest: Judgements | None = None,
    variants: Mapping[str, Judgements] | None = None,
    settings: ValidationSettings = _DEFAULTS,
) -> GraderValidation:
    """Hold a grader's grades against labels of the same turns, and against its own second grading.

    Turns are matched by run id and turn. A judgement that could not be had is missing and counted;
    it is never neutral. The runs are resampled for every interval, as turns of one run are no
    independent replicates.

    Args:
        grades: The grades in question.
        labels: What they are held against: people's labels, or another grader's grades.
        retest: Grades of the same grader for the same turns, made again.
        variants: By what was changed: grades of the same grader with something changed that should
            change nothing (the position shown, the words, the order).
        settings: Which grader, which groups, which level.

    Raises:
        ConstructError: One side was judged with hindsight and the other without.
        AmbiguousNameError: The grades are by several graders and none is named.
        UnknownNameError: No judgement is by the grader named.
        NotEnoughDataError: No turn is judged on both sides.
    """
    construct, warnings = shared_construct(
        grades.name, grades.construct, labels.name, labels.construct
    )
    plain = once_each(grades), once_each(labels)
    graded = of_rater(plain[0], settings.grader, option="--grader")
    reference = (
        most_raters(plain[1])
        if settings.labeller is None
        else of_rater(plain[1], settings.labeller, option="--labeller")
    )
    single = tuple(map(without_panels, plain))
    matched = match(graded, reference)
    if not len(matched.turn):
        told = "; ".join(f"{reason}: {n:,}" for reason, n in matched.excluded.items())
        raise NotEnoughDataError(
            f"validate: turns judged in both {grades.name} and {labels.name}, matched by run id "
            f"and turn ({told}),",
            need=1,
            got=0,
        )
    resampling = Resampling(level=settings.level, resamples=settings.resamples, seed=settings.seed)
    validity = None
    if graded.scale == reference.scale == "validity":
        validity = agreement_of(
            matched.cluster, matched.graded, matched.reference, VALIDITIES, resampling
        )
    again = None if retest is None else _same_grader(graded, retest, settings)
    return GraderValidation(
        grader=graded.raters[0],
        labeller=reference.raters[0],
        construct=construct,
        fail=fail_agreement(matched, resampling),
        validity=validity,
        by_position=by_position(matched, settings.positions, resampling),
        by_length=by_length(matched, settings.lengths, resampling),
        by_severity=by_severity(matched, resampling),
        by_phase=by_phase(matched, resampling),
        position=position_test(
            matched.cluster,
            matched.turn,
            matched.graded == 0,
            matched.reference == 0,
            margin=settings.margin,
            resampling=resampling,
        ),
        raters=all_raters(single, resampling),
        pairs=pairs_of_raters(single, resampling),
        retest=None if again is None else regrade("retest", graded, again, resampling),
        variants=_variants(graded, variants or {}, again, settings, resampling),
        excluded=matched.excluded,
        settings=settings,
        warnings=warnings,
    )


def _variants(
    graded: Judgements,
    variants: Mapping[str, Judgements],
    retest: Judgements | None,
    settings: ValidationSettings,
    resampling: Resampling,
) -> tuple[Variant, ...]:
    """Each variant by two comparisons, whose intervals make up for how many there are."""
    looks = max(1, 2 * len(variants))
    shared = replace(resampling, level=1 - (1 - resampling.level) / looks)
    return tuple(
        variant(
            name,
            graded,
            _same_grader(graded, changed, settings),
            retest,
            margin=settings.margin,
            resampling=resampling,
            shared=shared,
        )
        for name, changed in variants.items()
    )


def _same_grader(graded: Judgements, other: Judgements, settings: ValidationSettings) -> Judgements:
    shared_construct(graded.name, graded.construct, other.name, other.construct)
    several = len(set(other.raters) - other.members) > 1
    name = settings.grader or (graded.raters[0] if several else None)
    return of_rater(once_each(other), name, option="--grader")
