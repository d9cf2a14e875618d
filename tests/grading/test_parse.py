"""Replies: what is read over, what is refused, and that nothing breaks it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.grading.dimensions import STEP
from turncurve.grading.parse import parse_answer
from turncurve.grading.rubric_file import load_rubric

STEPS = load_rubric("steps")
PASS = {
    "validity": "pass",
    "complexity": "low",
    "dependency": "n/a",
    "severity": None,
    "looping": False,
    "repeats_turn": None,
}
FAIL = PASS | {"validity": "fail", "dependency": "independent", "severity": "high"}
SAID = json.dumps(PASS)
OTHER = json.dumps(FAIL)


@pytest.mark.parametrize(
    "reply",
    [
        SAID,
        f"```json\n{SAID}\n```",
        f"Here you are:\n```\n{SAID}\n```\nAnything else?",
        f"<think>It may fail: {OTHER}. No.</think>\n{SAID}",
        f"<thinking>\n{OTHER}\n</thinking>{SAID}",
        f"I first thought {OTHER} but in the end {SAID}",
        f"{SAID}\n{{}}",
        json.dumps({**PASS, "rationale": "it works", "confidence": 0.9}),
        f"```json\n{SAID}\n```\nFor a failing step I would have said {OTHER}",
        json.dumps(PASS, indent=2),
    ],
)
def test_what_stands_around_an_answer_is_read_over(reply: str) -> None:
    """Reasoning, fences and words; of several objects the last, and fenced ones before others."""
    assert parse_answer(reply, STEPS, 5).answer == PASS


@pytest.mark.parametrize(
    "reply", ["", "pass", "I can't help with that.", "{validity: pass}", f"<think>{SAID}", "[1, 2]"]
)
def test_no_json_is_no_answer(reply: str) -> None:
    """Not a word of it is guessed at; reasoning that was cut off is no answer either."""
    parsed = parse_answer(reply, STEPS, 5)
    assert parsed.answer is None
    assert parsed.missing is not None
    assert parsed.missing.reason == "no JSON"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"validity": "ok"}, "validity: wanted fail, neutral, pass"),
        ({"validity": "Pass"}, "validity: wanted"),
        ({"validity": None}, "validity: wanted"),
        ({"looping": "false"}, "looping: wanted true, false"),
        ({"looping": 0}, "looping: wanted"),
        ({"complexity": 0.5}, "complexity: wanted"),
        ({"severity": "high"}, "severity is for failing steps only: wanted null"),
        ({"dependency": "dependent"}, "dependency is for failing steps only: wanted n/a"),
        (FAIL | {"severity": None}, "wanted low, medium or high"),
        (FAIL | {"dependency": "n/a"}, "wanted independent or dependent"),
        ({"looping": True, "repeats_turn": 1}, "no progress"),
        ({"validity": "neutral", "looping": True}, "the number of the turn that is repeated"),
        ({"repeats_turn": 2}, "looping goes with the first occurrence"),
        ({"validity": "neutral", "looping": True, "repeats_turn": 5}, "an earlier turn, 1 to 4"),
        ({"validity": "neutral", "looping": True, "repeats_turn": 0}, "an earlier turn"),
        ({"validity": "neutral", "looping": True, "repeats_turn": 2.0}, "an earlier turn"),
        ({"validity": "neutral", "looping": True, "repeats_turn": True}, "an earlier turn"),
    ],
)
def test_what_does_not_fit_is_no_answer(change: dict[str, Any], words: str) -> None:
    """A value outside of its set, or two that contradict each other, are told and not mended."""
    parsed = parse_answer(json.dumps(PASS | change), STEPS, 5)
    assert parsed.answer is None
    assert parsed.missing is not None
    assert parsed.missing.reason == "broken invariant"
    assert words in parsed.missing.detail


def test_a_loop_points_at_its_first_turn() -> None:
    """A neutral or failing step may loop."""
    for base in (PASS | {"validity": "neutral"}, FAIL):
        answer = base | {"looping": True, "repeats_turn": 4}
        assert parse_answer(json.dumps(answer), STEPS, 5).answer == answer


def test_missing_keys_are_named() -> None:
    """An object without a dimension says which."""
    missing = parse_answer('{"validity": "pass", "complexity": "low"}', STEPS, 5).missing
    assert missing is not None
    assert missing.detail == "the JSON object lacks: dependency, severity, looping, repeats_turn"


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("score", {"score": 4}, {"score": 5}),
        ("score", {"score": 0}, {"score": 2.5}),
        ("rules", {"plain_words": "kept", "no_promises": "n/a"}, {"plain_words": "kept"}),
        ("fidelity", {"similarity": "n/a"}, {"similarity": "none"}),
        ("fidelity", {"similarity": 3}, {"similarity": True}),
    ],
)
def test_other_kinds(kind: str, good: dict[str, Any], bad: dict[str, Any]) -> None:
    """Levels, rules and similarity are closed sets too."""
    rubric = load_rubric(kind)
    assert parse_answer(json.dumps(good), rubric, 1).answer == good
    assert parse_answer(json.dumps(bad), rubric, 1).answer is None


VALUES = st.sampled_from(
    [*{v for values in STEP.values() for v in values}, None, 0, 1, 2, 7, 0.5, "x", [], {}]
)


@given(st.fixed_dictionaries(dict.fromkeys(STEP, VALUES)), st.integers(1, 9))
def test_an_answer_fits_the_schema(answer: dict[str, Any], turn: int) -> None:
    """Whatever is accepted is valid by the schema that the model was given."""
    parsed = parse_answer(json.dumps(answer), STEPS, turn)
    assert (parsed.answer is None) != (parsed.missing is None)
    if parsed.answer is not None:
        jsonschema.validate(parsed.answer, STEPS.schema)


@given(st.text(alphabet='{}[]":,` \n<think/>passfail01', max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    """Any reply gives an answer or a reason."""
    parsed = parse_answer(text, STEPS, 3)
    assert (parsed.answer is None) != (parsed.missing is None)


@pytest.mark.parametrize("reply", ["{" * 100_000, '{"a":' * 50_000, "[" * 100_000 + SAID])
def test_a_hostile_reply_takes_no_time(reply: str) -> None:
    """Nesting without end, and objects without end."""
    parse_answer(reply, STEPS, 3)
