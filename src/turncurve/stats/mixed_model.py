"""Linear models whose groups have their own level, or their own level and slope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from turncurve.errors import FitError, NotEnoughDataError
from turncurve.stats.group_sums import GroupSums, group_sums

FloatArray: TypeAlias = NDArray[np.float64]

_NEARLY_ZERO = 1e-5
"""Relative standard deviation of a random effect below which it is none."""
_MOST = 1e3
_FLAT = 1e-9
_STARTS = (0.0, 0.1, 0.5, 1.5, 6.0)
"""Relative standard deviations from which the optimum is looked for: the profile has several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedFit:
    """A linear mixed model at its optimum.

    Attributes:
        value: Coefficients of the columns of x; shape (n_coefficients,).
        std_error: Their standard errors, given the variances; shape (n_coefficients,).
        covariance: Of the coefficients; shape (n_coefficients, n_coefficients).
        random_covariance: Of a group's level, and slope; shape (1, 1) or (2, 2).
        residual_variance: Of the rest.
        log_likelihood: Restricted or plain, as was asked for.
        n_rows: Rows with every value.
        n_groups: Groups among them.
        at_bound: A random effect has no variance of its own: with fewer the model would fit as
            well.
    """

    value: FloatArray
    std_error: FloatArray
    covariance: FloatArray
    random_covariance: FloatArray
    residual_variance: float
    log_likelihood: float
    n_rows: int
    n_groups: int
    at_bound: bool


def mixed_model(
    y: ArrayLike,
    x: ArrayLike,
    group: ArrayLike,
    slopes: ArrayLike | None = None,
    *,
    correlated: bool = False,
    restricted: bool = True,
) -> MixedFit:
    """Fit y = x b + u(group) + s(group) z + e, with normal u, s and e.

    The likelihood is profiled over the coefficients and the residual variance, on sums of products
    by group: a step costs as many operations as there are groups, whatever the rows.

    Args:
        y: Outcome, shape (n_rows,).
        x: Regressors, with their own column of ones; shape (n_rows, K).
        group: Group of each row, whatever the labels; shape (n_rows,).
        slopes: What each group has its own slope on besides its own level; shape (n_rows,). None:
            level alone.
        correlated: Level and slope may hang together. Where they may not, they are independent
            where `slopes` is 0, so that its origin matters.
        restricted: Maximise the restricted likelihood (REML), not the plain one.

    A row with a NaN is left out.

    Raises:
        NotEnoughDataError: There are fewer than two groups, or no more rows than coefficients.
        InvariantError: The regressors depend on each other.
        FitError: The outcome is explained without a rest, or no optimum is found.

    References:
        Bates, Maechler, Bolker & Walker (2015), Journal of Statistical Software 67(1), section 3.
    """
    sums = group_sums(y, x, group, slopes)
    if sums.n_groups < 2:
        raise NotEnoughDataError("mixed model: groups", need=2, got=sums.n_groups)
    if sums.n_rows <= sums.n_columns:
        raise NotEnoughDataError("mixed model: rows", need=sums.n_columns + 1, got=sums.n_rows)
    own = np.arange(sums.n_random)
    places = np.tril_indices(sums.n_random) if correlated else (own, own)
    is_spread = places[0] == places[1]

    def factor(theta: FloatArray) -> FloatArray:
        """The relative Cholesky factor of the random effects' covariance."""
        made = np.zeros((sums.n_random, sums.n_random))
        made[places] = np.where(is_spread, np.abs(theta), theta)
        return made

    theta = _optimum(
        lambda at: _deviance(sums, factor(at), restricted=restricted),
        int(is_spread.sum()),
        is_spread,
    )
    return _fit_at(sums, factor(theta), restricted=restricted)


def _optimum(
    deviance: Callable[[FloatArray], float], n_random: int, is_spread: NDArray[np.bool_]
) -> FloatArray:
    """The relative standard deviations, and what hangs together, at which the deviance is least."""
    grid = np.stack(np.meshgrid(*[_STARTS] * n_random, indexing="ij"), axis=-1)
    starts = np.zeros((len(_STARTS) ** n_random, len(is_spread)))
    starts[:, is_spread] = grid.reshape(-1, n_random)
    found = [_descend(deviance, start) for start in sorted(starts, key=deviance)[:3]]
    best = min(found, key=deviance)
    if not np.isfinite(deviance(best)):
        raise FitError("mixed model: the likelihood has no optimum", fix="give it more runs")
    if (np.abs(best) > _MOST).any():
        raise FitError(
            "mixed model: groups differ, and nothing differs within them",
            fix="use an outcome that varies within runs",
        )
    best[np.abs(best) < _NEARLY_ZERO] = 0.0
    return best


def _descend(deviance: Callable[[FloatArray], float], start: FloatArray) -> FloatArray:
    """The nearest optimum; restarted until it stays."""
    at, value = start, deviance(start)
    for _ in range(10):
        found = minimize(
            deviance,
            at,
            method="Nelder-Mead",
            options={
                "xatol": 1e-9,
                "fatol": 1e-11,
                "maxiter": 2_000,
                "initial_simplex": _simplex(at),
            },
        )
        gained = value - found.fun
        at, value = found.x, float(found.fun)
        if gained < _FLAT:
            break
    return at


def _simplex(at: FloatArray) -> FloatArray:
    """Corners around a point that do not fall together at zero."""
    corners = np.tile(at, (len(at) + 1, 1))
    for number in range(len(at)):
        corners[number + 1, number] += max(0.1, 0.5 * abs(at[number]))
    return corners


def _parts(sums: GroupSums, factor: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
    """Products of the columns and the outcome net of the random effects, and the determinant."""
    inner = np.eye(sums.n_random) + factor.T @ sums.zz @ factor
    cross = factor.T @ np.concatenate((sums.zx, sums.zy[:, :, None]), axis=2)
    root = np.linalg.cholesky(inner)
    half = np.linalg.solve(root, cross)
    taken = np.einsum("gqk,gql->kl", half, half)
    xx, xy = sums.xx - taken[:-1, :-1], sums.xy - taken[:-1, -1]
    determinant = 2 * float(np.log(np.einsum("gqq->gq", root)).sum())
    return xx, xy, sums.yy - float(taken[-1, -1]), determinant


def _deviance(sums: GroupSums, factor: FloatArray, *, restricted: bool) -> float:
    """Minus twice the profiled log-likelihood, but for its constants."""
    xx, xy, yy, determinant = _parts(sums, factor)
    rest = yy - float(xy @ np.linalg.solve(xx, xy))
    if not rest > _FLAT * sums.yy_within:
        return float("inf")
    df = sums.n_rows - (sums.n_columns if restricted else 0)
    extra = float(np.linalg.slogdet(xx)[1]) if restricted else 0.0
    return df * float(np.log(rest / df)) + determinant + extra


def _fit_at(sums: GroupSums, factor: FloatArray, *, restricted: bool) -> MixedFit:
    xx, xy, yy, _ = _parts(sums, factor)
    coefficients = np.linalg.solve(xx, xy)
    df = sums.n_rows - (sums.n_columns if restricted else 0)
    variance = (yy - float(xy @ coefficients)) / df
    covariance = sums.back(np.asarray(variance * np.linalg.inv(xx)))
    deviance = _deviance(sums, factor, restricted=restricted)
    if restricted:
        deviance -= 2 * float(np.linalg.slogdet(sums.transform)[1])
    scaled = factor / sums.z_scale[:, None]
    return MixedFit(
        value=sums.transform @ coefficients,
        std_error=np.sqrt(np.diag(covariance)),
        covariance=covariance,
        random_covariance=variance * scaled @ scaled.T,
        residual_variance=variance,
        log_likelihood=-0.5 * (deviance + df * (1 + float(np.log(2 * np.pi)))),
        n_rows=sums.n_rows,
        n_groups=sums.n_groups,
        at_bound=not np.diag(factor).all(),
    )
