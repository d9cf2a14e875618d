"""When two actions are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signals.hand_made import run_of, table_of, turn
from turncurve.model import ToolCall
from turncurve.signals.action_key import action_key, canonical_action, text_key, text_keys

names = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)
arguments = st.dictionaries(names, values, max_size=4)


def key(**given_arguments: object) -> int:
    return action_key(ToolCall(name="read", arguments=given_arguments))


def test_volatile_keys_white_space_and_slashes_do_not_tell_actions_apart() -> None:
    """Of four reads, raw texts repeat none; canonical keys repeat two, as worked out by hand."""
    calls = [
        {"path": "a.py", "timestamp": 1},
        {"path": "a.py/", "timestamp": 2},
        {"timestamp": 3, "path": " a.py"},
        {"path": "b.py", "timestamp": 4},
    ]
    run = run_of(
        [turn(i, tool_calls=(ToolCall(name="read", arguments=c),)) for i, c in enumerate(calls, 1)]
    )
    assert np.mean([str(c) in map(str, calls[:i]) for i, c in enumerate(calls)]) == 0
    assert table_of(run).columns["repeated_action"].mean() == 0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 1}, {"n": 1.0}),
        ({"n": 0.0}, {"n": -0.0}),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"a": {"request_id": "x", "b": 2}}, {"a": {"requestId": "y", "b": 2}}),
        ({"command": "ls   -l\n"}, {"command": "ls -l"}),
        ({"command": ["bash", "-lc", "ls  x"]}, {"command": ["bash", "-lc", "ls x"]}),
        ({"path": "/tmp/"}, {"path": "/tmp"}),
        ({"filter": {"a": 1, "b": None}}, {"filter": {"a": 1}}),
        ({"filter": {"b": None}}, {"filter": {}}),
        ({"rows": [{"a": 1, "b": {"c": None}}]}, {"rows": [{"a": 1, "b": {}}]}),
        ({"path": "caf\u00e9"}, {"path": "cafe\u0301"}),
        ({"cmd": "ls caf\u00e9"}, {"cmd": "ls  cafe\u0301"}),
        ({"caf\u00e9": ["\u00c5"]}, {"cafe\u0301": ["A\u030a"]}),
    ],
)
def test_the_same_action_in_other_words(one: dict[str, object], other: dict[str, object]) -> None:
    """These differ in nothing that is done."""
    assert key(**one) == key(**other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"flag": True}, {"flag": 1}),
        ({"n": "1"}, {"n": 1}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [None]}, {"a": []}),
        ({"id": 1}, {"id": 2}),
        ({"path": "/"}, {"path": ""}),
        ({"text": "a  b"}, {"text": "a b"}),
        ({"channel": "c", "ts": "1.2"}, {"channel": "c", "ts": "1.3"}),
        ({"n": "\u00b2"}, {"n": "2"}),
    ],
)
def test_another_action(one: dict[str, object], other: dict[str, object]) -> None:
    """These differ in what is done."""
    assert key(**one) != key(**other)


def test_names_and_unparsed_arguments_are_composed_too() -> None:
    """A tool's name, and arguments that did not parse, do not differ by how accents are written."""
    composed = ToolCall(name="caf\u00e9", arguments="{\u00e9")
    assert action_key(composed) == action_key(ToolCall(name="cafe\u0301", arguments="{e\u0301"))


def test_the_tool_is_part_of_the_action() -> None:
    """The same arguments to another tool are another action."""
    assert action_key(ToolCall(name="read")) != action_key(ToolCall(name="write"))


def test_volatile_keys_can_be_chosen() -> None:
    """A key that is named volatile is dropped, one that no longer is stays."""
    calls = [ToolCall(name="poll", arguments={"cursor": i, "ts": i}) for i in range(2)]
    assert len({action_key(c) for c in calls}) == 2
    assert len({action_key(c, volatile=frozenset({"cursor", "ts"})) for c in calls}) == 1
    assert len({action_key(c, volatile=frozenset({"cursor"})) for c in calls}) == 2


@settings(deadline=None)
@given(arguments)
def test_the_order_of_keys_does_not_matter(given_arguments: dict[str, object]) -> None:
    """Arguments in reverse order give the same key."""
    backwards = dict(reversed(given_arguments.items()))
    assert key(**given_arguments) == key(**backwards)


@settings(deadline=None)
@given(arguments, names)
def test_a_null_argument_is_as_good_as_none(given_arguments: dict[str, object], name: str) -> None:
    """Adding an argument that is null changes nothing."""
    plain = {n: v for n, v in given_arguments.items() if n != name}
    assert key(**plain, **{name: None}) == key(**plain)


@settings(deadline=None)
@given(arguments)
def test_a_key_fits_an_unsigned_integer_of_64_bits(given_arguments: dict[str, object]) -> None:
    """It is at least 1, since 0 means that there is none."""
    assert 1 <= key(**given_arguments) < 2**64


def test_the_key_is_the_same_on_every_machine() -> None:
    """A key that was stored once is found again."""
    call = ToolCall(name="bash", arguments={"command": "ls"})
    assert canonical_action(call) == 'bash:{"command":"ls"}'
    assert action_key(call) == 3_949_637_462_827_106_396


@given(st.text(), st.text())
def test_keys_of_a_text_and_of_it_with_more_behind(text: str, rest: str) -> None:
    """The pair is what each has by itself, half surrogates included."""
    assert text_keys(text, rest) == (text_key(text), text_key(f"{text}\0{rest}"))
    assert text_keys("\ud800", rest)[0] == text_key("\ud800")


def test_arguments_nested_without_end_still_have_a_key() -> None:
    """Nesting 10,000 deep is cut off at 60 levels."""
    deep: object = "x"
    for _ in range(10_000):
        deep = {"a": deep}
    assert key(a=deep) >= 1


def test_arguments_that_did_not_parse_are_compared_as_text() -> None:
    """White space does not tell them apart, words do."""
    calls = [ToolCall(name="bash", arguments=text) for text in ("{ls", " {ls ", "{cat")]
    assert len({action_key(call) for call in calls}) == 2
