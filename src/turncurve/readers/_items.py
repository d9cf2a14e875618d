"""The items of a file that holds many runs, as a JSON list or one a line, and their loose parts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from turncurve.errors import ReadError
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import LIMITS, head, json_document, json_lines, open_trace

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


def as_mapping(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def json_items(path: Path, on_problem: OnProblem) -> Iterator[tuple[str | int, Any]]:
    """Give (where, item) for each item of a JSON list, or of a file of one JSON record a line.

    `where` is `[3]` for the fourth item of a list, and the line number for a record of its own
    line. In a damaged list, the items that are whole are still given and each other one goes to
    `on_problem`.
    """
    if not head(path, 4096).lstrip().startswith(b"["):
        yield from json_lines(path, on_problem)
        return
    try:
        items = json_document(path, on_problem)
    except ReadError as problem:
        yield from _whole_items(path, problem, on_problem)
        return
    items.reverse()
    for index in range(len(items)):
        yield f"[{index}]", items.pop()


def _whole_items(
    path: Path, problem: ReadError, on_problem: OnProblem
) -> Iterator[tuple[str, Any]]:
    n_items = n_bad = 0
    for text, is_whole in _item_texts(_readable_part(path)):
        where, n_items = f"[{n_items}]", n_items + 1
        reason, fix = "the file breaks off in this record", "write or copy the file again"
        if is_whole:
            try:
                item = _decoded(text)
            except ValueError as bad:
                reason, fix = f"the record is no JSON: {bad}", "the other records were read"
            else:
                yield where, item
                continue
        n_bad += 1
        on_problem(ReadError(path, reason, record=where, fix=fix))
    if not n_bad:
        on_problem(problem)


def _readable_part(path: Path) -> bytes:
    """The file's bytes, up to where a damaged archive or the limit of a document ends them."""
    part = bytearray()
    try:
        with open_trace(path) as file:
            while len(part) <= LIMITS.document and (piece := file.read1()):
                part += piece
    except ReadError:
        pass
    return bytes(part)


def _item_texts(text: bytes) -> Iterator[tuple[bytes, bool]]:
    """Give the text of each object or list inside the outer list, and whether it is whole."""
    depth = start = 0
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in (b"[", b"{"):
            depth += 1
            if depth == 2:
                start = token.start()
        elif mark in (b"]", b"}"):
            depth -= 1
            if depth == 1:
                yield text[start : token.end()], True
            if depth == 0:
                return
    if depth > 1:
        yield text[start:], False


def _decoded(text: bytes) -> Any:
    """Decode one item, NaN and bytes that are no UTF-8 included; raises ValueError."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        string = text.decode("utf-8", "replace")
    try:
        return json.loads(string, parse_constant=lambda _: None)
    except RecursionError as deep:
        raise ValueError("nested too deep to read safely") from deep
