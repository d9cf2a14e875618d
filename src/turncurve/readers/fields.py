"""Fields that every format has, read once: numbers, text, times, and what an error looks like."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

LARGEST = 1e100
"""A number beyond is no measure of anything, and its square would be no number."""
MOST_TOKENS = 2**53
"""Whole numbers up to here are exact as floats; no run has as many tokens."""
MOST_TURNS = 1_000_000
"""A turn's number beyond is no count of model calls; the longest runs known have some thousands."""


def as_float(value: object) -> float | None:
    """A number as float; None for anything else: NaN, beyond 1e100 either way, a bool, text."""
    # Asked of every number of a file, so the usual types are told first.
    if value is None or isinstance(value, bool):
        return None
    if type(value) is not float:
        if type(value) is not int and not isinstance(value, int | float):
            return None
        try:
            value = float(value)
        except OverflowError:
            return None
    return value if -LARGEST <= value <= LARGEST else None


def as_int(value: object) -> int | None:
    """A whole number below 2**63 as int (12 and 12.0); None for 12.5, NaN, a bool, text."""
    if type(value) is not int:
        number = as_float(value)
        if number is None or not number.is_integer():
            return None
        value = int(number)
    return value if abs(value) < 2**63 else None


def as_count(value: object) -> int | None:
    """As `as_int`; None too for a number below 0 or above 2**53, which no count of tokens is."""
    number = value if type(value) is int else as_int(value)
    return number if number is not None and 0 <= number <= MOST_TOKENS else None


def as_text(value: object) -> str:
    """The text of a message's content.

    A string is itself and None is ''. Of a list, the strings and the `text` (else the `content`)
    of each part are joined by newlines; parts without text (an image) give nothing. A mapping is
    one such part. Any other value is written as JSON.
    """
    if isinstance(value, str):
        return value
    texts, waiting = list[str](), [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += reversed(part)
        elif isinstance(part, dict):
            waiting.append(part.get("text", part.get("content")))
        elif part is not None and (text := part if isinstance(part, str) else as_json(part)):
            texts.append(text)
    return "\n".join(texts)


def as_json(value: object) -> str:
    """The value as JSON; what JSON has no form for is written as Python does, within quotes."""
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except RecursionError:
        return '"nested too deep"'
    except (TypeError, ValueError):  # names that are no text; an int of thousands of digits
        return json.dumps(ascii(type(value)))


def as_name(value: object) -> str | None:
    """A text that is not empty, as ids and names are; None for anything else."""
    return value if isinstance(value, str) and value else None


_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on a time is in nano-, micro- and milliseconds."""
_YEAR_10000 = 253402300800.0


def parse_time(value: object) -> float | None:
    """Seconds since 1970, UTC, of an ISO 8601 text or a number; None where there is no time.

    A time without a zone is taken as UTC. A number of 1e11 and above is in milliseconds, of 1e14
    in microseconds, of 1e17 in nanoseconds, else in seconds (1e11 seconds are the year 5138). A
    number of 0 or below is what a writer leaves when it knows no time; one beyond the year 9999 is
    no time.
    """
    if isinstance(value, str):
        return _parse_time_text(value.strip())
    number = as_float(value)
    if number is None or number <= 0:
        return None
    unit = next((unit for least, unit in _UNITS if number >= least), 1.0)
    return number / unit if number / unit < _YEAR_10000 else None


_NUMBER = re.compile(r"\d+(\.\d+)?")


def _parse_time_text(text: str) -> float | None:
    is_date = text[4:5] == "-" or len(text) == 8  # 8 digits are a date, YYYYMMDD
    if not is_date and _NUMBER.fullmatch(text):
        return parse_time(float(text))
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


_ERROR_START = re.compile(
    r"""\s*(?:
        (?:<tool_use_error>|Traceback\ \(most\ recent\ call\ last\))
      | (?:fatal|panic|[Ee]rror|ERROR)\s*:
      | [A-Za-z_][\w.]*(?:Error|Exception)(?:\s*\(\w+\))?:\s
      | (?:ba|z|da)?sh:\ .{0,200}?
        (?:command\ not\ found|No\ such\ file\ or\ directory|Permission\ denied)
    )""",
    re.VERBOSE,
)
_TRACEBACK_LINE = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)


def looks_like_error(text: str) -> bool:
    """Whether a tool's answer says, in its form, that the tool failed.

    The last resort where a file has no flag, code or status; meant to miss an error rather than to
    call a good answer one. True if the text starts with `Error:`, `ERROR:`, `fatal:`, `panic:`, an
    exception's name and a colon (`ValueError: ...`), a shell's own complaint (`bash: x: command not
    found`) or `<tool_use_error>`, or if a Python traceback's heading is a line of its own within
    the first 2,000 characters. The word "error" within a text (a log, a source file, a listing) is
    no evidence.
    """
    start = text[:2000]
    return bool(_ERROR_START.match(start) or _TRACEBACK_LINE.search(start))


_TRANSIENT = re.compile(
    r"""\b(?:
        time(?:d)?[ -]?out | deadline\ exceeded
      | rate[ _-]?limit(?:ed|s|_error)? | too\ many\ requests | overloaded(?:_error)?
      | (?:connection|socket)\ (?:was\ )?(?:reset|aborted|refused|closed) | ECONNRESET | ETIMEDOUT
      | temporar(?:y|ily)\ (?:failure|unavailable) | service\ unavailable | bad\ gateway
      | (?:HTTP(?:/\d(?:\.\d)?)?|status(?:[ _]code)?|error(?:\ code)?|API\ error)[ :=]*(?:429|5\d\d)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def is_transient(text: str) -> bool:
    """Whether an error's text names a cause that a retry may cure.

    Time-outs, rate limits, overload, HTTP 429 and 5xx beside a word that makes them a status,
    connections reset or refused, services not there for now; looked for in the first 2,000
    characters. Ask it of errors only: a good answer may talk about time-outs.
    """
    return bool(_TRANSIENT.search(text[:2000]))


def as_arguments(value: object) -> dict[str, Any] | str:
    """A tool call's arguments: a mapping, or a JSON text of one; else the text as it stands."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return decoded if isinstance(decoded, dict) else value
    return {} if value is None else as_json(value)
