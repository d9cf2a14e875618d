"""Rubric files: YAML to a rubric, checked key by key; and the rubrics that come with turncurve."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import yaml

from turncurve.errors import RubricError
from turncurve.grading.dimensions import NULLABLE, RULE, STEP, Dimension, as_said
from turncurve.grading.rubric import Rubric, Sees
from turncurve.readers.grade_lines import Kind

BUILT_IN: Mapping[str, str] = {
    "steps": "five closed questions about each step: valid, how hard, dependent, severe, looping",
    "score": "one level a turn, 0 to 4 or 0 to 1",
    "rules": "whether each turn keeps rules that no code can check",
    "fidelity": "how near the objective of each turn is to the one that was set",
}
"""The rubrics that come with turncurve, one a kind."""

MOST_CHARACTERS = 40_000
MOST_RULES = 50
_ALWAYS = frozenset({"name", "version", "kind", "instructions"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_SCALES = ((0, 1, 2, 3, 4), (0, 1))


def built_in_text(kind: str) -> str:
    """The file of a rubric that comes with turncurve.

    Raises:
        RubricError: There is none of this name.
    """
    if kind not in BUILT_IN:
        raise RubricError(f"no rubric {kind!r}; those that come along: {', '.join(BUILT_IN)}")
    return (files("turncurve.grading") / "rubrics" / f"{kind}.yaml").read_text("utf-8")


def load_rubric(named: str) -> Rubric:
    """A rubric that comes with turncurve, by its kind, or that of a file.

    Raises:
        RubricError: There is none, or the file does not say what it should; the message names
            the key and what was wanted.
    """
    if named in BUILT_IN:
        return parse_rubric(built_in_text(named), named)
    path = Path(named)
    if not path.is_file():
        raise RubricError(
            f"{named}: no such rubric file, and no rubric of this name comes along "
            f"({', '.join(BUILT_IN)}); turncurve rubric new writes one"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise RubricError(f"{named}: cannot be read: {problem}") from problem
    return parse_rubric(text, named)


def parse_rubric(text: str, where: str) -> Rubric:
    """The rubric of a YAML text.

    Raises:
        RubricError: It does not say what it should.
    """
    if len(text) > MOST_CHARACTERS:
        raise RubricError(f"{where}: wanted at most {MOST_CHARACTERS:,} characters")
    try:
        document = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as problem:
        raise RubricError(f"{where}: cannot be read as YAML: {problem}") from problem
    if not isinstance(document, dict):
        raise RubricError(f"{where}: wanted keys and values, got {document!r:.80}")
    entry = _Entry(where, document)
    kind = entry.one_of("kind", tuple(_KINDS))
    dimensions, keys = _KINDS[kind]
    entry.only(_ALWAYS | keys)
    sees = entry.one_of("sees", ("results", "action")) if "sees" in document else "results"
    return Rubric(
        name=entry.name(),
        version=entry.version(),
        kind=cast(Kind, kind),
        instructions=entry.text("instructions"),
        dimensions=dimensions(entry),
        sees=cast(Sees, sees),
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    """A mapping of a file, for messages that say where it stands."""

    where: str
    values: Mapping[Any, Any]

    def wrong(self, key: object, wanted: str) -> RubricError:
        got = f"got {self.values[key]!r:.80}" if key in self.values else "there is none"
        return RubricError(f"{self.where}, key {key!r}: wanted {wanted}, {got}")

    def only(self, known: frozenset[str]) -> None:
        for key in self.values:
            if key not in known:
                raise RubricError(
                    f"{self.where}, key {key!r}: wanted one of {', '.join(sorted(known))}"
                )

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "a text")
        return value.strip()

    def one_of(self, key: str, words: tuple[str, ...]) -> str:
        value = self.values.get(key)
        if value not in words:
            raise self.wrong(key, f"one of {', '.join(words)}")
        return str(value)

    def name(self) -> str:
        value = self.text("name")
        if not _NAME.fullmatch(value):
            raise self.wrong("name", "letters, digits, '_', '.' and '-', at most 64")
        return value

    def version(self) -> int:
        value = self.values.get("version")
        if type(value) is not int or value < 1:
            raise self.wrong("version", "a whole number from 1")
        return value

    def mapping(self, key: object) -> _Entry:
        value = self.values.get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "keys and values")
        return _Entry(f"{self.where}, {key}", value)


def _steps(entry: _Entry) -> tuple[Dimension, ...]:
    given = entry.mapping("dimensions")
    given.only(frozenset(STEP))
    return tuple(_step(given, name) for name in STEP)


def _step(given: _Entry, name: str) -> Dimension:
    entry = given.mapping(name)
    values = STEP[name]
    # YAML reads true and false, quoted or not, into either form.
    said = _Entry(entry.where, {_word(key): one for key, one in entry.values.items()})
    said.only(frozenset({"question", *map(as_said, values)}))
    return Dimension(
        name=name,
        question=said.text("question"),
        values=values,
        meanings=tuple((as_said(value), said.text(as_said(value))) for value in values),
        or_null=name in NULLABLE,
    )


def _word(key: object) -> object:
    return as_said(key) if isinstance(key, bool) else key


def _levels(entry: _Entry, name: str, question: str, more: tuple[str, ...] = ()) -> Dimension:
    given = entry.mapping("levels")
    values = tuple(sorted(k for k in given.values if type(k) is int))
    if values not in _SCALES or len(values) != len(given.values):
        raise entry.wrong("levels", "the levels 0 to 4, or 0 and 1, each with its meaning")
    meanings = []
    for level in values:
        meaning = given.values[level]
        if not isinstance(meaning, str) or not meaning.strip():
            raise given.wrong(level, "its meaning")
        meanings.append((str(level), meaning.strip()))
    return Dimension(
        name=name, question=question, values=(*values, *more), meanings=tuple(meanings)
    )


def _score(entry: _Entry) -> tuple[Dimension, ...]:
    return (_levels(entry, "score", "The level of the turn."),)


def _fidelity(entry: _Entry) -> tuple[Dimension, ...]:
    question = 'How near the objective of the text is to the one set; "n/a" where it has none.'
    level = _levels(entry, "similarity", question, ("n/a",))
    if len(level.values) != len(_SCALES[0]) + 1:
        raise entry.wrong("levels", "the levels 0 to 4, each with its meaning")
    return (level,)


def _rules(entry: _Entry) -> tuple[Dimension, ...]:
    rules = entry.values.get("rules")
    if not isinstance(rules, list) or not 1 <= len(rules) <= MOST_RULES:
        raise entry.wrong("rules", f"a list of 1 to {MOST_RULES} rules")
    found: dict[str, Dimension] = {}
    for number, rule in enumerate(rules, start=1):
        if not isinstance(rule, dict):
            raise RubricError(f"{entry.where}, rule {number}: wanted keys id and text")
        one = _Entry(f"{entry.where}, rule {number}", rule)
        one.only(frozenset({"id", "text"}))
        name = one.text("id")
        if not _NAME.fullmatch(name):
            raise one.wrong("id", "letters, digits, '_', '.' and '-', at most 64")
        if name in found:
            raise one.wrong("id", "a name used once")
        found[name] = Dimension(name=name, question=one.text("text"), values=RULE)
    return tuple(found.values())


_KINDS: Mapping[str, tuple[Callable[[_Entry], tuple[Dimension, ...]], frozenset[str]]] = {
    "steps": (_steps, frozenset({"dimensions", "sees"})),
    "score": (_score, frozenset({"levels", "sees"})),
    "rules": (_rules, frozenset({"rules", "sees"})),
    "fidelity": (_fidelity, frozenset({"levels"})),
}
"""Each kind with what makes its dimensions, and the keys that only it has."""
