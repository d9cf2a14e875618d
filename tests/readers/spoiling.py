"""Ways to spoil a trace: its structure, its bytes; and a bound on the time that reading takes."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any


class HungError(BaseException):
    """Reading took more than it may; no boundary for errors holds it up."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off what takes more of the processor's time."""

    def stop(*_: object) -> None:
        raise HungError(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


ODD: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.choice([None, True, False, "", " ", "x", "\ud800", "\x00", "2024-13-45"]),
    lambda rng: rng.choice([0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**18, 10**30, 10**400]),
    lambda rng: rng.choice([0.5, -0.0, 1e300, -1e300, 1e18, 5e-324]),
    lambda rng: rng.choice([[], {}, [[]], [None], [1, "a"], {"a": 1}, {"": None}, {"text": 3}]),
    lambda rng: nested(rng.choice([70, 250])),
    lambda rng: "9" * rng.choice([1, 25, 5000]),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a parsed structure."""
    inner = list(enumerate(value)) if isinstance(value, list) else list(value.items())
    for key, one in inner:
        yield value, key
        if isinstance(one, dict | list):
            yield from places(one)


def mutated(rng: random.Random, document: Any) -> Any:
    """A copy with up to three places dropped, doubled, put elsewhere, or made something odd."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2, 3])):
        known = list(places(document))
        if not known:
            break
        container, key = rng.choice(known)
        other, at = rng.choice(known)
        way = rng.random()
        if way < 0.15:
            del container[key]
        elif way < 0.3:
            container[key] = deepcopy(other[at])
        elif way < 0.35 and isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        else:
            container[key] = rng.choice(ODD)(rng)
    return document


def json_records(path: Path) -> list[Any] | None:
    """The records of a JSON fixture, one for a document; None for another kind of file."""
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in path.read_text().splitlines()]
        return [json.loads(path.read_text())]
    except ValueError:
        return None


BYTES = [
    b"",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"\n",
    b"\r",
    b",",
    b"null",
]


def spoilt_bytes(rng: random.Random, content: bytes) -> bytes:
    """The content cut, with bytes flipped or replaced, or with lines doubled, dropped or moved."""
    way = rng.randrange(5)
    if way == 0:
        return content[: rng.randrange(len(content) + 1)]
    if way == 1:
        spoilt = bytearray(content)
        for _ in range(rng.choice([1, 2, 8])):
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
        return bytes(spoilt)
    if way == 2:
        at, length = rng.randrange(len(content)), rng.choice([0, 1, 40])
        return content[:at] + rng.choice(BYTES) * rng.choice([1, 300]) + content[at + length :]
    lines = content.splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    if way == 3:
        lines[at : at + 1] = [lines[at]] * rng.choice([0, 2])
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return b"".join(lines)
