"""What changed between two conditions, and at which turns?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from turncurve.analysis.axes import default_width
from turncurve.analysis.comparison.amounts import Amount, amounts_of
from turncurve.analysis.comparison.difference import Difference, difference_of
from turncurve.analysis.comparison.first_error import FirstErrorRatio, first_error_ratio
from turncurve.analysis.comparison.pairs import Pairs, Side, pair_up
from turncurve.analysis.comparison.place import PlaceChange, place_change
from turncurve.analysis.comparison.settings import CompareSettings, PairBy
from turncurve.analysis.comparison.signals import SAYS_ANOTHER, SignalMoves, signal_moves
from turncurve.analysis.comparison.verdict import Judged, judged
from turncurve.analysis.comparison.who_is_left import WhoIsLeft, who_is_left
from turncurve.analysis.quality import QualitySignal, default_threshold, pick_quality, scale_of
from turncurve.analysis.settings import Settings
from turncurve.errors import NotComparableError, UnknownNameError
from turncurve.table import TurnTable
from turncurve.table.concat import concat

NAMES = ("a", "b")
MOST_TURNS_ONE_BY_ONE = 200
"""Length of the longest run up to which a cliff is looked for turn by turn."""
STAND_FOR_QUALITY = ("error", "quality", "tool_success")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSummary:
    """One condition in the comparison.

    Attributes:
        name: What it is called.
        n_runs: Its runs of the common scenarios.
        n_scenarios: All scenarios that it has.
        n_alone: Those that the other has not, which are left out.
        alone: Their names.
        fewest_trials: Fewest runs of a common scenario.
        most_trials: Most.
        n_turns: Longest of its runs.
        excluded: Reason to number of runs left out.
    """

    name: str
    n_runs: int
    n_scenarios: int
    n_alone: int
    alone: tuple[str, ...]
    fewest_trials: int
    most_trials: int
    n_turns: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two conditions, a and b, over the scenarios that both have; differences are b - a.

    Attributes:
        a: The first condition.
        b: The second.
        n_scenarios: Scenarios that both have.
        pair_by: What is paired.
        signal: Column that is compared; None where none stands for quality in both.
        why_signal: Why that one.
        better: Its good direction.
        judged: The verdict.
        difference: By turn and over turns; None with `no_difference`.
        no_difference: Why there is none.
        who_is_left: Whether runs that end early make the difference; None without one.
        places: Cliff or knee of either, and how far it moved; None without a difference.
        first_error: The time to the first error.
        amounts: Success, cost, tokens and turns.
        signals: Which signal moved first.
        notes: What limits the comparison, in sentences.
        settings: What was asked for.
    """

    a: SideSummary
    b: SideSummary
    n_scenarios: int
    pair_by: PairBy
    signal: str | None
    why_signal: str
    better: str | None
    judged: Judged
    difference: Difference | None
    no_difference: str | None
    who_is_left: WhoIsLeft | None
    places: PlaceChange | None
    first_error: FirstErrorRatio
    amounts: tuple[Amount, ...]
    signals: SignalMoves
    notes: tuple[str, ...]
    settings: CompareSettings


_DEFAULTS = CompareSettings()


def compare(
    a: TurnTable,
    b: TurnTable,
    settings: CompareSettings = _DEFAULTS,
    *,
    names: tuple[str, str] | None = None,
) -> Comparison:
    """Compare two conditions turn by turn, paired by the scenarios that both have.

    Each scenario weighs the same: its curve is the mean over its runs on either side. Intervals
    and bands are over scenarios, so they speak for others of the kind.

    Args:
        a: Runs of one condition, as before a change.
        b: Runs of the other, as after it.
        settings: What is compared, and how.
        names: What to call the two; None for the conditions' own names, where they differ.

    Raises:
        NotComparableError: Fewer than 5 scenarios in common, a side holds several conditions, or a
            margin is stated for a signal without a good direction.
        UnknownNameError: There is no such signal or rule in one of them.
        InvariantError: Trials are to be paired and a scenario has one twice.
    """
    called = names or _names(a, b)
    pairs = _alike(pair_up(a, b, by=settings.pair_by, names=called))
    quality = pick_quality(_quality_of_both(pairs), Settings(quality_scale=settings.quality_scale))
    signal = settings.signal or quality.name
    _check_signal(pairs, signal, called)
    bucket = settings.bucket or _width(pairs)
    why_not = _why_not(pairs, signal, settings, quality)
    first_error = first_error_ratio(pairs, settings, _threshold(quality, settings))
    parts = (
        _parts(pairs, str(signal), bucket, settings)
        if why_not is None
        else _Parts(judged=Judged(verdict="not comparable", why=why_not))
    )
    return Comparison(
        a=_summary(pairs.a, called[0], len(pairs.scenarios)),
        b=_summary(pairs.b, called[1], len(pairs.scenarios)),
        n_scenarios=len(pairs.scenarios),
        pair_by=settings.pair_by,
        signal=signal,
        why_signal=quality.why if signal == quality.name else "the signal that was asked for",
        better=_better(pairs, signal),
        judged=parts.judged,
        difference=parts.difference,
        no_difference=why_not,
        who_is_left=parts.who_is_left,
        places=parts.places,
        first_error=first_error,
        amounts=amounts_of(pairs, level=settings.level),
        signals=signal_moves(pairs, _signals_of_both(pairs, signal), settings, bucket),
        notes=tuple(_notes(pairs, called)),
        settings=settings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What is known of the signal that is compared."""

    difference: Difference | None = None
    judged: Judged
    who_is_left: WhoIsLeft | None = None
    places: PlaceChange | None = None


def _parts(pairs: Pairs, signal: str, bucket: int, settings: CompareSettings) -> _Parts:
    better = _better(pairs, signal)
    if settings.margin is not None and better is None:
        raise NotComparableError(
            f"{signal} is neither good nor bad when it is high, so no margin says what is worse",
            "choose another signal, or leave the margin out",
        )
    cells = pairs.cells(signal, bucket)
    last_turn = max(int(side.table.turn.max()) for side in (pairs.a, pairs.b))
    difference = difference_of(cells, settings, better=better, last_turn=last_turn)
    verdict = judged(difference, better)
    if difference.horizon is None:
        return _Parts(difference=difference, judged=verdict)
    return _Parts(
        difference=difference,
        judged=verdict,
        who_is_left=who_is_left(
            pairs,
            cells,
            horizon=-(-difference.horizon // bucket),
            floor=_worst(pairs, signal, better, settings),
            level=settings.level,
        ),
        places=_places(pairs, signal, bucket if last_turn > MOST_TURNS_ONE_BY_ONE else 1, settings),
    )


def _places(pairs: Pairs, signal: str, bucket: int, settings: CompareSettings) -> PlaceChange:
    """Turn by turn where that can be afforded: a bucket makes a ramp of a cliff within it."""
    bucket = settings.bucket or bucket
    a, b = pairs.cells(signal, bucket).of_scenarios()
    return place_change(a, b, bucket, settings)


def _names(a: TurnTable, b: TurnTable) -> tuple[str, str]:
    found = [{str(c) for c in table.runs.condition if c is not None} for table in (a, b)]
    if all(len(names) == 1 for names in found) and found[0] != found[1]:
        return found[0].pop(), found[1].pop()
    return NAMES


def _alike(pairs: Pairs) -> Pairs:
    """The pairs without columns of quality that one side lacks, so that both go by the same."""
    both = _known(pairs.a) & _known(pairs.b)
    return replace(pairs, a=_without(pairs.a, both), b=_without(pairs.b, both))


def _known(side: Side) -> set[str]:
    columns = side.table.columns
    return {name for name, column in columns.items() if not np.isnan(column).all()}


def _without(side: Side, both: set[str]) -> Side:
    columns = {
        name: column
        for name, column in side.table.columns.items()
        if name in both or name not in STAND_FOR_QUALITY
    }
    return replace(side, table=replace(side.table, columns=columns))


def _quality_of_both(pairs: Pairs) -> TurnTable:
    return concat([pairs.a.table, pairs.b.table])


def _check_signal(pairs: Pairs, signal: str | None, names: tuple[str, str]) -> None:
    if signal is None:
        return
    for side, name in zip((pairs.a, pairs.b), names, strict=True):
        if signal not in side.whole.columns:
            raise UnknownNameError(f"signal of {name}", signal, side.whole.columns)


def _why_not(
    pairs: Pairs, signal: str | None, settings: CompareSettings, quality: QualitySignal
) -> str | None:
    """Why the signal of the two cannot be compared; None where it can."""
    if signal is None:
        return f"{quality.why}, in both; name another signal with --signal"
    missing = [s for s in (pairs.a, pairs.b) if np.isnan(s.table.column(signal)).all()]
    if missing:
        side = "a" if missing[0] is pairs.a else "b"
        return f"no turn of {side}, in the scenarios that both have, has a value of {signal}"
    scales = [_stated_scales(side) for side in (pairs.a, pairs.b)]
    if signal != "quality" or settings.quality_scale or scales[0] == scales[1]:
        return None
    a, b = (" and ".join(f"{low:g} to {high:g}" for low, high in sorted(s)) for s in scales)
    return (
        f"the scores are on different scales: the files of a say {a or 'nothing'}, those of b "
        f"{b or 'nothing'}; if they are the same, state it with --scale LOW HIGH"
    )


def _stated_scales(side: Side) -> set[tuple[float, float]]:
    runs = side.table.runs
    known = zip(runs.quality_low.tolist(), runs.quality_high.tolist(), strict=True)
    return {(low, high) for low, high in known if low < high}


def _better(pairs: Pairs, signal: str | None) -> str | None:
    info = None if signal is None else pairs.a.table.info.get(signal)
    return info.better if info else None


def _worst(
    pairs: Pairs, signal: str, better: str | None, settings: CompareSettings
) -> float | None:
    """The bad end of the signal's scale; None where it is not known."""
    both = _quality_of_both(pairs)
    low, high = scale_of(both, signal, Settings(quality_scale=settings.quality_scale))
    return None if better is None else low if better == "high" else high


def _width(pairs: Pairs) -> int:
    turns = [side.table.turn.astype(np.float64) for side in (pairs.a, pairs.b)]
    return default_width("turn", np.concatenate(turns))


def _threshold(quality: QualitySignal, settings: CompareSettings) -> float | None:
    return default_threshold(quality) if settings.threshold is None else settings.threshold


def _signals_of_both(pairs: Pairs, signal: str | None) -> list[str]:
    """Signals with a curve that both have, the one that is compared first."""
    info = pairs.a.table.info
    both = _known(pairs.a) & _known(pairs.b)
    named = [
        name
        for name in pairs.a.table.columns
        if name in both and name in info and info[name].curve and name not in SAYS_ANOTHER
    ]
    first = [signal] if signal is not None and signal in both else []
    return list(dict.fromkeys([*first, *named]))


def _summary(side: Side, name: str, n_scenarios: int) -> SideSummary:
    trials = np.bincount(side.scenario, minlength=n_scenarios)
    return SideSummary(
        name=name,
        n_runs=side.n_runs,
        n_scenarios=side.n_scenarios,
        n_alone=len(side.alone),
        alone=side.alone,
        fewest_trials=int(trials.min()),
        most_trials=int(trials.max()),
        n_turns=int(side.table.turn.max()),
        excluded=side.excluded,
    )


def _notes(pairs: Pairs, names: tuple[str, str]) -> list[str]:
    notes = []
    n = len(pairs.scenarios)
    for side, name in zip((pairs.a, pairs.b), names, strict=True):
        trials = np.bincount(side.scenario, minlength=n)
        if trials.min() != trials.max():
            notes.append(
                f"scenarios of {name} have {trials.min()} to {trials.max()} runs: each weighs the "
                "same, by the mean of its runs"
            )
        if len(side.alone) > n:
            notes.append(
                f"{len(side.alone):,} of {side.n_scenarios:,} scenarios of {name} are not in the "
                "other: the comparison speaks for those in both"
            )
    if n < 10:
        notes.append(
            f"{n} scenarios are few: the band is Bonferroni's, and there is no interval by "
            "resampling"
        )
    return notes
