"""Whether stage trials and end-to-end trials were of the same agent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from turncurve.errors import NotComparableError
from turncurve.readers.stage_trials import AGENT, CONDITIONS, StageTrial

SHOWN = 60
"""Characters of a value in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDifference:
    """A part of the configuration that is not the same everywhere.

    Attributes:
        part: Which one: model, prompt, tools, memory, limits, agent, or study.
        stages: Each value among the stage trials, to their number.
        whole: Each value among the end-to-end trials, to their number.
        where: Each value, to the first record that has it.
    """

    part: str
    stages: Mapping[str, int]
    whole: Mapping[str, int]
    where: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What is known of the agent's configuration on both sides.

    Attributes:
        digest: SHA-256 of all parts; None where one is unknown or not the same everywhere.
        same: Parts that are the same in all trials.
        different: Parts that are not.
        unknown: Parts that some trials do not name, to the number of these trials: whether they
            are the same is taken on trust.
    """

    digest: str | None
    same: Mapping[str, str]
    different: tuple[PartDifference, ...]
    unknown: Mapping[str, int]


def conditions_of(
    stages: Sequence[StageTrial], whole: Sequence[StageTrial], study: str | None
) -> Conditions:
    """Compare the configuration of both sides, part by part.

    Args:
        stages: Stage trials that count.
        whole: End-to-end trials that count.
        study: Digest of the study file, where there is one; a trial that names another one differs.
    """
    same, different, unknown = dict[str, str](), list[PartDifference](), dict[str, int]()
    for part in (*CONDITIONS, AGENT, "study"):
        values = [(_value(trial, part), trial) for trial in (*stages, *whole)]
        known = dict.fromkeys(value for value, _ in values if value is not None)
        if part == "study" and known and study is not None:
            known[study] = None
        if len(known) > 1:
            different.append(_difference(part, stages, whole))
        elif known and part != "study":
            same[part] = next(iter(known))
        n_unknown = sum(value is None for value, _ in values)
        if n_unknown and part != "study" and (known or part != AGENT):
            unknown[part] = n_unknown
    complete = set(CONDITIONS) <= set(same) and not unknown and not different
    return Conditions(
        digest=configuration_digest(same) if complete else None,
        same=same,
        different=tuple(different),
        unknown=unknown,
    )


def configuration_digest(parts: Mapping[str, str]) -> str:
    """SHA-256 of a complete configuration; the order of its parts does not matter."""
    return sha256(json.dumps(dict(parts), sort_keys=True).encode()).hexdigest()


def refuse_differences(conditions: Conditions) -> None:
    """Stop where the two sides were not of one configuration.

    Raises:
        NotComparableError: A part differs; the message names it, its values and a record of each.
    """
    for one in conditions.different:
        told = [
            f"{value!r:.{SHOWN}} in {_counted(one.stages.get(value, 0), one.whole.get(value, 0))} "
            f"(first {where})"
            for value, where in one.where.items()
        ]
        named = "; ".join(told) if len(told) > 1 else f"{'; '.join(told)}, which is not this study"
        raise NotComparableError(
            f"{one.part} is not the same in all trials: {named}",
            "keep to one configuration, or use the trials all the same with --differing report",
        )


def changed_parts(a: Sequence[StageTrial], b: Sequence[StageTrial]) -> tuple[str, ...]:
    """Parts of the configuration in which two sets of trials differ."""
    return tuple(
        part
        for part in (*CONDITIONS, AGENT)
        if {t.conditions.get(part) for t in a} != {t.conditions.get(part) for t in b}
    )


def _value(trial: StageTrial, part: str) -> str | None:
    return trial.study if part == "study" else trial.conditions.get(part)


def _difference(
    part: str, stages: Sequence[StageTrial], whole: Sequence[StageTrial]
) -> PartDifference:
    where = dict[str, str]()
    for trial in (*stages, *whole):
        value = _value(trial, part)
        if value is not None:
            where.setdefault(value, f"{trial.file}:{trial.record}")
    return PartDifference(
        part=part, stages=_counts(part, stages), whole=_counts(part, whole), where=where
    )


def _counts(part: str, trials: Sequence[StageTrial]) -> dict[str, int]:
    found = Counter(_value(trial, part) for trial in trials)
    return {value: n for value, n in found.items() if value is not None}


def _counted(n_stages: int, n_whole: int) -> str:
    parts = [f"{n_stages:,} stage trials"] * bool(n_stages)
    parts += [f"{n_whole:,} end-to-end trials"] * bool(n_whole)
    return " and ".join(parts)
