"""The logistic slope over clusters: statsmodels' figures, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from turncurve.errors import NotEnoughDataError
from turncurve.stats.cluster_logit import cluster_logit_slope


def made_up(seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(15), rng.integers(2, 12, size=15))
    x = rng.normal(size=len(g))
    chance = 1 / (1 + np.exp(-(0.5 * x + rng.normal(size=15)[g])))
    return x, (rng.random(len(g)) < chance).astype(float), g


def test_is_statsmodels() -> None:
    """Slope and cluster-robust error are those of statsmodels' Logit."""
    import statsmodels.api as sm  # noqa: PLC0415 - slow to load

    x, y, g = made_up()
    ours = cluster_logit_slope(x, y, g)
    theirs = sm.Logit(y, sm.add_constant(x)).fit(disp=0, cov_type="cluster", cov_kwds={"groups": g})
    assert ours.value == pytest.approx(theirs.params[1], rel=1e-6)
    assert ours.std_error == pytest.approx(theirs.bse[1], rel=1e-6)
    assert ours.df == 14


def test_other_side_and_other_unit() -> None:
    """Swapping yes and no turns the sign; x in tens divides the slope by ten, and its error."""
    x, y, g = made_up()
    plain, other = cluster_logit_slope(x, y, g), cluster_logit_slope(10 * x + 3, 1 - y, g)
    assert other.value == pytest.approx(-plain.value / 10, rel=1e-6)
    assert other.std_error == pytest.approx(plain.std_error / 10, rel=1e-6)


@pytest.mark.parametrize(
    ("x", "yes"),
    [([1, 2, 3, 4], [1, 1, 1, 1]), ([1, 2, 3, 4], [0, 0, 1, 1]), ([2, 2, 2, 2], [0, 1, 0, 1])],
)
def test_no_best_curve_is_absent(x: list[int], yes: list[int]) -> None:
    """All yes, a turn that parts no from yes, or one position only: no slope."""
    found = cluster_logit_slope(x, yes, [0, 0, 1, 1])
    assert (found.value, found.std_error) == (None, None)


def test_refuses_too_little() -> None:
    """One cluster, or two values, are refused by name."""
    with pytest.raises(NotEnoughDataError, match="clusters"):
        cluster_logit_slope([1, 2, 3], [0, 1, 0], [1, 1, 1])
    with pytest.raises(NotEnoughDataError, match="values"):
        cluster_logit_slope([1, 2], [0, 1], [0, 1])
