"""The verdict from limits alone: equivalence, its level, and what would settle it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats

from turncurve.analysis.residual_verdict import NO_MARGIN, Judgement, Sizes, judge
from turncurve.stats.cluster_bootstrap import ClusterInterval

SIZES = Sizes(n_tasks=9, n_trials=20)


def normal(level: float, value: float, error: float) -> ClusterInterval:
    half = stats.norm.ppf((1 + level) / 2) * error
    return ClusterInterval(value=value, std_error=error, low=value - half, high=value + half)


def judged(
    value: float, error: float, margin: float | None = 0.1, over: str = "these tasks"
) -> Judgement:
    return judge(
        partial(normal, value=value, error=error), over, margin=margin, level=0.95, sizes=SIZES
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("value", "verdicts"),
    [
        (0.0, ("consistent", "consistent")),
        (0.082, ("consistent", "consistent")),  # .082 + 1.645 x .01 is below .1, 1.96 x .01 too
        (0.085, ("deficit", "surplus")),  # .085 + 1.645 x .01 is above .1
        (0.2, ("deficit", "surplus")),
    ],
)
def test_both_sides_must_lie_within_the_margin(
    sign: int, value: float, verdicts: tuple[str, str]
) -> None:
    """Limits at 90 % within the margin on both sides, else what the 95 % limits say."""
    found = judged(sign * value, 0.01)
    assert found.verdict == verdicts[sign < 0]
    assert found.equivalence.alpha == pytest.approx(0.05)


def test_equivalence_is_at_90_percent() -> None:
    """Two tests at 5 % are limits at 90 %: 1.645 standard errors, not 1.96 and not less."""
    assert judged(0.0, 0.1 / 1.66).verdict == "consistent"
    assert judged(0.0, 0.1 / 1.63).verdict == "inconclusive"


def test_a_residual_of_the_margin_is_seldom_called_consistent() -> None:
    """At the margin itself equivalence is shown in 5 % of 4,000 studies."""
    rng = np.random.default_rng(1)
    n = sum(judged(v, 0.02).verdict == "consistent" for v in rng.normal(0.1, 0.02, 4_000))
    assert n / 4_000 == pytest.approx(0.05, abs=3 * 0.0035)


def test_trials_that_would_settle_it() -> None:
    """To see it (1.960 + .842)² e²/d² as many, to exclude it (1.645 + 1.282)² e²/m²."""
    found = judged(0.05, 0.06).settle
    z = stats.norm.ppf
    assert found.unit == "trials"
    assert found.to_see == np.ceil(20 * ((z(0.975) + z(0.8)) * 0.06 / 0.05) ** 2)
    assert found.to_exclude == np.ceil(20 * ((z(0.95) + z(0.9)) * 0.06 / 0.1) ** 2)
    assert "now 20" in found.words


def test_tasks_that_would_settle_it() -> None:
    """Over other tasks it is tasks that there must be more of, by a t test's power."""
    found = judged(0.1, 0.06, over="tasks").settle
    assert (found.unit, found.now) == ("tasks", 9)
    size = 0.1 / (0.06 * 3)
    power = [
        stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, size * np.sqrt(n))
        for n in (found.to_see - 1, found.to_see)
    ]
    assert power[0] < 0.8 <= power[1]


def test_without_a_margin_one_is_asked_for() -> None:
    """And no number is given for what nobody declared."""
    found = judged(0.001, 0.06, margin=None)
    assert found.verdict == "inconclusive"
    assert found.settle.to_exclude is None
    assert NO_MARGIN in found.settle.words
    assert found.equivalence is None


def test_without_limits_there_is_no_verdict() -> None:
    """The reason is told."""

    def nothing(_: float) -> ClusterInterval:
        return ClusterInterval(value=0.3, reason="there is one family")

    found = judge(nothing, "tasks", margin=0.1, level=0.95, sizes=SIZES)
    assert found.verdict == "inconclusive"
    assert "one family" in found.why


def test_a_residual_that_no_number_settles() -> None:
    """A tiny residual within wide limits and no margin: only a margin helps."""
    found = judged(1e-6, 0.3, margin=None).settle
    assert found.to_see is None
    assert found.words == NO_MARGIN
