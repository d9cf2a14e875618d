"""A logistic model whose groups have their own level, and what it says on the scale of a share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from turncurve.errors import FitError, InvariantError, NotEnoughDataError
from turncurve.stats.cluster_rows import ClusterRows, cluster_rows

FloatArray: TypeAlias = NDArray[np.float64]

_SINGULAR = 1e-10
_HUGE = 30.0
_STEEP = 1e-3
"""Gradient of the log-likelihood at an optimum, at most."""
_APART = 1e-4
_LEAST_NODES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticMixedFit:
    """A logistic model with a normal level by group, at its optimum.

    Attributes:
        value: Coefficients, of the log odds of a group; shape (n_coefficients,).
        std_error: From the curvature of the log-likelihood; shape (n_coefficients,).
        level_sd: Standard deviation of the groups' levels, in log odds.
        effect: Average marginal effect of each column: change of the mean share for a change of 1,
            over all rows and the spread of groups; shape (n_coefficients,).
        effect_std_error: Its standard error, by the delta method.
        log_likelihood: At the optimum.
        n_rows: Rows with every value.
        n_groups: Groups among them.
    """

    value: FloatArray
    std_error: FloatArray
    level_sd: float
    effect: FloatArray
    effect_std_error: FloatArray
    log_likelihood: float
    n_rows: int
    n_groups: int


def logistic_mixed(
    y: ArrayLike, x: ArrayLike, group: ArrayLike, *, n_nodes: int = _LEAST_NODES
) -> LogisticMixedFit:
    """Fit log odds(y) = x b + u(group) with normal u.

    The integral over u is by Gauss-Hermite quadrature about the mode of each group.

    Args:
        y: Outcomes 0 and 1, shape (n_rows,).
        x: Regressors, with their own column of ones; shape (n_rows, K).
        group: Group of each row, whatever the labels; shape (n_rows,).
        n_nodes: Nodes of the quadrature, 15 or more.

    A row with a NaN is left out.

    Raises:
        NotEnoughDataError: There are fewer than two groups, or no more rows than coefficients.
        InvariantError: The regressors depend on each other, or an outcome is neither 0 nor 1.
        FitError: The outcome is separated, or no optimum is found.

    References:
        Pinheiro & Bates (1995), Journal of Computational and Graphical Statistics 4:12-35.
    """
    rows = cluster_rows(y, x, group)
    k = rows.x.shape[1]
    if rows.n_clusters < 2:
        raise NotEnoughDataError("logistic mixed model: groups", need=2, got=rows.n_clusters)
    if len(rows.y) <= k:
        raise NotEnoughDataError("logistic mixed model: rows", need=k + 1, got=len(rows.y))
    if not np.isin(rows.y, (0.0, 1.0)).all():
        raise InvariantError("a logistic model needs outcomes of 0 and 1")
    if len(set(rows.y.tolist())) < 2:
        raise FitError("logistic mixed model: the outcome is the same in every row", fix="")
    design, transform = rows.scaled(_SINGULAR)
    model = _Model(rows, design, max(n_nodes, _LEAST_NODES))
    found = minimize(
        model.loss,
        np.append(_plain(rows.y, design), 0.5),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-7},
    )
    at, gradient = found.x, model.loss(found.x)[1]
    if np.abs(design @ at[:-1]).max() > _HUGE:
        raise _separated()
    if not np.isfinite(found.fun) or np.abs(gradient).max() > _STEEP * len(rows.y):
        raise FitError("logistic mixed model: no optimum is found", fix="drop regressors")
    covariance = np.linalg.inv(model.curvature(at))
    if not (np.diag(covariance) > 0).all():
        raise FitError("logistic mixed model: the optimum is flat", fix="drop regressors")
    full = np.block([[transform, np.zeros((k, 1))], [np.zeros((1, k)), np.ones((1, 1))]])
    effect, slope = _effects(rows.x, transform @ at[:-1], at[-1])
    spread = full @ covariance @ full.T
    return LogisticMixedFit(
        value=transform @ at[:-1],
        std_error=np.sqrt(np.diag(spread)[:-1]),
        level_sd=abs(float(at[-1])),
        effect=effect,
        effect_std_error=np.sqrt(np.einsum("ki,ij,kj->k", slope, spread, slope)),
        log_likelihood=-float(found.fun),
        n_rows=len(rows.y),
        n_groups=rows.n_clusters,
    )


class _Model:
    """Minus the log-likelihood of coefficients and the standard deviation of levels."""

    def __init__(self, rows: ClusterRows, design: FloatArray, n_nodes: int) -> None:
        self._rows, self._design = rows, design
        nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
        self._nodes, self._log_weights = nodes, np.log(weights) - 0.5 * np.log(2 * np.pi)
        self._mode = np.zeros(rows.n_clusters)

    def loss(self, at: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its gradient; the sign of the standard deviation does not matter."""
        rows, sd = self._rows, at[-1]
        linear = self._design @ at[:-1]
        mode, width = self._modes(linear, sd)
        level = mode[:, None] + width[:, None] * self._nodes
        eta = linear[:, None] + sd * level[rows.label]
        signed = np.where(rows.y == 1, 1.0, -1.0)[:, None]
        said = np.add.reduceat(log_expit(signed * eta), rows.starts, axis=0)
        log_terms = (
            said
            - 0.5 * level**2
            + 0.5 * self._nodes**2
            + self._log_weights
            + np.log(width)[:, None]
        )
        of_group = logsumexp(log_terms, axis=1)
        share = np.exp(log_terms - of_group[:, None])
        residual = rows.y[:, None] - expit(eta)
        of_row = (residual * share[rows.label]).sum(axis=1)
        of_sd = (np.add.reduceat(residual, rows.starts, axis=0) * level * share).sum()
        return -float(of_group.sum()), -np.append(self._design.T @ of_row, of_sd)

    def curvature(self, at: FloatArray) -> FloatArray:
        """Second derivatives of the loss, by differences of its gradient."""
        made = np.empty((len(at), len(at)))
        for number in range(len(at)):
            step = np.zeros(len(at))
            step[number] = _APART
            made[number] = (self.loss(at + step)[1] - self.loss(at - step)[1]) / (2 * _APART)
        return (made + made.T) / 2

    def _modes(self, linear: FloatArray, sd: float) -> tuple[FloatArray, FloatArray]:
        """The mode of each group's level over the standard deviation, and its width."""
        rows, mode = self._rows, self._mode
        for _ in range(100):
            mean = expit(linear + sd * mode[rows.label])
            gradient = sd * np.add.reduceat(rows.y - mean, rows.starts) - mode
            curvature = sd**2 * np.add.reduceat(mean * (1 - mean), rows.starts) + 1
            step = gradient / curvature
            mode = mode + np.clip(step, -2, 2)
            if np.abs(step).max() < 1e-10:
                break
        self._mode = mode
        return mode, 1 / np.sqrt(curvature)


def _plain(y: FloatArray, design: FloatArray) -> FloatArray:
    """Coefficients without levels, from which the search starts."""
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        mean = expit(design @ beta)
        weight = np.maximum(mean * (1 - mean), 1e-12)
        step = np.linalg.solve(design.T @ (design * weight[:, None]), design.T @ (y - mean))
        beta = beta + step
        if np.abs(design @ beta).max() > _HUGE:
            raise _separated()
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(beta)


def _separated() -> FitError:
    return FitError(
        "logistic mixed model: the outcome is separated: regressors tell some rows for sure",
        fix="drop a regressor, or use the linear model",
    )


def _effects(x: FloatArray, beta: FloatArray, sd: float) -> tuple[FloatArray, FloatArray]:
    """Average marginal effect of each column, and its derivative by coefficients and spread."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    weights = weights / np.sqrt(2 * np.pi)
    mean = expit((x @ beta)[:, None] + sd * nodes)
    density = mean * (1 - mean)
    bend = density * (1 - 2 * mean)
    average = float((density @ weights).mean())
    of_beta = (x * (bend @ weights)[:, None]).mean(axis=0)
    of_sd = float(((bend * nodes) @ weights).mean())
    k = len(beta)
    slope = np.empty((k, k + 1))
    slope[:, :k] = beta[:, None] * of_beta + average * np.eye(k)
    slope[:, k] = beta * of_sd
    return beta * average, slope
