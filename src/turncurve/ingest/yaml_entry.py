"""Files that people write in YAML, read key by key, with messages that say where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from turncurve.errors import TurncurveError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
"""What may name a thing: it stands in files, in columns and on command lines."""
NAME_WORDS = "letters, digits, '_', '.' and '-', at most 64"


@dataclass(frozen=True, slots=True)
class Entry:
    """A mapping of a file.

    Args:
        where: The file, and the keys that lead here.
        values: The mapping.
        error: What is raised where a key does not say what it should.
    """

    where: str
    values: Mapping[Any, Any]
    error: type[TurncurveError]

    def wrong(self, key: object, wanted: str) -> TurncurveError:
        """The error that a key does not hold what was wanted."""
        got = f"got {self.values[key]!r:.80}" if key in self.values else "there is none"
        return self.error(f"{self.where}, key {key!r}: wanted {wanted}, {got}")

    def only(self, known: frozenset[str]) -> None:
        """Refuse keys that nothing reads."""
        for key in self.values:
            if key not in known:
                raise self.error(
                    f"{self.where}, key {key!r}: wanted one of {', '.join(sorted(known))}"
                )

    def text(self, key: str) -> str:
        """A text that says something, without space around it."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "a text")
        return value.strip()

    def one_of(self, key: str, words: tuple[str, ...]) -> str:
        """One of some words."""
        value = self.values.get(key)
        if value not in words:
            raise self.wrong(key, f"one of {', '.join(words)}")
        return str(value)

    def name(self, key: str = "name") -> str:
        """A name, see `NAME`."""
        value = self.text(key)
        if not NAME.fullmatch(value):
            raise self.wrong(key, NAME_WORDS)
        return value

    def count(self, key: str) -> int:
        """A whole number from 1."""
        value = self.values.get(key)
        if type(value) is not int or value < 1:
            raise self.wrong(key, "a whole number from 1")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """The words of a command: a list of texts."""
        value = self.values.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self.wrong(key, "a list of words")
        return tuple(value)

    def mapping(self, key: object) -> Entry:
        """The mapping under a key."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "keys and values")
        return Entry(f"{self.where}, {key}", value, self.error)

    def entries(self, key: str, what: str, most: int) -> list[Entry]:
        """The mappings of a list under a key, each called `what` and its number."""
        value = self.values.get(key)
        if not isinstance(value, list) or not 1 <= len(value) <= most:
            raise self.wrong(key, f"a list of 1 to {most:,} {what}s")
        found = []
        for number, one in enumerate(value, start=1):
            where = f"{self.where}, {what} {number}"
            if not isinstance(one, dict):
                raise self.error(f"{where}: wanted keys and values, got {one!r:.80}")
            found.append(Entry(where, one, self.error))
        return found


def yaml_text(path: Path, error: type[TurncurveError]) -> str:
    """The text of a file.

    Raises:
        TurncurveError: It cannot be read; of the class that was asked for.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise error(f"{path}: cannot be read: {problem}") from problem


def yaml_entry(
    text: str, where: str, error: type[TurncurveError], *, most_characters: int
) -> Entry:
    """The mapping that a YAML text is.

    Raises:
        TurncurveError: It is too long, no YAML, or no mapping; of the class that was asked for.
    """
    if len(text) > most_characters:
        raise error(f"{where}: wanted at most {most_characters:,} characters")
    try:
        document = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as problem:
        raise error(f"{where}: cannot be read as YAML: {problem}") from problem
    if not isinstance(document, dict):
        raise error(f"{where}: wanted keys and values, got {document!r:.80}")
    return Entry(where, document, error)
