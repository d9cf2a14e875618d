"""Rubric files: YAML to a rubric, checked key by key; and the rubrics that come with turncurve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import cast

from turncurve.errors import RubricError
from turncurve.grading.dimensions import NULLABLE, RULE, STEP, Dimension, as_said
from turncurve.grading.rubric import Rubric, Sees
from turncurve.ingest.yaml_entry import Entry, yaml_entry, yaml_text
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
    return parse_rubric(yaml_text(path, RubricError), named)


def parse_rubric(text: str, where: str) -> Rubric:
    """The rubric of a YAML text.

    Raises:
        RubricError: It does not say what it should.
    """
    entry = yaml_entry(text, where, RubricError, most_characters=MOST_CHARACTERS)
    kind = entry.one_of("kind", tuple(_KINDS))
    dimensions, keys = _KINDS[kind]
    entry.only(_ALWAYS | keys)
    sees = entry.one_of("sees", ("results", "action")) if "sees" in entry.values else "results"
    return Rubric(
        name=entry.name(),
        version=entry.count("version"),
        kind=cast(Kind, kind),
        instructions=entry.text("instructions"),
        dimensions=dimensions(entry),
        sees=cast(Sees, sees),
    )


def _steps(entry: Entry) -> tuple[Dimension, ...]:
    given = entry.mapping("dimensions")
    given.only(frozenset(STEP))
    return tuple(_step(given, name) for name in STEP)


def _step(given: Entry, name: str) -> Dimension:
    entry = given.mapping(name)
    values = STEP[name]
    # YAML reads true and false, quoted or not, into either form.
    said = replace(entry, values={_word(key): one for key, one in entry.values.items()})
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


def _levels(entry: Entry, name: str, question: str, more: tuple[str, ...] = ()) -> Dimension:
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


def _score(entry: Entry) -> tuple[Dimension, ...]:
    return (_levels(entry, "score", "The level of the turn."),)


def _fidelity(entry: Entry) -> tuple[Dimension, ...]:
    question = 'How near the objective of the text is to the one set; "n/a" where it has none.'
    level = _levels(entry, "similarity", question, ("n/a",))
    if len(level.values) != len(_SCALES[0]) + 1:
        raise entry.wrong("levels", "the levels 0 to 4, each with its meaning")
    return (level,)


def _rules(entry: Entry) -> tuple[Dimension, ...]:
    found: dict[str, Dimension] = {}
    for one in entry.entries("rules", "rule", MOST_RULES):
        one.only(frozenset({"id", "text"}))
        name = one.name("id")
        if name in found:
            raise one.wrong("id", "a name used once")
        found[name] = Dimension(name=name, question=one.text("text"), values=RULE)
    return tuple(found.values())


_KINDS: Mapping[str, tuple[Callable[[Entry], tuple[Dimension, ...]], frozenset[str]]] = {
    "steps": (_steps, frozenset({"dimensions", "sees"})),
    "score": (_score, frozenset({"levels", "sees"})),
    "rules": (_rules, frozenset({"rules", "sees"})),
    "fidelity": (_fidelity, frozenset({"levels"})),
}
"""Each kind with what makes its dimensions, and the keys that only it has."""
