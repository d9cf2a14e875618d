"""Runs lined up on an event."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.suites import suite_table
from turncurve.analysis.alignment import align_on_event, event_kinds, event_step
from turncurve.analysis.suite import suite_of
from turncurve.errors import InvariantError, UnknownEventError


def smeared(
    n: int = 600, *, step: float = -0.81, seed: int = 131
) -> tuple[np.ndarray, dict[tuple[int, int], list[int]]]:
    """A step at an event that comes before turns 7 to 10, in nine of ten runs."""
    rng = np.random.default_rng(seed)
    pivot = rng.choice([7, 8, 9, 10], n, p=[0.15, 0.6, 0.15, 0.1])
    has = rng.random(n) >= 0.1
    scores = 3.7 + rng.normal(0, 0.5, (n, 1)) - 0.02 * np.arange(14) + rng.normal(0, 0.4, (n, 14))
    scores += np.where(has[:, None] & (np.arange(1, 15) >= pivot[:, None]), step, 0.0)
    return scores[None], {(0, s): [int(pivot[s])] for s in range(n) if has[s]}


def lined_up(scores, events, event="compaction", **options):
    table = suite_table(scores, events=events)
    suite = suite_of(table, "quality", **options)
    return event_step(suite, table, event, rng=np.random.default_rng(0))


def test_a_smeared_step_sharpens_at_its_event() -> None:
    """-.81 at the event; by turn index no step is larger than -.6."""
    found = lined_up(*smeared())
    assert found.step_by_offset.delta == pytest.approx(-0.83, abs=0.06)
    assert found.step_by_offset.low < -0.81 < found.step_by_offset.high
    assert -0.65 < found.step_by_turn.delta < -0.35
    assert found.step_by_turn.turn == 8
    assert found.sharpens
    assert found.step_by_offset.placebo_p < 0.001
    assert found.n_excluded == 600 - found.n_runs
    assert found.excluded == {"no compaction": found.n_excluded}


def test_no_step_no_alignment_effect() -> None:
    """Without a step the declared event shows none, and its placebos are as large."""
    found = lined_up(*smeared(step=0.0))
    assert found.step_by_offset.delta == pytest.approx(-0.02, abs=0.06)
    assert found.step_by_offset.placebo_p > 0.02


def test_the_placebo_p_is_a_p() -> None:
    """Over 60 suites without a step it is below .2 in about 20 %."""
    small = 0
    for seed in range(60):
        scores, events = smeared(60, step=0.0, seed=seed)
        small += lined_up(scores, events).steps_by_offset[0].placebo_p <= 0.2
    assert 3 <= small <= 22


def test_a_pivot_made_of_scores_is_refused() -> None:
    """Each run's own worst step makes a drop of nothing: scores are no events."""
    scores, events = smeared(20)
    for event in ("quality", "tool_error"):
        with pytest.raises(InvariantError, match="it is a score"):
            lined_up(scores, events, event)
    with pytest.raises(InvariantError, match="ends the run"):
        lined_up(scores, events, "limit")
    with pytest.raises(UnknownEventError, match="compaction"):
        lined_up(scores, events, "injection")
    with pytest.raises(InvariantError, match="several turns"):
        lined_up(scores, events, bucket=2)


def test_offsets_by_hand() -> None:
    """Offset 0 is the first turn after the event; what lacks a side is counted."""
    nan = np.nan
    scores = np.array(
        [
            [
                [4.0, 4.0, 2.0, 2.0, 1.0],
                [3.0, 1.0, 1.0, nan, nan],
                [5.0, 5.0, nan, nan, nan],
                [2.0, 2.0, 2.0, 2.0, 2.0],
                [3.0, 3.0, 3.0, 3.0, 3.0],
            ]
        ]
    )
    events = {(0, 0): [3, 5], (0, 1): [2], (0, 2): [3], (0, 3): [1]}
    found = lined_up(scores, events)
    assert found.n_runs == 2
    assert found.excluded == {"no compaction": 1, "no turn before it": 1, "no turn after it": 1}
    assert found.n_multiple == 1
    assert found.step_by_offset.delta == pytest.approx(-2)
    curve = {point.offset: (point.value, point.n_runs, point.n_missing) for point in found.curve}
    assert curve[-1] == (3.5, 2, 0)
    assert curve[0] == (1.5, 2, 0)
    assert curve[2] == (1.0, 1, 1)
    wide = found.steps_by_offset[1]
    assert wide.delta == pytest.approx(((5 / 3 - 4) + (1 - 3)) / 2)


def test_kinds_of_events() -> None:
    """Those that end a run cannot be aligned on."""
    assert event_kinds(suite_table(*smeared(5)[:1], events=smeared(5)[1])) == ("compaction",)


def test_align_on_event_takes_plain_records() -> None:
    """Turn records, mappings with turns, and scores beside events give the same."""
    records = [
        [{"score": 4}, {"score": 4}, {"score": 2, "events": ["compaction"]}, {"score": 1}],
        [{"quality": 3}, {"quality": 1, "event": "compaction"}],
        [{"score": 5}, {"score": 5}],
    ]
    plain = [
        {"scores": [4, 4, 2, 1], "events": {"compaction": 3}},
        {"scores": [3, 1], "events": {"compaction": 2}},
        {"scores": [5, 5]},
    ]
    wanted = {
        "by_offset": {
            -2: {"mean": 4.0, "n": 1},
            -1: {"mean": 3.5, "n": 2},
            0: {"mean": 1.5, "n": 2},
            1: {"mean": 1.0, "n": 1},
        },
        "step": -2.0,
        "n_total": 3,
        "n_no_event": 1,
        "n_multiple": 0,
        "n_missing": 0,
    }
    assert align_on_event(records, "compaction") == wanted
    assert align_on_event([{"turns": turns} for turns in records], "compaction") == wanted
    assert align_on_event(plain, "compaction") == wanted


def test_align_on_event_counts_what_it_lacks() -> None:
    """A missing score beside the event, an event at the first turn, several events, nothing."""
    sessions = [
        [{"score": 4}, {"score": None, "events": ["x"]}],
        [{"score": 4, "events": ["x"]}, {"score": 4, "events": ["x"]}],
    ]
    found = align_on_event(sessions, "x")
    assert (found["step"], found["n_missing"], found["n_multiple"]) == (None, 2, 1)
    assert align_on_event([], "x") == {
        "by_offset": {},
        "step": None,
        "n_total": 0,
        "n_no_event": 0,
        "n_multiple": 0,
        "n_missing": 0,
    }
