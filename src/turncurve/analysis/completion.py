"""How many turns runs take to finish, with those that didn't finish counted as such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import NO_TURN, SUBAGENT, own_runs
from turncurve.analysis.run_lengths import CUT_SHORT, FINISHED, last_turns
from turncurve.analysis.settings import Settings
from turncurve.analysis.turn_quantiles import Quantile, turn_quantiles
from turncurve.stats.survival import kaplan_meier
from turncurve.table import TurnTable

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Turns to completion.

    Attributes:
        n_runs: Runs that the quantiles rest on.
        n_finished: Runs that finished by themselves, in success or in failure.
        n_censored: Runs that did not, as far as is known, those with an unknown end among them.
        n_unknown: Runs whose file does not say how they ended, or does not say it in a way that
            tells finishing from being cut short.
        excluded: Reason to number of runs left out.
        quantiles: The turn by which a share of the runs has finished, where an unknown end counts
            as "took at least so many turns".
        quantiles_if_unknown_finished: The same if all runs with an unknown end had finished; the
            truth lies between the two.
        why: Why there are no quantiles.
    """

    n_runs: int = 0
    n_finished: int = 0
    n_censored: int = 0
    n_unknown: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    quantiles: tuple[Quantile, ...] = ()
    quantiles_if_unknown_finished: tuple[Quantile, ...] = ()
    why: str | None = None


def completion(table: TurnTable, settings: Settings) -> Completion:
    """The turn by which a tenth, a quarter, half, ... of the runs has finished.

    A run that a budget, a crash or its user ended, or that is running still, took at least its
    turns: it is censored. The Kaplan-Meier estimate takes it that such runs would have finished as
    the others did, which fails where the runs that get stuck are those that run out of budget; the
    quantiles are then too early.

    Args:
        table: Runs; those without a turn are left out.
        settings: Its `level` is that of every interval.

    Returns:
        Counts and quantiles. `quantiles` is empty, and `why` says so, if no run is known to have
        finished.

    References:
        Kaplan & Meier (1958), JASA 53:457-481.
    """
    own = own_runs(table)
    table = table.select(own)
    turns = last_turns(table)
    has_turn = turns > 0
    turns, exits = turns[has_turn], table.runs.exit_type[has_turn].astype(str)
    finished = np.isin(exits, FINISHED)
    unknown = ~finished & ~np.isin(exits, CUT_SHORT)
    return Completion(
        n_runs=len(turns),
        n_finished=int(finished.sum()),
        n_censored=int((~finished).sum()),
        n_unknown=int(unknown.sum()),
        excluded=excluded_counts({NO_TURN: ~has_turn, SUBAGENT: ~own}),
        quantiles=_quantiles(turns, finished, settings.level),
        quantiles_if_unknown_finished=_quantiles(turns, finished | unknown, settings.level),
        why=None if finished.any() else _why(len(turns), int(unknown.sum())),
    )


def _quantiles(
    turns: NDArray[np.int64], finished: NDArray[np.bool_], level: float
) -> tuple[Quantile, ...]:
    if not finished.any():
        return ()
    return turn_quantiles(kaplan_meier(turns, finished, level=level), SHARES)


def _why(n_runs: int, n_unknown: int) -> str:
    if n_runs == 0:
        return "no run has a turn"
    if n_unknown:
        return f"no run is known to have finished by itself; not known of {n_unknown} of {n_runs}"
    return f"no run finished by itself, of {n_runs} in all"
