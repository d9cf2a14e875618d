"""Deficit, consistent, surplus or open; and how many trials would settle it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turncurve.analysis.residual_overall import Over, Residual
from turncurve.stats.step_power import Rule, trials_needed

Verdict: TypeAlias = Literal["deficit", "consistent", "surplus", "inconclusive"]
Kind: TypeAlias = Literal["finding", "clean", "inconclusive"]

POWER = 0.8
MOST_TIMES = 1_000
"""Trials or tasks, as a multiple of those there are, beyond which a number is not worth saying."""
NO_MARGIN = "declare the residual that would not matter (a margin), before looking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """Whether the residual lies within a margin: two one-sided tests.

    Attributes:
        margin: Residual that would not matter, either way.
        alpha: Level of each of the two tests.
        low: Lower limit at 1 - 2 alpha.
        high: Upper limit.
        shown: Whether both limits lie within the margin.
    """

    margin: float
    alpha: float
    low: float
    high: float
    shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """What would settle an open verdict.

    Attributes:
        unit: What there would be more of: trials of each stage and end to end, or tasks.
        now: How many there are.
        to_see: How many would tell a residual as large as this one from 0, with a chance of 80 %;
            None where there is none to see, or too many.
        to_exclude: How many would show it to lie within the margin, if there is none; None without
            a margin, or too many.
        words: The same in words.
    """

    unit: Literal["trials", "tasks"]
    now: int
    to_see: int | None
    to_exclude: int | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict, what kind it is, what it rests on, and what would settle it where it is open."""

    verdict: Verdict
    kind: Kind
    why: str
    equivalence: Equivalence | None
    settle: Settle | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much there is: tasks, and the fewest trials of a stage or end to end in any of them."""

    n_tasks: int
    n_trials: int


def judge(
    residual: Residual, over: Over, *, margin: float | None, level: float, sizes: Sizes
) -> Judgement:
    """What the residual's limits say.

    Equivalence is asked first: a residual within the margin does not matter, be it 0 or not.
    Failing to see a residual is never taken for there being none.

    Args:
        residual: Its value and limits by level.
        over: What the limits are over.
        margin: Residual that would not matter; None where none is declared.
        level: Confidence level.
        sizes: How much there is.

    References:
        Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680 (two
        one-sided tests).
    """
    found = residual(level)
    assert found.value is not None
    if found.low is None or found.high is None:
        settle = Settle(
            unit="tasks", now=sizes.n_tasks, to_see=None, to_exclude=None, words="more tasks"
        )
        why = f"there are no limits: {found.reason}"
        return Judgement(
            verdict="inconclusive", kind="inconclusive", why=why, equivalence=None, settle=settle
        )
    same = _equivalence(residual, margin, level)
    excludes = found.low > 0 or found.high < 0
    if same is not None and same.shown:
        but = ", though it is not 0" if excludes else ""
        why = f"the residual lies within {same.margin:g} of 0 either way{but}"
        return Judgement(verdict="consistent", kind="clean", why=why, equivalence=same, settle=None)
    if excludes:
        way: Verdict = "deficit" if found.low > 0 else "surplus"
        return Judgement(
            verdict=way,
            kind="finding",
            why=f"the {100 * level:g} % interval of the residual leaves out 0",
            equivalence=same,
            settle=None,
        )
    assert found.std_error is not None
    return Judgement(
        verdict="inconclusive",
        kind="inconclusive",
        why="0 lies within the interval of the residual"
        + (", and its limits are not within the margin" if same else ", and no margin is declared"),
        equivalence=same,
        settle=_settle(found.value, found.std_error, over, margin, level, sizes),
    )


def _equivalence(residual: Residual, margin: float | None, level: float) -> Equivalence | None:
    if margin is None:
        return None
    alpha = 1 - level
    found = residual(1 - 2 * alpha)
    if found.low is None or found.high is None:
        return None
    return Equivalence(
        margin=margin,
        alpha=alpha,
        low=found.low,
        high=found.high,
        shown=-margin < found.low and found.high < margin,
    )


def _settle(
    value: float, std_error: float, over: Over, margin: float | None, level: float, sizes: Sizes
) -> Settle:
    by_tasks = over == "tasks"
    now = sizes.n_tasks if by_tasks else sizes.n_trials
    each = std_error * math.sqrt(now)

    def needed(size: float, rule: Rule, power: float) -> int | None:
        def error(n: int) -> tuple[float, float]:
            return each / math.sqrt(n), n - 1 if by_tasks else math.inf

        found = trials_needed(size, error, rule, power=power) if size > 0 else None
        return found if found is not None and found <= MOST_TIMES * now else None

    to_see = needed(abs(value), Rule(alpha=1 - level), POWER)
    to_exclude = None
    if margin is not None:
        # Both one-sided tests must pass; at a true residual of 0 each does with (1 + power) / 2.
        to_exclude = needed(margin, Rule(alpha=2 * (1 - level)), (1 + POWER) / 2)
        if to_exclude is not None and to_exclude <= now:
            to_exclude = None  # There are enough, and what they show is not that.
    unit: Literal["trials", "tasks"] = "tasks" if by_tasks else "trials"
    return Settle(
        unit=unit,
        now=now,
        to_see=to_see,
        to_exclude=to_exclude,
        words=_words(unit, now, to_see, to_exclude, margin),
    )


def _words(
    unit: str, now: int, to_see: int | None, to_exclude: int | None, margin: float | None
) -> str:
    what = "tasks like these" if unit == "tasks" else "trials of each stage and end to end"
    parts = []
    if to_see is not None:
        parts.append(
            f"{to_see:,} {what} (now {now:,}) would tell a residual as large as this from 0 with a "
            "chance of 80 %"
        )
    if to_exclude is not None:
        parts.append(
            f"{to_exclude:,} would show it to lie within {margin:g}, if there is none, with the "
            "same chance"
        )
    if margin is None:
        parts.append(NO_MARGIN)
    return "; ".join(parts) or f"no number of {what} worth making would settle it"
