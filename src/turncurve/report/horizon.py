"""Time horizons in words, a table and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turncurve.analysis.horizon import AgentHorizon, Horizons
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.figures import ABSENT, compact, counted
from turncurve.report.layout import visible
from turncurve.report.plain import plain
from turncurve.stats.estimate import Estimate

SCHEMA_VERSION = "1.0"
TITLE = "time horizons"
NAME = 22
"""Characters of an agent's name in the table."""

_WEIGHING = {
    "rows": "every run against every time of its task weighs the same",
    "tasks": "every task weighs the same",
    "families": "tasks weigh by 1 over the root of the number of tasks in their family",
}


def horizons_json(result: Horizons) -> dict[str, Any]:
    """The result as plain values; `horizons` is by agent, in hours."""
    return {"schema_version": SCHEMA_VERSION, **plain(result)}


def horizons_blocks(result: Horizons) -> tuple[Block, ...]:
    """A sentence on the longest horizon, a table of all agents, and how it was done."""
    return tuple(_blocks(result))


def _blocks(result: Horizons) -> Iterator[Block]:
    known = {name: one for name, one in result.horizons.items() if one.p50.value is not None}
    if known:
        name = max(known, key=lambda agent: known[agent].p50.value or 0.0)
        yield Said(_sentence(name, known[name], len(result.horizons)))
    else:
        yield Said("No agent has a horizon: see the reasons below.")
    level = f"{100 * result.settings.level:g} % interval"
    yield Table(
        title="Tasks at which an agent succeeds, in hours that people take",
        header=("agent", "at 50 %", level, "at 80 %", level, "runs"),
        rows=tuple(_row(name, one) for name, one in result.horizons.items()),
        align="<>>>>>",
        notes=tuple(_notes(result)),
    )
    yield Facts(title="How", pairs=tuple(_facts(result)))


def _sentence(name: str, one: AgentHorizon, n_agents: int) -> str:
    among = f" of {n_agents:,} agents" if n_agents > 1 else ""
    return (
        f"{name} has the longest horizon{among}: it succeeds in half of the tasks that take people "
        f"{_time(one.p50.value)} {_interval(one.p50)}, and in 80 % of those that take "
        f"{_time(one.p80.value)} {_interval(one.p80)}."
    )


def _row(name: str, one: AgentHorizon) -> tuple[str, ...]:
    return (
        visible(name, NAME),
        compact(one.p50.value),
        with_limits(one.p50),
        compact(one.p80.value),
        with_limits(one.p80),
        f"{one.n_runs:,}",
    )


def with_limits(estimate: Estimate) -> str:
    """`[8.3, 23]`, in the unit of the value."""
    if estimate.low is None or estimate.high is None:
        return ABSENT
    return f"[{compact(estimate.low)}, {compact(estimate.high)}]"


def _time(value: float | None) -> str:
    """`14.5 h`, `24 min`, `40 s`."""
    if value is None:
        return ABSENT
    for unit, size in (("h", 1.0), ("min", 1 / 60)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value / size < 1000 else f"{value:,.0f} {unit}"
    return f"{value * 3600:.3g} s"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ABSENT
    return f"[{_time(estimate.low)}, {_time(estimate.high)}]"


def _notes(result: Horizons) -> Iterator[str]:
    for name, one in result.horizons.items():
        if one.p50.reason is not None:
            yield f"{name}: {one.p50.reason}."
        for warning in one.p50.warnings:
            yield f"{name}: {warning}."


def _facts(result: Horizons) -> Iterator[tuple[str, str]]:
    settings, every = result.settings, list(result.horizons.values())
    most = max(every, key=lambda one: one.n_tasks)
    yield (
        "data",
        (
            f"{counted(sum(one.n_runs for one in every), 'run')} on up to "
            f"{counted(most.n_tasks, 'task')} in {counted(most.n_families, 'family', 'families')}."
        ),
    )
    yield "curve", "log odds of success on a straight line over log2 of the time."
    yield "weights", f"{_WEIGHING[settings.weighting]}; ridge {settings.ridge:g} on the slope."
    levels = (
        "families, their tasks and the runs of these"
        if settings.resample_runs
        else ("families and their tasks, with all runs of these")
    )
    yield (
        "interval",
        (
            f"{counted(settings.resamples, 'resample')} of {levels}, seed {settings.seed}; "
            "the value is their median."
        ),
    )
    for reason, n in result.excluded.items():
        yield "left out", f"{reason}: {n:,}."
