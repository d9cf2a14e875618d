"""JSON lines of per-turn records to columns, a block of lines at a time.

Only for files in which nothing is out of the ordinary: every record has the same columns, with a
value of the usual kind in each, the rows of a run stand together and in order, and no run comes
twice. Anything else is left to the reading row by row, which has words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers.fields import LARGEST, MOST_TOKENS, MOST_TURNS
from turncurve.readers.stream import open_trace
from turncurve.table.plain import PlainRuns

MOST_BYTES = 512 * 2**20
"""The largest file that is held as columns, which take less room than its text."""

_BLOCK = 1 << 16
"""Bytes that are decoded at once: what comes of them stays in a processor's cache."""
_LONGEST = 64 * _BLOCK
_TOKENS = ("context_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
_NAMES = ("run", "scenario", "condition", "trial", "success")
_AMOUNTS = ("cost_usd", "seconds")
_LEFT_ALONE = frozenset(
    (
        *("error", "adherence", "format_error", "schema_valid", "started_at", "compaction"),
        "n_rules_applicable",
    )
)
"""Columns with rules of their own, which the reading row by row knows."""

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("run", "scenario", "condition", "action"), str),
    **dict.fromkeys(("turn", "trial", *_TOKENS), int),
    **dict.fromkeys(("success", "tool_error"), bool),
}
"""What a column holds; any other holds numbers."""


class NotPlainError(Exception):
    """The file has something that the reading row by row must see."""


def plain_columns(path: Path) -> tuple[_Columns, Mapping[str, Any]] | None:
    """The columns of a file and its first run's rows, or None where it is not plain."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        columns = _Columns()
        with open_trace(path) as file:
            for block in _blocks(file):
                columns.take(block)
        return columns.whole()
    except (NotPlainError, ReadError, OSError, msgspec.DecodeError, RecursionError):
        return None


def _blocks(file: Any) -> Iterator[bytes]:
    """Whole lines, some hundred at a time; the last may lack its end."""
    rest = b""
    while piece := file.read(_BLOCK):
        whole, newline, rest_of_piece = piece.rpartition(b"\n")
        if newline:
            yield rest + whole
            rest = rest_of_piece
        else:
            rest += piece
            if len(rest) > _LONGEST:
                raise NotPlainError
    if rest.strip():
        yield rest


class _Columns:
    """Collects blocks of lines into columns."""

    def __init__(self) -> None:
        self._decode: Callable[[bytes], list[Any]] | None = None
        self._names: tuple[str, ...] = ()
        self._numbers: dict[str, list[NDArray[np.float64]]] = {}
        self._turns: list[NDArray[np.int64]] = []
        self._codes: list[NDArray[np.int64]] = []
        self._actions: dict[str, int] = {}
        self._runs: list[tuple[Any, ...]] = []
        self._lengths: list[int] = []
        self._first: list[tuple[Any, ...]] = []

    def take(self, block: bytes) -> None:
        """Take up some whole lines.

        Raises:
            NotPlainError: A record is out of the ordinary.
            msgspec.DecodeError: A line is no JSON object of the columns that the first line has.
        """
        block = block.rstrip(b"\n")
        if self._decode is None:
            self._decode = self._begin(block.partition(b"\n")[0])
        # A line end within a record would stand within a text, where JSON has none.
        rows = self._decode(b"[" + block.replace(b"\n", b",") + b"]")
        if not rows or len(rows) != block.count(b"\n") + 1:
            raise NotPlainError
        cells = list(map(msgspec.structs.astuple, rows))
        columns = dict(zip(self._names, zip(*cells, strict=True), strict=True))
        self._take_runs(columns, cells)
        self._turns.append(_whole(columns["turn"], 1, MOST_TURNS))
        if "action" in columns:
            self._take_actions(columns["action"])
        for name in self._numbers:
            self._numbers[name].append(_numbers(columns[name], name))

    def whole(self) -> tuple[_Columns, Mapping[str, Any]] | None:
        """The columns, once all blocks are taken.

        Raises:
            NotPlainError: Turns do not rise within each run, or more was cached than was sent.
        """
        if not self._runs:
            return None
        turn = np.concatenate(self._turns)
        lengths = np.array(self._lengths, dtype=np.int64)
        starts = np.cumsum(lengths)[:-1]
        rises = np.diff(turn) > 0
        rises[starts - 1] = True
        numbers = {name: np.concatenate(parts) for name, parts in self._numbers.items()}
        cached = numbers.get("cached_input_tokens")
        if not rises.all() or len({run[0] for run in self._runs}) != len(self._runs):
            raise NotPlainError
        if cached is not None and (cached > numbers["context_tokens"]).any():
            raise NotPlainError
        return self, {"turn": turn, "lengths": lengths, "numbers": numbers}

    def first_rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The first run's rows with their line numbers."""
        first = self._first[: self._lengths[0]]
        return [(i, dict(zip(self._names, row, strict=True))) for i, row in enumerate(first, 1)]

    def runs(self, sample: Run, columns: Mapping[str, Any]) -> PlainRuns:
        """All runs, beside the first as it reads row by row."""
        lengths: NDArray[np.int64] = columns["lengths"]
        at = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        n = len(self._runs)
        named: dict[str, Any] = dict.fromkeys(_NAMES, (None,) * n)
        named |= zip(self._given_names(), zip(*self._runs, strict=True), strict=True)
        return PlainRuns(
            sample=sample,
            id=named["run"],
            scenario=named["scenario"],
            condition=named["condition"],
            trial=named["trial"],
            success=named["success"],
            record=(at + 1).tolist(),
            n_turns=lengths,
            turn=columns["turn"],
            columns=columns["numbers"],
            action=np.concatenate(self._codes) if self._codes else None,
            actions=list(self._actions),
        )

    def _given_names(self) -> list[str]:
        return [name for name in _NAMES if name in self._names]

    def _begin(self, line: bytes) -> Callable[[bytes], list[Any]]:
        """What decodes lines with the columns of the first one."""
        row = msgspec.json.decode(line)
        if not isinstance(row, dict) or not {"run", "turn"} <= set(row):
            raise NotPlainError
        if _LEFT_ALONE.intersection(row) or any(name != name.strip() for name in row):
            raise NotPlainError
        if "cached_input_tokens" in row and "context_tokens" not in row:
            raise NotPlainError
        if "reasoning_tokens" in row and not {"context_tokens", "output_tokens"} <= set(row):
            raise NotPlainError
        self._names = tuple(row)
        self._numbers = {n: [] for n in row if n not in (*_NAMES, "turn", "action")}
        fields = [
            (f"column_{i}", _KINDS.get(name, float), msgspec.field(name=name))
            for i, name in enumerate(row)
        ]
        try:
            kind = msgspec.defstruct("Row", fields, forbid_unknown_fields=True, gc=False)
        except (ValueError, UnicodeEncodeError):  # a quote or a control character in a name
            raise NotPlainError from None
        return msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]

    def _take_runs(
        self, columns: Mapping[str, Sequence[Any]], cells: list[tuple[Any, ...]]
    ) -> None:
        named = [columns[name] for name in self._given_names()]
        for key, group in groupby(zip(*named, strict=True)):
            length = len(list(group))
            if self._runs and self._runs[-1] == key:
                self._lengths[-1] += length
            else:
                self._runs.append(_checked(key))
                self._lengths.append(length)
            if len(self._runs) == 1:
                self._first += cells[: self._lengths[0] - len(self._first)]

    def _take_actions(self, actions: Sequence[str]) -> None:
        known = self._actions
        for action in dict.fromkeys(actions):
            known.setdefault(action, len(known))
        if "" in known:
            raise NotPlainError
        self._codes.append(np.array(list(map(known.__getitem__, actions)), dtype=np.int64))


def _checked(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """What names a run: texts without blanks around them, and trials that can be counted."""
    for value in key:
        if isinstance(value, str) and (not value or value != value.strip()):
            raise NotPlainError
        if type(value) is int and not 0 <= value < 10**18:
            raise NotPlainError
    return key


def _whole(values: Sequence[int], least: int, most: int) -> NDArray[np.int64]:
    try:
        array = np.array(values, dtype=np.int64)
    except OverflowError as problem:
        raise NotPlainError from problem
    if array.min() < least or array.max() > most:
        raise NotPlainError
    return array


def _numbers(values: Sequence[Any], name: str) -> NDArray[np.float64]:
    """A column as floats, within what its name allows."""
    if name in _TOKENS:
        return _whole(values, 0, MOST_TOKENS).astype(np.float64)
    array = np.array(values, dtype=np.float64)
    least = 0.0 if name in _AMOUNTS else -LARGEST
    if array.min() < least or array.max() > LARGEST:
        raise NotPlainError
    return array
