"""Fields that every format has: numbers, text, times, and what an error looks like."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_int,
    as_text,
    is_transient,
    looks_like_error,
    parse_time,
)


@pytest.mark.parametrize("value", [None, True, False, "1", "", [], {}, math.nan, math.inf])
def test_what_is_no_number_is_none(value: object) -> None:
    """A bool, a text, NaN and infinity are no numbers."""
    assert as_float(value) is None
    assert as_int(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((12, 12), (12.0, 12), (-3, -3), (12.5, None), (10**400, None), (0, 0)),
        *((2**63 - 1, 2**63 - 1), (2**63, None), (float(2**63), None), (-(2**63), None)),
    ],
)
def test_whole_numbers(value: object, expected: int | None) -> None:
    """12 and 12.0 are whole; 12.5, and what no 64-bit integer holds, are None."""
    assert as_int(value) == expected


def test_counts_are_not_negative() -> None:
    """A negative count says that something is unknown, so it is None; 0 is a count."""
    assert (as_count(-1), as_count(0), as_count(7)) == (None, 0, 7)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        ("x", "x"),
        ([{"type": "text", "text": "a"}, {"type": "image", "source": {}}, "b"], "a\nb"),
        ({"type": "text", "text": "a"}, "a"),
        ([{"type": "tool_result", "content": [{"type": "text", "text": "c"}]}], "c"),
        (5, "5"),
    ],
)
def test_text_of_content(value: object, expected: str) -> None:
    """The text of content in each shape that providers use; parts without text give nothing."""
    assert as_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("ls -la", "ls -la"),
        ("[1]", "[1]"),
        ('{"a": ', '{"a": '),
        (None, {}),
    ],
)
def test_arguments(value: object, expected: object) -> None:
    """Arguments are a mapping wherever they are one, written out or not; else their text."""
    assert as_arguments(value) == expected


NEW_YEAR = 1704067200.0


@pytest.mark.parametrize(
    "value",
    [
        "2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00",
        "2024-01-01 00:00:00.000000000",
        "2024-01-01T02:00:00+02:00",
        "20240101",
        1704067200,
        1704067200000,
        1704067200000000,
        1704067200000000000,
        "1704067200",
        "1704067200.0",
    ],
)
def test_times(value: object) -> None:
    """One instant in each way that files write it; without a zone it is UTC."""
    assert parse_time(value) == NEW_YEAR


@pytest.mark.parametrize("value", [None, "", "soon", 0, -5, math.nan, True, []])
def test_no_time(value: object) -> None:
    """What is no time, and the 0 that stands for an unknown one, is None."""
    assert parse_time(value) is None


@given(
    st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)),
    st.integers(min_value=-12, max_value=14),
)
def test_zone_does_not_move_the_instant(naive: datetime, hours: int) -> None:
    """The same instant in any zone gives the same seconds."""
    instant = naive.replace(tzinfo=UTC)
    there = instant.astimezone(timezone(timedelta(hours=hours)))
    assert parse_time(there.isoformat()) == pytest.approx(instant.timestamp(), abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "Error: no such user",
        "ERROR: boom",
        "  error: pathspec 'x' did not match",
        "fatal: not a git repository",
        "Traceback (most recent call last):\n  File",
        "output\nTraceback (most recent call last):\n  File",
        "ValueError: wanted a number",
        "requests.exceptions.ConnectionError: refused",
        "bash: foo: command not found",
        "<tool_use_error>Cancelled</tool_use_error>",
    ],
)
def test_errors_are_seen(text: str) -> None:
    """A text that has the form of an error is one."""
    assert looks_like_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0 errors, 12 passed",
        "error_log.txt\nerrors.py",
        "The error: see below",
        "def f():\n    raise ValueError('x')",
        "12:00 ERROR: in a log line",
        "Errors: 0",
        "grep found: Error: x" + " " * 10,
        "class ParseError(Exception): pass",
    ],
)
def test_talk_of_errors_is_none(text: str) -> None:
    """A text that merely speaks of errors is none."""
    assert not looks_like_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "request timed out",
        "ReadTimeout: timeout",
        "429 Too Many Requests",
        "API Error: 529 overloaded",
        "rate limit exceeded",
        "HTTP 503",
        "status code: 502",
        "Connection reset by peer",
        "read ECONNRESET",
    ],
)
def test_transient_errors(text: str) -> None:
    """What a retry may cure is transient."""
    assert is_transient(text)


@pytest.mark.parametrize(
    "text", ["no such file", "500 rows were read", "status code 404", "line 503: bad", "HTTP 400"]
)
def test_lasting_errors(text: str) -> None:
    """What a retry cannot cure, and a number that is no status, is not."""
    assert not is_transient(text)
