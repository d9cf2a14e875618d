"""Checkable rules: what a rule file says, checked key by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import regex
import yaml

from turncurve.errors import RuleError
from turncurve.model import Turn

Check: TypeAlias = Callable[[str], bool]
"""True where a text keeps the rule. Raises TimeoutError where that takes too long to tell."""

PythonCheck: TypeAlias = Callable[[Turn], bool | None]
"""True where a turn keeps the rule, False where it breaks it, None where it does not apply."""

SECONDS = 0.25
"""Processor time that one regular expression may take on one text."""

_CHECKS = (
    *("must_match", "must_not_match", "max_length", "min_length", "json_schema", "canary"),
    "python",
)
_KEYS = frozenset({"id", "applies_to", "when", "description", *_CHECKS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One checkable rule.

    Exactly one of `check` (of a text: the turn's own, or a tool call's arguments as JSON) and
    `python` (of the turn) is given.
    """

    id: str
    applies_to: str = "text"
    """`text`, `tool_calls`, or the name of a tool."""
    when: Check | None = None
    """The rule applies to the texts for which this is True; to all if None."""
    check: Check | None = None
    python: PythonCheck | None = None


def load_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a YAML file, which holds a list of them under `rules`.

    Raises:
        RuleError: The file cannot be read or is no YAML, or a rule does not say what it should;
            the message names the rule, the key and what was wanted.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as problem:
        raise RuleError(f"{path}: cannot be read as YAML: {problem}") from problem
    entries = document.get("rules") if isinstance(document, dict) else document
    if not isinstance(entries, list) or not entries:
        raise RuleError(f"{path}: wanted a list of rules under the key 'rules', got {entries!r}")
    rules = tuple(_rule(path, number, entry) for number, entry in enumerate(entries, start=1))
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise RuleError(f"{path}: rule {rule.id!r}, key 'id': wanted a name used once")
        seen.add(rule.id)
    return rules


@dataclass(frozen=True, slots=True)
class _Entry:
    """One rule of a file, for messages that say where it stands."""

    where: str
    values: Mapping[str, Any]

    def wrong(self, key: str, wanted: str) -> RuleError:
        return RuleError(
            f"{self.where}, key {key!r}: wanted {wanted}, got {self.values.get(key)!r}"
        )

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "a text")
        return value

    def pattern(self, key: str) -> Check:
        text = self.text(key)
        try:
            pattern = regex.compile(text)
        except regex.error as problem:
            raise self.wrong(key, f"a regular expression ({problem})") from problem
        return lambda subject: pattern.search(subject, timeout=SECONDS) is not None

    def length(self, key: str) -> int:
        value = self.values[key]
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "a number of characters, 0 or more")
        return value


def _rule(path: Path, number: int, values: object) -> Rule:
    if not isinstance(values, dict):
        raise RuleError(f"{path}: rule {number}: wanted keys and values, got {values!r}")
    named = values.get("id")
    if not isinstance(named, str) or not named:
        raise RuleError(f"{path}: rule {number}, key 'id': wanted a name, got {named!r}")
    entry = _Entry(f"{path}: rule {named!r}", values)
    for key in values:
        if key not in _KEYS:
            raise RuleError(f"{entry.where}, key {key!r}: wanted one of {', '.join(sorted(_KEYS))}")
    checks = [key for key in _CHECKS if key in values]
    if len(checks) != 1:
        raise RuleError(
            f"{entry.where}: wanted exactly one of {', '.join(_CHECKS)}, "
            f"got {', '.join(checks) or 'none'}"
        )
    if checks == ["python"]:
        for key in ("when", "applies_to"):
            if key in values:
                raise entry.wrong(key, "no such key beside 'python', which sees the whole turn")
        return Rule(id=named, python=_python(entry))
    return Rule(
        id=named,
        applies_to=entry.text("applies_to") if "applies_to" in values else "text",
        when=entry.pattern("when") if "when" in values else None,
        check=_check(entry, checks[0]),
    )


def _check(entry: _Entry, kind: str) -> Check:
    if kind == "must_match":
        return entry.pattern(kind)
    if kind == "must_not_match":
        found = entry.pattern(kind)
        return lambda text: not found(text)
    if kind == "max_length":
        most = entry.length(kind)
        return lambda text: len(text) <= most
    if kind == "min_length":
        least = entry.length(kind)
        return lambda text: len(text) >= least
    if kind == "canary":
        phrase = entry.text(kind)
        return lambda text: phrase in text
    schema = entry.values[kind]
    if not isinstance(schema, dict | bool):
        raise entry.wrong(kind, "a JSON Schema")
    from turncurve.signals.json_schema import JsonSchema  # noqa: PLC0415 - slow to import

    return JsonSchema(schema, where=f"{entry.where}, key {kind!r}").accepts_text


def _python(entry: _Entry) -> PythonCheck:
    module, separator, name = entry.text("python").partition(":")
    if not (module and separator and name):
        raise entry.wrong("python", "'module:function'")
    try:
        function: PythonCheck = getattr(import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise entry.wrong("python", f"an importable 'module:function' ({problem})") from problem
    if not callable(function):
        raise entry.wrong("python", "the name of a function")
    return function
