"""The report: every analysis of one set of runs, composed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from turncurve.analysis.by_turn import Reach, TurnSeries, curve_by_turn, reach
from turncurve.analysis.compactions import Compactions, compactions
from turncurve.analysis.completion import Completion, completion
from turncurve.analysis.context import ContextGrowth, context_growth
from turncurve.analysis.cost import Cost, cost
from turncurve.analysis.coverage import Coverage, coverage
from turncurve.analysis.degradation import (
    Curve,
    degradation_curve,
)
from turncurve.analysis.first_error import (
    FirstError,
    available_rules,
    first_bad_turn,
    time_to_first_error,
)
from turncurve.analysis.missing import Missing, missing
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.quality import QualitySignal, pick_quality, scale_of
from turncurve.analysis.regrounding import Regrounding, regrounding_interval
from turncurve.analysis.repetition import Repetition, repetition
from turncurve.analysis.segments import curves_by_segment
from turncurve.analysis.settings import Settings
from turncurve.analysis.success_by_length import LengthBin, success_by_length
from turncurve.analysis.summary import Summary, summarise
from turncurve.analysis.trend import Trend, trends_within_run
from turncurve.errors import OffScaleError, ReadError, UnknownEventError, UnknownNameError
from turncurve.ingest import Ingested, Input
from turncurve.report.drop import Drop, drop_of
from turncurve.table import SignalInfo, TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the runs came from, and what of it could not be read."""

    inputs: tuple[Input, ...] = ()
    unread: tuple[str, ...] = ()
    """Files that no reader knows."""
    problems: tuple[ReadError, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionCount:
    """How many runs stand under one condition; None where a run has none."""

    condition: str | None
    n_runs: int
    n_trials: int
    """Most runs of one of its scenarios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCount:
    """How many runs had an event of one kind right before one turn."""

    kind: str
    turn: int
    n_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What can be said of one set of runs: the results of all analyses, each with its n."""

    origin: Origin = field(default_factory=Origin)
    settings: Settings
    quality: QualitySignal
    """The signal that stands for quality here."""
    signals: Mapping[str, SignalInfo]
    """The signals with a curve, in the order of the report; quality comes first."""
    known_signals: Mapping[str, SignalInfo]
    """All signals that the table knows, with or without a curve."""
    summary: Summary
    conditions: tuple[ConditionCount, ...]
    curves: tuple[Curve, ...]
    """By bucket, over all runs that reach it: one a signal."""
    panels: tuple[Curve, ...]
    """By bucket, over the runs that are long enough for all of its buckets: one a signal."""
    segments: tuple[Curve, ...]
    """The quality curve, apart for buckets before and after a run's first compaction."""
    drop: Drop
    by_turn: tuple[TurnSeries, ...]
    reach: Reach
    first_bad_turn: float | None
    """By the rolling rule: the one run's own turn, or the median over several runs."""
    first_errors: tuple[FirstError, ...]
    """Time to first error, one a rule that the data allow; the rolling rule comes first."""
    trends: tuple[Trend, ...]
    regrounding: Regrounding | None
    """Only where a target was given."""
    context: ContextGrowth
    repetition: Repetition
    cost: Cost
    completion: Completion
    compactions: Compactions
    success_by_length: tuple[LengthBin, ...]
    missing: tuple[Missing, ...]
    coverage: Coverage | None
    """Only where runs from production were given."""
    events: tuple[EventCount, ...]


def build_report(
    runs: TurnTable | Ingested,
    *,
    settings: Settings | None = None,
    signals: Sequence[str] = (),
    target: float | None = None,
    production: TurnTable | None = None,
) -> Report:
    """Compose all analyses of some runs.

    Args:
        runs: A turn table, or what `read_table` gave, which also says where the runs came from.
        settings: How runs are read as a curve.
        signals: Names of the signals to draw curves of; without any, all that have a value.
        target: Adherence that should hold, or quality where no rule was checked (the share of
            turns that pass, where quality is read from grades); with it the report says up to
            which turn it does.
        production: Runs from production, to tell whether these runs are long enough to stand for
            them.

    Raises:
        UnknownNameError: A signal is asked for that the table doesn't have, or a curve along an
            event that no run has.
        OffScaleError: The target lies off the scale of its signal.
    """
    table, origin = _taken_apart(runs)
    settings = settings or Settings()
    if settings.axis == "event" and table.n_runs:
        _check_event(table, settings.event)
    level = settings.level
    quality = pick_quality(table, settings)
    chosen = _chosen(table, quality.name, signals)
    return Report(
        origin=origin,
        settings=settings,
        quality=quality,
        signals={name: _told(table.info[name], quality) for name in chosen},
        known_signals=table.info,
        summary=summarise(table),
        conditions=_conditions(table),
        curves=tuple(degradation_curve(table, name, settings=settings) for name in chosen),
        panels=tuple(
            degradation_curve(table, name, settings=settings, panel="balanced") for name in chosen
        ),
        segments=curves_by_segment(table, quality.name, settings) if quality.name else (),
        drop=drop_of(table, quality, settings),
        by_turn=tuple(curve_by_turn(table, name, settings) for name in chosen),
        reach=reach(table),
        first_bad_turn=first_bad_turn(table, settings=settings),
        first_errors=tuple(
            time_to_first_error(table, rule, settings=settings) for rule in available_rules(table)
        ),
        trends=trends_within_run(table, settings=settings),
        regrounding=None if target is None else _regrounding(table, target, quality, settings),
        context=context_growth(table, level=level),
        repetition=repetition(table, level=level),
        cost=cost(table, settings),
        completion=completion(table, settings),
        compactions=compactions(table, level=level),
        success_by_length=success_by_length(table, settings),
        missing=missing(table),
        coverage=None if production is None else coverage(table, production, level=level),
        events=_events(table),
    )


def _told(info: SignalInfo, quality: QualitySignal) -> SignalInfo:
    """Verdicts that nobody gave are not called grades."""
    by_rule = info.name == "error" and quality.source == "rule"
    return replace(info, title="Error rate (by a rule)") if by_rule else info


def _taken_apart(runs: TurnTable | Ingested) -> tuple[TurnTable, Origin]:
    if isinstance(runs, TurnTable):
        return runs, Origin()
    return runs.table, Origin(inputs=runs.inputs, unread=runs.unread, problems=runs.problems)


def _chosen(table: TurnTable, quality: str | None, asked: Sequence[str]) -> list[str]:
    """The quality signal first, then those asked for, or all that have a value."""
    drawable = [name for name, info in table.info.items() if info.curve and _known(table, name)]
    for name in asked:
        if name not in table.columns:
            raise UnknownNameError("signal", name, drawable)
    first = [] if quality is None else [quality]
    return list(dict.fromkeys([*first, *(asked or drawable)]))


def _check_event(table: TurnTable, kind: str) -> None:
    runs: dict[str, set[int]] = {}
    for name, run in zip(table.events.kind.tolist(), table.events.run.tolist(), strict=True):
        runs.setdefault(name, set()).add(run)
    if kind not in runs:
        raise UnknownEventError(kind, {name: len(runs[name]) for name in sorted(runs)})


def _regrounding(
    table: TurnTable, target: float, quality: QualitySignal, settings: Settings
) -> Regrounding:
    signal = "adherence"
    if not _known(table, signal) and quality.name is not None:
        signal = quality.name
        if quality.better == "low":
            table, signal = _passing(table, signal)
    low, high = scale_of(table, signal, settings)
    if low is not None and high is not None and not low <= target <= high:
        raise OffScaleError("target", target, signal, (low, high))
    return regrounding_interval(table, target=target, settings=settings, signal=signal)


def _passing(table: TurnTable, failing: str) -> tuple[TurnTable, str]:
    """The table with the share of turns that pass, whose high values are good."""
    name = "passing_turns"
    info = replace(table.info[failing], name=name, title="Passing turns", better="high")
    return replace(
        table,
        columns={**table.columns, name: 1 - table.columns[failing]},
        info={**table.info, name: info},
    ), name


def _conditions(table: TurnTable) -> tuple[ConditionCount, ...]:
    own = own_runs(table)
    names, scenarios = table.runs.condition[own].tolist(), table.runs.scenario[own].tolist()
    trials: dict[str | None, int] = {}
    for (name, scenario), n in Counter(zip(names, scenarios, strict=True)).items():
        trials[name] = max(trials.get(name, 1), n if scenario is not None else 1)
    return tuple(
        ConditionCount(condition=name, n_runs=n, n_trials=trials[name])
        for name, n in Counter(names).items()
    )


def _events(table: TurnTable) -> tuple[EventCount, ...]:
    events = table.events
    each = set(zip(events.kind.tolist(), events.turn.tolist(), events.run.tolist(), strict=True))
    counts = Counter((kind, turn) for kind, turn, _ in each)
    return tuple(
        EventCount(kind=kind, turn=turn, n_runs=n) for (kind, turn), n in sorted(counts.items())
    )


def _known(table: TurnTable, name: str) -> bool:
    return name in table.columns and not np.isnan(table.columns[name]).all()
