"""A JSON Schema that looks at untrusted text: bounded, and without any request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import jsonschema
import msgspec
import referencing
import referencing.exceptions
import regex
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for

from turncurve.errors import RuleError

JsonValue: TypeAlias = Any
"""A value as it came out of a JSON document."""

SECONDS = 0.25
"""Processor time that one pattern of the schema may take on one text."""


class JsonSchema:
    """A JSON Schema, ready to check values.

    Its own draft is used (`$schema`), 2020-12 if it names none. `pattern` has a time bound, and a
    `$ref` to another document is an error: nothing is fetched.

    Args:
        schema: The schema, decoded.
        where: What the schema is, for messages.

    Raises:
        RuleError: It is no valid JSON Schema, or refers to another document.
    """

    def __init__(self, schema: JsonValue, *, where: str) -> None:
        draft = validator_for(schema, default=jsonschema.Draft202012Validator)
        extend: Any = jsonschema.validators.extend
        bounded = extend(draft, {"pattern": _pattern})
        try:
            draft.check_schema(schema)
            _check_references(schema, where)
        except SchemaError as problem:
            raise RuleError(
                f"{where}: wanted a valid JSON Schema; at {problem.json_path}: {problem.message}"
            ) from problem
        except RecursionError as problem:
            raise RuleError(f"{where}: nested too deep") from problem
        self._where = where
        self._validator: Any = bounded(schema, registry=referencing.Registry())

    def accepts(self, value: JsonValue) -> bool:
        """Whether a decoded value follows the schema.

        Raises:
            TimeoutError: A pattern took too long, or the value is too deep or too large to tell.
            RuleError: A `$ref` of the schema leads nowhere.
        """
        try:
            return bool(self._validator.is_valid(value))
        except (RecursionError, ArithmeticError) as problem:
            raise TimeoutError("nested too deep, or a number too large") from problem
        except referencing.exceptions.Unresolvable as problem:
            raise RuleError(f"{self._where}: its $ref {problem.ref!r} leads nowhere") from problem

    def accepts_text(self, text: str) -> bool:
        """Whether a text is JSON that follows the schema; text that is no JSON does not.

        Raises:
            TimeoutError: A pattern took too long, or the value is too deep or too large to tell.
            RuleError: A `$ref` of the schema leads nowhere.
        """
        try:
            value = msgspec.json.decode(text.strip())
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return False
        return self.accepts(value)


def _check_references(schema: JsonValue, where: str) -> None:
    ids = set(_parts(schema, "$id"))
    for ref in _parts(schema, "$ref"):
        document = ref.partition("#")[0]
        if document and document not in ids:
            raise RuleError(
                f"{where}: wanted a JSON Schema that stands alone; it refers to {ref!r}, "
                "which is not fetched"
            )


def _parts(schema: JsonValue, key: str) -> Iterator[str]:
    """Every text under a key, at any depth."""
    if isinstance(schema, dict):
        if isinstance(schema.get(key), str):
            yield schema[key]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _parts(part, key)


def _pattern(
    validator: JsonValue, pattern: str, instance: JsonValue, schema: JsonValue
) -> Iterator[ValidationError]:
    del schema
    if validator.is_type(instance, "string") and not regex.search(
        pattern, instance, timeout=SECONDS
    ):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")
