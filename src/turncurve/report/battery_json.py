"""The battery as plain values: every estimate under its name, beside a sentence."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from turncurve.analysis.battery import Battery
from turncurve.analysis.battery_rates import Rate
from turncurve.analysis.slope import Slope
from turncurve.analysis.within_slope import WithinSlope
from turncurve.report.battery_words import rate_sentence, sentence
from turncurve.report.plain import plain
from turncurve.report.slope_words import slope_sentence

SCHEMA_VERSION = "1.0"


def battery_json(result: Battery) -> dict[str, Any]:
    """The result; a slope's estimate stands beside its name, p and controls."""
    whole = _plain(result)
    return {"schema_version": SCHEMA_VERSION, "sentence": sentence(result), **whole}


def _plain(value: object) -> Any:
    if isinstance(value, Slope | WithinSlope | Rate):
        return _flat(value)
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return plain(value)


def _flat(value: Slope | WithinSlope | Rate) -> dict[str, Any]:
    """The estimate's fields beside the others, and what it says in a sentence."""
    own = plain(value)
    if isinstance(value, Rate):
        estimate, said = own.pop("pooled"), rate_sentence(value)
        return {"name": own.pop("name"), "sentence": said, **estimate, **own}
    estimate = own.pop("estimate")
    if not isinstance(value, Slope):
        return {**estimate, **own}
    named = {name: own.pop(name) for name in ("name", "title")}
    return {**named, "sentence": slope_sentence(value), **estimate, **own}
