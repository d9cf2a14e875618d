"""What grading came to: how much is missing, whether it grows with position, what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.grading.grade import GradedRun
from turncurve.grading.session import Session
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.mean import NO_SPREAD, Mean, mean_with_interval
from turncurve.stats.slope import slopes_within

FloatArray: TypeAlias = NDArray[np.float64]

MOST_MISSING = 0.05
"""Share of missing grades above which they are a finding, unless another is given."""
_RUNS = "the mean over runs; the interval is t over runs"

Finding: TypeAlias = Literal["missing above limit", "missing grows", "nothing graded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """The account of one grading.

    Attributes:
        rubric: What was asked: name and version.
        rubric_digest: Of all that graders were told by it.
        construct: What grades by it are of.
        panel: Who was asked, by name, to votes a turn.
        restated_by: Who restated the objectives that were judged; None where turns were.
        n_runs: Runs of which at least one turn was asked about.
        excluded: Why other runs were not graded, to how many.
        n_chosen: Turns that were to be graded.
        turns: Numbers of the turns that were, each once.
        n_graded: Turns with a grade.
        n_ties: Turns without one since the votes tied.
        n_missing: Turns without one since graders failed.
        n_left: Turns not asked about since grading stopped.
        reasons: Why votes are missing, to how many.
        missing_share: Share of missing grades among turns that were asked about.
        missing_trend: Its change over ten turns, within runs.
        agreement: Share of pairs of votes on a turn that are the same.
        most_missing: The limit on `missing_share`.
        n_elided: Turns with earlier turns left out of the prompt, for want of room.
        first_elided: The first turn with which that happens.
        elided_characters: All characters left out.
        n_before: Votes that were had before, or of another run with the same content so far.
        n_calls: Calls made now.
        n_repaired: Votes that came on the second try.
        input_tokens: Of the calls made now.
        output_tokens: Likewise.
        usd: What they cost, of those whose price is known.
        n_unpriced: Calls whose price is not known.
        stopped: The limit at which grading stopped; None if it did not.
        findings: What casts doubt on the grades, worst first.
    """

    rubric: str
    rubric_digest: str
    construct: str
    panel: Mapping[str, int]
    restated_by: str | None
    n_runs: int
    excluded: Mapping[str, int]
    n_chosen: int
    turns: tuple[int, ...]
    n_graded: int
    n_ties: int
    n_missing: int
    n_left: int
    reasons: Mapping[str, int]
    missing_share: Estimate
    missing_trend: Estimate
    agreement: Estimate
    most_missing: float
    n_elided: int
    first_elided: int | None
    elided_characters: int
    n_before: int
    n_calls: int
    n_repaired: int
    input_tokens: int
    output_tokens: int
    usd: float
    n_unpriced: int
    stopped: str | None
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class Account:
    """Takes in graded runs, of which it keeps some numbers a turn."""

    n_chosen: int = 0
    n_runs: int = 0
    n_ties: int = 0
    n_elided: int = 0
    first_elided: int | None = None
    elided_characters: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    run: list[int] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    missing: list[bool] = field(default_factory=list)
    agreement: list[float] = field(default_factory=list)
    """NaN where fewer than two voted."""

    def add(self, graded: GradedRun) -> None:
        """Take in a run."""
        if graded.excluded is not None:
            self.excluded[graded.excluded] += 1
            return
        self.n_chosen += graded.n_chosen
        if not graded.turns:
            return
        for one in graded.turns:
            self.run.append(self.n_runs)
            self.turn.append(one.turn)
            self.n_ties += one.is_tie
            self.missing.append(one.is_missing and not one.is_tie)
            self.agreement.append(np.nan if one.agreement is None else one.agreement)
            self.elided_characters += one.elided.characters
            if one.elided.turns:
                self.n_elided += 1
                self.first_elided = min(one.turn, self.first_elided or one.turn)
            for line in one.answers:
                if line.missing is not None:
                    self.reasons[line.missing.reason] += 1
        self.n_runs += 1

    def result(self, session: Session, *, most_missing: float = MOST_MISSING) -> Grading:
        """The account of all runs taken in."""
        n_missing = sum(self.missing)
        share, trend = self._missing_share(), self._missing_trend()
        spending = session.spending
        findings = _findings(share, trend, most_missing, n_asked=len(self.turn))
        return Grading(
            rubric=session.rubric.id,
            rubric_digest=session.rubric.digest,
            construct=session.rubric.construct,
            panel={member.grader: member.samples for member in session.line.panel},
            restated_by=session.line.restated_by.grader if session.line.restated_by else None,
            n_runs=self.n_runs,
            excluded=dict(self.excluded),
            n_chosen=self.n_chosen,
            turns=tuple(sorted(set(self.turn))),
            n_graded=len(self.turn) - n_missing - self.n_ties,
            n_ties=self.n_ties,
            n_missing=n_missing,
            n_left=self.n_chosen - len(self.turn),
            reasons=dict(self.reasons.most_common()),
            missing_share=share,
            missing_trend=trend,
            agreement=self._agreement(),
            most_missing=most_missing,
            n_elided=self.n_elided,
            first_elided=self.first_elided,
            elided_characters=self.elided_characters,
            n_before=session.n_before,
            n_calls=spending.calls,
            n_repaired=session.n_repaired,
            input_tokens=spending.input_tokens,
            output_tokens=spending.output_tokens,
            usd=spending.usd,
            n_unpriced=spending.n_unpriced,
            stopped=session.stopped,
            findings=tuple(findings),
        )

    def _missing_share(self) -> Estimate:
        estimand = "share of missing grades among the turns that graders were asked about"
        return self._over_runs(estimand, self._means(np.array(self.missing, dtype=np.float64)))

    def _missing_trend(self) -> Estimate:
        estimand = "change of the share of missing grades over ten turns, within a run"
        slopes = slopes_within(
            self.run,
            self.turn,
            np.array(self.missing, dtype=np.float64),
            n_units=self.n_runs,
        )
        return self._over_runs(estimand, 10 * slopes)

    def _agreement(self) -> Estimate:
        estimand = "share of pairs of votes on a turn that are the same"
        return self._over_runs(estimand, self._means(np.array(self.agreement)))

    def _means(self, values: FloatArray) -> FloatArray:
        """The mean of each run's known values; NaN where it has none."""
        runs, known = np.array(self.run, dtype=np.int64), ~np.isnan(values)
        n = np.bincount(runs[known], minlength=self.n_runs)
        total = np.bincount(runs[known], weights=values[known], minlength=self.n_runs)
        means = np.full(self.n_runs, np.nan)
        np.divide(total, n, out=means, where=n > 0)
        return means

    def _over_runs(self, estimand: str, by_run: FloatArray) -> Estimate:
        n = int(np.count_nonzero(~np.isnan(by_run)))
        if n == 0:
            return absent(estimand, "no run has two turns or votes to tell it by")
        return _estimate(estimand, mean_with_interval(by_run), n_turns=len(self.turn))


def _estimate(estimand: str, mean: Mean, *, n_turns: int) -> Estimate:
    return Estimate(
        estimand=estimand,
        value=mean.value,
        std_error=mean.std_error,
        low=mean.low,
        high=mean.high,
        method=_RUNS,
        df=mean.df,
        n_turns=n_turns,
        n_runs=mean.n,
        n_clusters=mean.n,
        warnings=() if mean.low is not None else (NO_SPREAD,),
    )


def _findings(share: Estimate, trend: Estimate, most: float, *, n_asked: int) -> Iterator[Finding]:
    if n_asked == 0:
        yield "nothing graded"
    if share.value is not None and share.value > most:
        yield "missing above limit"
    if trend.low is not None and trend.low > 0:
        yield "missing grows"
