"""Write the JSON Schema of the report, and the page that describes it, from the result types.

The schema's descriptions are the docstrings of the fields. Run it after a result has changed:
`make docs`; a test fails when either file is stale.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from turncurve.analysis.by_turn import TurnSeries
from turncurve.analysis.degradation import Curve, CurvePoint
from turncurve.report.cut import MOST_EVENTS, MOST_ROWS, Cut
from turncurve.report.document import Report
from turncurve.report.json import SCHEMA_VERSION
from turncurve.report.plain import NAMES
from turncurve.report.problems import SHOWN_IN_ALL, SHOWN_OF_A_KIND, ProblemList
from turncurve.table import SignalInfo

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "src/turncurve/report/schema/report-1.json"
PAGE = ROOT / "docs/reference/report-json.md"
ID = "urn:turncurve:schema:report-1"

PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", NoneType: "null"}


class Types:
    """JSON Schemas of Python types; those of dataclasses are collected as definitions."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}

    def of(self, hint: Any) -> dict[str, Any]:  # noqa: PLR0911 -- one line a kind of type
        """The schema of a type hint."""
        origin, args = get_origin(hint), get_args(hint)
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if origin is Literal:
            return {"enum": list(args)}
        if origin in (Union, UnionType):
            return self._union(args)
        if origin is tuple and args[-1] is not Ellipsis:
            items = [self.of(arg) for arg in args]
            return {"type": "array", "prefixItems": items, "items": False}
        if origin in (tuple, list, Sequence):
            return {"type": "array", "items": self.of(args[0])}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(args[1])}
        if is_dataclass(hint) and isinstance(hint, type):
            return self._reference(hint)
        raise TypeError(f"no JSON Schema for {hint!r}")

    def object(self, *classes: type, without: Sequence[str] = (), more: Mapping[str, Any]) -> Any:
        """An object with the fields of some classes, and with `more` before them."""
        properties = dict(more)
        for cls in classes:
            hints, words = get_type_hints(cls), field_words(cls)
            for field in fields(cls):
                if field.name not in without:
                    described = {"description": words[field.name]} if field.name in words else {}
                    name = NAMES.get(field.name, field.name)
                    properties[name] = described | self.of(hints[field.name])
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _union(self, args: Sequence[Any]) -> dict[str, Any]:
        parts = [self.of(arg) for arg in args]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        if len(parts) == 2 and parts[1] == {"type": "null"} and "enum" in parts[0]:
            return {"enum": [*parts[0]["enum"], None]}
        return {"anyOf": parts}

    def _reference(self, cls: type) -> dict[str, Any]:
        if cls.__name__ not in self.definitions:
            self.definitions[cls.__name__] = {}
            summary = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
            self.definitions[cls.__name__] = {"description": summary} | self.object(cls, more={})
        return {"$ref": f"#/$defs/{cls.__name__}"}


def field_words(cls: type) -> dict[str, str]:
    """What a dataclass says of each field: under `Attributes:`, or in a string right below it."""
    words = {}
    section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")[2]
    for name, said in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE):
        words[name] = re.sub(r"\s+", " ", said).strip()
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # type: ignore[attr-defined]
    for line, below in pairwise(body):
        if isinstance(line, ast.AnnAssign) and isinstance(below, ast.Expr):
            words[line.target.id] = re.sub(r"\s+", " ", ast.literal_eval(below.value))  # type: ignore[union-attr]
    return {name: re.sub(r"\bNone\b", "null", said) for name, said in words.items()}


def report_schema() -> dict[str, Any]:
    """The schema of the whole report, in the order in which `to_json` writes it."""
    types = Types()
    hints, words = get_type_hints(Report), field_words(Report)

    def rows(*of_curve: str) -> dict[str, Any]:
        curve_hints, said = get_type_hints(Curve), field_words(Curve)
        first = {
            name: {"description": said[name]} | types.of(curve_hints[name])
            for name in ("signal", "axis", *of_curve)
        }
        return {"type": "array", "items": types.object(CurvePoint, more=first)}

    def result(name: str) -> dict[str, Any]:
        return ({"description": words[name]} if name in words else {}) | types.of(hints[name])

    first_error = types.of(hints["first_errors"])
    origin = get_type_hints(hints["origin"])
    properties = {
        "schema_version": {"const": SCHEMA_VERSION},
        "turncurve_version": {"type": "string"},
        "headline": {"type": "string", "description": "The finding in one plain sentence."},
        "headline_details": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The sentences that go with it: the slope, when it goes bad.",
        },
        "quality_signal": result("quality"),
        "settings": result("settings"),
        "inputs": {"description": "The files that were read."} | types.of(origin["inputs"]),
        "unread": {"description": "Files that no reader knows."} | types.of(origin["unread"]),
        "summary": result("summary"),
        "conditions": result("conditions"),
        "curves": {"description": words["curves"]} | rows(),
        "panels": {"description": words["panels"]} | rows("panel", "min_turns"),
        "segments": {"description": words["segments"]} | rows("segment"),
        "drop": result("drop"),
        "by_turn": {
            "description": "Signal to its curve by turn; all arrays have one length.",
            "type": "object",
            "additionalProperties": types.object(TurnSeries, without=["signal"], more={}),
        },
        "reach": result("reach"),
        "signals": {
            "description": words["signals"],
            "type": "object",
            "additionalProperties": types.object(SignalInfo, without=["name", "curve"], more={}),
        },
        "known_signals": {
            "description": words["known_signals"],
            "type": "object",
            "additionalProperties": types.object(SignalInfo, without=["name", "curve"], more={}),
        },
        "first_bad_turn": result("first_bad_turn"),
        "time_to_first_error": {
            "description": "The first of `time_to_first`: the rolling rule where it can be used.",
            "anyOf": [first_error["items"], {"type": "null"}],
        },
        "time_to_first": result("first_errors"),
        "trends": result("trends"),
        "regrounding": result("regrounding"),
        "context": result("context"),
        "repeated_action_rate": {
            "description": "`repetition.rate.value`.",
            "type": ["number", "null"],
        },
        "repetition": result("repetition"),
        "cost": result("cost"),
        "completion": result("completion"),
        "compactions": result("compactions"),
        "success_by_length": result("success_by_length"),
        "missing": result("missing"),
        "coverage": result("coverage"),
        "events": result("events"),
        "problems": {
            "description": "Records that could not be read, or were read with a part left out: "
            f"the first {SHOWN_OF_A_KIND} of each kind in each file, at most {SHOWN_IN_ALL:,}.",
            "type": "array",
            "items": problem_schema(),
        },
        "n_problems": {
            "description": "All problems, those that are not listed among them.",
            "type": "integer",
        },
        "n_files_with_problems": {"type": "integer"},
        "problems_by_file": {
            "description": "Files with a problem, those with the most first, at most "
            f"{SHOWN_IN_ALL:,}."
        }
        | types.of(get_type_hints(ProblemList)["by_file"]),
        "cut": {
            "description": "Lists that are not whole, by name: those with an entry a file, "
            f"condition, exit or run hold at most {MOST_ROWS:,}, `events` {MOST_EVENTS:,}."
        }
        | types.of(dict[str, Cut]),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": f"turncurve report {SCHEMA_VERSION}",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": dict(sorted(types.definitions.items())),
    }


def problem_schema() -> dict[str, Any]:
    """The schema of a `ReadError`, which is no dataclass."""
    properties = {
        "path": {"type": "string"},
        "record": {
            "description": "Where in the file: a line number, a record's id, an archive member.",
            "type": ["integer", "string", "null"],
        },
        "reason": {"description": "What was wanted and what came.", "type": "string"},
        "fix": {"description": "What would work.", "type": ["string", "null"]},
        "kept": {
            "description": "True if the record was read all the same, the faulty part left out.",
            "type": "boolean",
        },
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def schema_text() -> str:
    """The packaged file."""
    return json.dumps(report_schema(), indent=1, ensure_ascii=False) + "\n"


PREFACE = f"""# The report as JSON

`turncurve report PATH... --json FILE` writes one object; `--json -` prints it.
Its [JSON Schema](../../src/turncurve/report/schema/report-1.json) (2020-12) is in the package.
`turncurve.report.json.schema()` gives it; this page describes version {SCHEMA_VERSION}.
The first number of `schema_version` changes when a key is renamed or taken away.
The second changes when one is added.

Every key is always there.
`null` means that the files don't say, or that there is no estimate.
A `why` or `reason` beside it says which.
NaN and infinities never occur.
Turns count from 1.
The `low` and `high` of an estimate are its interval at `level`.
They are `null` where there is none, as with one run.

This page and the schema are made by `tools/make_report_schema_docs.py`.
"""


def page() -> str:
    """The reference page: one table for the report, and one for each kind of result."""
    schema = report_schema()
    blocks = [PREFACE, "## The report\n\n" + table(schema["properties"])]
    for name, definition in schema["$defs"].items():
        said = definition["description"]
        blocks.append(f"## {name}\n\n{said}\n\n{table(definition['properties'])}")
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def table(properties: Mapping[str, Any]) -> str:
    """A row a key."""
    lines = ["| key | type | meaning |", "|---|---|---|"]
    for name, schema in properties.items():
        said = schema.get("description", "").replace("|", "\\|")
        lines.append(f"| `{name}` | {type_words(schema)} | {said} |")
    return "\n".join(lines)


def type_words(schema: Mapping[str, Any]) -> str:  # noqa: PLR0911 -- one line a kind of schema
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f'`"{schema["const"]}"`'
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(type_words(part) for part in schema["anyOf"])
    if isinstance(schema["type"], list):
        return " or ".join(schema["type"])
    if schema["type"] == "array":
        if "prefixItems" in schema:
            return "array of " + ", ".join(type_words(part) for part in schema["prefixItems"])
        return f"array of {type_words(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"mapping to {type_words(schema['additionalProperties'])}"
    if "properties" in schema:
        return "object: " + ", ".join(f"`{name}`" for name in schema["properties"])
    return str(schema["type"])


if __name__ == "__main__":
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
