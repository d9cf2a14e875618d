"""The files around an ATIF trajectory: what continues it, what it belongs to, and its outcome."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import ExitType
from turncurve.readers._items import as_mapping
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import as_float, as_name
from turncurve.readers.stream import json_document

_CONTINUATION = re.compile(r"(?P<base>.+)\.cont-(?P<number>\d{1,6})\.json")
_LARGEST_REWARD_MISS = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a trial's result says of its run."""

    task: str | None = None
    reward: float | None = None
    success: bool | None = None
    exit_type: ExitType | None = None
    words: str | None = None


def is_continuation(path: Path) -> bool:
    """Whether the file continues one that stands beside it, and is read with that."""
    match = _CONTINUATION.fullmatch(path.name)
    if match is None:
        return False
    number = int(match["number"]) - 1
    before = f"{match['base']}.cont-{number}.json" if number else f"{match['base']}.json"
    return (path.parent / before).is_file()


def continuation_of(path: Path, reference: str) -> Path | None:
    """The file that a trajectory goes on in, if it stands beside it.

    A reference is a name; where a trajectory's files were renamed together, the number in it is
    looked for under the trajectory's own name. A path to another folder is not followed.
    """
    name = re.split(r"[/\\]", reference)[-1]
    direct = path.parent / name
    if _stands(direct) and direct.resolve() != path.resolve():
        return direct
    match = _CONTINUATION.fullmatch(name)
    if match is None:
        return None
    own = _CONTINUATION.fullmatch(path.name)
    base = own["base"] if own else path.name.removesuffix(".json")
    renamed = path.parent / f"{base}.cont-{match['number']}.json"
    return renamed if _stands(renamed) else None


def _stands(path: Path) -> bool:
    """Whether there is such a file; a name that no file system takes is none."""
    return isfile(path)  # noqa: PTH113 - Path.is_file raises where a name is too long


def parent_of(path: Path) -> str | None:
    """The id of the trajectory that refers to a sub-agent's file.

    `trajectory.summarization-1-summary.json` belongs to the `trajectory.json` beside it, if that
    names it.
    """
    stem = path.name.removesuffix(".json")
    while "." in stem:
        stem, _, own = stem.rpartition(".")
        above = path.parent / f"{stem}.json"
        if above.is_file() and f"{own}.json".encode() in above.read_bytes():
            document = _quietly(above)
            return as_name(document.get("trajectory_id")) or as_name(document.get("session_id"))
    return None


def outcome_beside(path: Path, on_problem: OnProblem) -> Outcome:
    """What the trial's `result.json`, in the trajectory's folder or the one above, says."""
    for folder in (path.parent, path.parent.parent):
        result = folder / "result.json"
        if result.is_file():
            try:
                return _outcome(as_mapping(json_document(result, on_problem)))
            except ReadError as problem:
                on_problem(ReadError(path, f"its outcome: {problem}", kept=True))
                return Outcome()
    return Outcome()


def _outcome(result: dict[str, Any]) -> Outcome:
    verified = as_mapping(result.get("verifier_result"))
    rewards = as_mapping(verified.get("rewards"))
    reward = as_float(rewards.get("reward"))
    if reward is None and len(rewards) == 1:
        reward = as_float(next(iter(rewards.values())))
    success = None if reward is None else reward >= 1 - _LARGEST_REWARD_MISS
    failure = as_name(as_mapping(result.get("exception_info")).get("exception_type"))
    exit_type = None
    if failure is not None:
        exit_type = ExitType.BUDGET if "Timeout" in failure else ExitType.CRASH
    if exit_type is ExitType.CRASH and success:
        exit_type = None
    return Outcome(
        task=as_name(result.get("task_name")),
        reward=reward,
        success=success,
        exit_type=exit_type,
        words=failure,
    )


def _quietly(path: Path) -> dict[str, Any]:
    """A document beside the trace; whoever reads it as a trace tells what is wrong with it."""
    try:
        return as_mapping(json_document(path, lambda _: None))
    except ReadError:
        return {}
