"""Which runs would have the same chance of a first error, and which are independent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.first_error_settings import Alike
from turncurve.analysis.first_error_times import FirstErrorTimes
from turncurve.analysis.own_runs import repeats_scenarios, scenario_codes
from turncurve.table import TurnTable

IntArray: TypeAlias = NDArray[np.int64]

ALIKE_IN_WORDS = {
    "scenario": "the same scenario, condition and model",
    "condition": "the same condition",
    "model": "the same model",
    "agent": "the same agent",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsAlike:
    """First errors of runs at risk after `entry`; arrays of shape (n_runs,).

    Attributes:
        time: Turn of the event, or the last turn seen.
        event: Whether the run had the event.
        stratum: Code of the runs that it is alike to.
        cluster: Code of its independent unit: its scenario where scenarios repeat, else itself.
        entry: Turns before the first at risk.
    """

    time: IntArray
    event: NDArray[np.bool_]
    stratum: IntArray
    cluster: IntArray
    entry: int

    @property
    def entries(self) -> IntArray:
        """The entry of each run."""
        return np.full(len(self.time), self.entry, dtype=np.int64)

    def after(self, entry: int) -> RunsAlike:
        """The runs that are still at risk after that turn."""
        rest = self.time > entry
        return RunsAlike(
            time=self.time[rest],
            event=self.event[rest],
            stratum=self.stratum[rest],
            cluster=self.cluster[rest],
            entry=entry,
        )


def scenario_clusters(table: TurnTable, times: FirstErrorTimes) -> IntArray | None:
    """The scenario of each run that counts, as a code; None where no scenario repeats."""
    used = np.zeros(table.n_runs, dtype=np.bool_)
    used[times.run] = True
    return scenario_codes(table)[times.run] if repeats_scenarios(table, used) else None


def runs_alike(table: TurnTable, times: FirstErrorTimes, alike: Alike) -> RunsAlike:
    """The runs that count, by what makes them alike.

    A run without a scenario is alike to none; runs that name no condition, model or agent are
    alike in that.
    """
    known = table.runs
    if alike == "scenario":
        columns = [scenario_codes(table).tolist(), known.condition.tolist(), known.model.tolist()]
    else:
        columns = [getattr(known, alike).tolist()]
    codes: dict[object, int] = {}
    keys = zip(*columns, strict=True)
    every = np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.int64)
    cluster = scenario_clusters(table, times)
    return RunsAlike(
        time=times.time.astype(np.int64),
        event=times.event,
        stratum=every[times.run],
        cluster=np.arange(len(times.run)) if cluster is None else cluster,
        entry=int(times.entry),
    )
