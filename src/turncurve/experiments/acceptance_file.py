"""Conditions of acceptance as a study file says them."""

from __future__ import annotations

import json
from pathlib import Path

from turncurve.experiments.stage_study import WAYS, Acceptance
from turncurve.ingest.yaml_entry import Entry

IN_INSPECT = frozenset({"callable"})
"""Ways that can be checked in a sample of Inspect: a function of its store."""


def acceptance(entry: Entry, folder: Path, *, in_inspect: bool) -> Acceptance:
    """The condition that one key says: how it is checked.

    Raises:
        StudyError: It does not say what it should.
    """
    given = [way for way in WAYS if way in entry.values]
    known = [way for way in WAYS if not in_inspect or way in IN_INSPECT]
    if len(given) != 1 or given[0] not in known:
        raise entry.error(
            f"{entry.where}: wanted one of {', '.join(known)}, got {', '.join(given) or 'none'}"
        )
    way = given[0]
    entry.only(frozenset({way, *{"file": {"contains"}}.get(way, ())}))
    if way == "command":
        return Acceptance(way="command", command=entry.words("command"))
    if way == "test":
        words = ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", entry.text("test"))
        return Acceptance(way="test", command=words)
    if way == "file":
        contains = entry.text("contains") if "contains" in entry.values else None
        return Acceptance(way="file", file=_inside(entry, "file"), contains=contains)
    if way == "callable":
        return Acceptance(way="callable", target=entry.text("callable"))
    if way == "judge":
        return _judge(entry.mapping("judge"))
    return _schema(entry.mapping("json_schema"), folder)


def _inside(entry: Entry, key: str) -> str:
    """A path that stays in the work folder."""
    value = entry.text(key)
    if Path(value).is_absolute() or ".." in Path(value).parts:
        raise entry.wrong(key, "a path within the work folder")
    return value


def _schema(entry: Entry, folder: Path) -> Acceptance:
    entry.only(frozenset({"file", "schema"}))
    schema = folder / entry.text("schema")
    try:
        json.loads(schema.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise entry.wrong("schema", f"a file with a JSON Schema ({problem})") from problem
    return Acceptance(way="json_schema", file=_inside(entry, "file"), schema=schema)


def _judge(entry: Entry) -> Acceptance:
    entry.only(frozenset({"criterion", "file", "model"}))
    return Acceptance(
        way="judge",
        criterion=entry.text("criterion"),
        file=_inside(entry, "file"),
        judge=entry.text("model"),
    )
