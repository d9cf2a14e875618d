"""The founding worked example, and one run in four figures."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pytest

from table_factory import make_table
from turncurve import analyze_run
from turncurve.analysis.degradation import degradation_curve
from turncurve.analysis.first_error import first_bad_turn
from turncurve.analysis.settings import Settings
from turncurve.errors import InvariantError


@pytest.fixture(scope="module")
def founding():
    """60 turns that hold at .95 to turn 30 and then fall by .02 a turn."""
    draw = random.Random(7)
    records = []
    for turn in range(1, 61):
        base = 0.95 if turn <= 30 else max(0.30, 0.95 - 0.02 * (turn - 30))
        quality = round(min(1, max(0, base + draw.uniform(-0.05, 0.05))), 3)
        records.append(
            {
                "turn": turn,
                "quality": quality,
                "context_tokens": 3000 + 850 * turn,
                "action": f"search:q{turn % 12}",
            }
        )
    return records


def test_founding_example(founding):
    """The worked example gives exactly its four known results."""
    found = analyze_run(founding, bucket_size=10, window=5, threshold=0.7)
    means = [0.931, 0.943, 0.943, 0.829, 0.645, 0.440]
    assert found == {
        "curve": [
            {"turns": f"{10 * b + 1}-{10 * b + 10}", "mean_quality": mean, "n": 10}
            for b, mean in enumerate(means)
        ],
        "first_bad_turn": 45,
        "context_growth": {"start_tokens": 3850, "end_tokens": 54000, "tokens_per_turn": 850.0},
        "repeated_action_rate": 0.8,
    }
    assert found == analyze_run(founding)


def test_the_report_says_the_same(founding):
    """The report's analyses of the same run give the same curve and first bad turn."""
    table = make_table({"run": {"quality": [record["quality"] for record in founding]}})
    settings = Settings(bucket=10, window=5, threshold=0.7)
    found = analyze_run(founding)
    curve = degradation_curve(table, "quality", settings=settings)
    assert [round(p.value, 3) for p in curve.points] == [
        bucket["mean_quality"] for bucket in found["curve"]
    ]
    assert first_bad_turn(table, settings=settings) == found["first_bad_turn"] == 45


def test_first_bad_turn_is_not_luck_of_the_seed():
    """Without any noise the first bad turn is 45 too."""
    records = [{"turn": t, "quality": 0.95 - 0.02 * max(0, t - 30)} for t in range(1, 61)]
    assert analyze_run(records)["first_bad_turn"] == 45


def test_order_of_records_does_not_matter(founding):
    """Records may come in any order."""
    assert analyze_run(founding[::-1]) == analyze_run(founding)


def test_empty_input_gives_an_empty_result():
    """No record gives an empty curve, no turn, no growth and a rate of 0."""
    assert analyze_run([]) == {
        "curve": [],
        "first_bad_turn": None,
        "context_growth": None,
        "repeated_action_rate": 0.0,
    }


def test_last_label_ends_with_the_run(founding):
    """A run of 53 turns has a last bucket of turns 51 to 53, with 3 behind it."""
    assert analyze_run(founding[:53])["curve"][-1]["turns"] == "51-53"
    assert analyze_run(founding[:53])["curve"][-1]["n"] == 3


@pytest.mark.parametrize("missing", [None, float("nan"), "absent"])
def test_missing_is_not_zero(missing):
    """A turn without quality counts nowhere, and a bucket without any has no mean."""
    records = [{"turn": t, "quality": 0.9} for t in range(1, 7)]
    for record in (records[1], records[4], records[5]):
        if missing == "absent":
            del record["quality"]
        else:
            record["quality"] = missing
    found = analyze_run(records, bucket_size=2, window=3)
    assert [bucket["mean_quality"] for bucket in found["curve"]] == [0.9, 0.9, None]
    assert [bucket["n"] for bucket in found["curve"]] == [1, 2, 0]
    assert found["first_bad_turn"] is None


def test_what_records_do_not_say_is_none():
    """Without tokens there is no growth, without actions no rate, with one turn no slope."""
    found = analyze_run([{"turn": 1, "quality": 0.5}])
    assert (found["context_growth"], found["repeated_action_rate"]) == (None, None)
    one = analyze_run([{"turn": 3, "context_tokens": 70}])["context_growth"]
    assert one == {"start_tokens": 70, "end_tokens": 70, "tokens_per_turn": None}


def test_growth_between_known_turns():
    """Growth is taken between the first and the last turn whose tokens are known."""
    records = [{"turn": t, "context_tokens": tokens} for t, tokens in [(1, None), (2, 10), (6, 30)]]
    assert analyze_run([*records, {"turn": 9}])["context_growth"]["tokens_per_turn"] == 5.0


@pytest.mark.parametrize("turn", [0, -1, 1.5, None, "3", True])
def test_turns_count_from_one(turn):
    """A turn that is no whole number from 1 up is refused by name."""
    with pytest.raises(InvariantError, match="counting from 1"):
        analyze_run([{"turn": turn, "quality": 1}])


def test_a_turn_can_not_stand_twice():
    """Two records of one turn are refused."""
    with pytest.raises(InvariantError, match="turn 2 stands twice"):
        analyze_run([{"turn": 2}, {"turn": 1}, {"turn": 2}])


@pytest.mark.parametrize("option", ["bucket_size", "window"])
def test_options_are_at_least_one(option):
    """A bucket or window of no turn is a caller's mistake."""
    with pytest.raises(ValueError, match=option):
        analyze_run([{"turn": 1, "quality": 1}], **{option: 0})


@pytest.mark.parametrize("missing", [float("inf"), float("-inf"), 10**400, Decimal("Infinity")])
def test_what_is_not_finite_is_missing(missing):
    """An infinite quality or number of tokens is as good as none; taken as a number it would make
    a bucket's mean infinite, or a window bad for good."""
    good = [{"turn": t, "quality": 0.9, "context_tokens": 100 * t} for t in range(1, 7)]
    plain = [dict(r) for r in good]
    for record in (2, 5):
        good[record].update(quality=missing, context_tokens=missing)
        plain[record].update(quality=None, context_tokens=None)
    assert analyze_run(good, window=2) == analyze_run(plain, window=2)
    assert analyze_run(good, window=2)["first_bad_turn"] is None


@pytest.mark.parametrize("quality", [True, "0.9", "good", [0.9], {"score": 1}, np.bool_(1), 1j])
@pytest.mark.parametrize("key", ["quality", "context_tokens"])
def test_what_is_no_number_is_refused_by_name(quality, key):
    """A flag or a text in place of a number names its turn and itself."""
    with pytest.raises(TypeError, match=f"{key} of turn 2: wanted a number or None, got"):
        analyze_run([{"turn": 1, key: 0.5}, {"turn": 2, key: quality}])


@pytest.mark.parametrize("number", [1, 0.5, np.float32(0.5), np.int64(1), Decimal("0.5")])
def test_any_kind_of_number_is_one(number):
    """Whole, decimal and numpy's numbers are qualities."""
    found = analyze_run([{"turn": 1, "quality": number}])
    assert found["curve"][0]["mean_quality"] == float(number)


def test_objects_and_lists_are_actions_too():
    """An action given as an object is the same whatever the order of its names."""
    actions = [
        {"tool": "read", "arguments": {"path": "a", "line": 1}},
        {"arguments": {"line": 1, "path": "a"}, "tool": "read"},
        {"tool": "read", "arguments": {"path": "b", "line": 1}},
        ["read", "a"],
        ["read", "a"],
        ["a", "read"],
        "read a",
        ("read", {"path": "a"}),
    ]
    records = [{"turn": t, "action": action} for t, action in enumerate(actions, start=1)]
    assert analyze_run(records)["repeated_action_rate"] == 0.25


def around_itself():
    """A list that holds itself."""
    ring = []
    ring.append(ring)
    return ring


@pytest.mark.parametrize("action", [{"tool": {1, 2}}, {1, 2}, around_itself()], ids=str)
def test_an_action_that_can_not_be_compared_is_refused_by_name(action):
    """What is neither hashable nor JSON names its turn."""
    with pytest.raises(TypeError, match="action of turn 2: wanted a text or a JSON value"):
        analyze_run([{"turn": 1, "action": "a"}, {"turn": 2, "action": action}])
