"""How a coding agent's run ended, and whether the tests that judged it passed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Event, EventKind, ExitType
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import json_document

COMPANIONS = ("report.json", "*.report.json")
"""Names that only outcome files have, of those that `resolved_beside` looks at."""

_FINISHED = frozenset({"submitted", "submitted_no_patch", "exit_command", "exit_forfeit"})
_BUDGET = frozenset(
    {
        "limitsexceeded",
        "timeexceeded",
        "contextwindowexceeded",
        "contextwindowexceedederror",
        "exit_cost",
        "exit_total_cost",
        "exit_context",
        "exit_total_execution_time",
        "exit_command_timeout",
    }
)
_ABORTED = frozenset({"keyboardinterrupt", "userinterruption"})
_CRASHED = frozenset(
    {"exit_api", "exit_environment_error", "exit_error", "exit_format", "early_exit"}
)
_EXCEPTION_NAME = re.compile(r"[A-Z][A-Za-z]+")
_AUTOSUBMITTED = re.compile(r"submitted \((.+)\)")
_SUFFIXES = (".gz", ".zst", ".json", ".traj")


def exit_type(words: str | None, *, success: bool | None) -> ExitType:
    """The exit type behind the exit status of mini-swe-agent or SWE-agent.

    `submitted (exit_cost)` is what the limit in the brackets made of it: a budget exit. An agent
    that finished by itself finished in success or in failure as the outcome says, and is of
    unknown exit type where no outcome is known. A name of an exception that is no limit and no
    interruption is a crash. Other words are of unknown exit type.
    """
    if not words:
        return ExitType.UNKNOWN
    inner = _AUTOSUBMITTED.fullmatch(words)
    word = inner.group(1) if inner else words
    for known, exit_ in (
        (_BUDGET, ExitType.BUDGET),
        (_ABORTED, ExitType.USER_ABORT),
        (_CRASHED, ExitType.CRASH),
    ):
        if word.lower() in known:
            return exit_
    if word.lower() in _FINISHED:
        return ExitType.finished(success)
    return ExitType.CRASH if _EXCEPTION_NAME.fullmatch(word) else ExitType.UNKNOWN


def exit_events(exit_: ExitType, words: str | None, n_turns: int) -> tuple[Event, ...]:
    """The event that ended a run after its last turn, if a limit or an error did."""
    kinds: dict[ExitType, EventKind] = {
        ExitType.BUDGET: "limit",
        ExitType.CRASH: "error",
        ExitType.USER_ABORT: "intervention",
    }
    if exit_ not in kinds:
        return ()
    return (Event(kind=kinds[exit_], turn=n_turns + 1, detail={"exit": words}),)


def file_stem(path: Path) -> str:
    """The file's name without `.traj`, `.json` and what they were packed with."""
    name = path.name
    while name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return name


def resolved_beside(path: Path, scenario: str, on_problem: OnProblem) -> bool | None:
    """Whether the run of a trace resolved its scenario, by the outcome file beside the trace.

    Only names from the file system make the places to look, never text from the trace. An outcome
    file that cannot be read is told as a problem and the outcome is unknown.
    """
    for place, is_own in _places(path):
        if not place.is_file():
            continue
        try:
            outcome = _resolved(json_document(place, on_problem), scenario, is_own=is_own)
        except ReadError as problem:
            on_problem(
                ReadError(
                    place,
                    problem.reason,
                    fix="mend or remove the file; the outcome is unknown",
                    kept=True,
                )
            )
            continue
        if outcome is not None:
            return outcome
    return None


def _places(path: Path) -> Iterator[tuple[Path, bool]]:
    """Give (outcome file, whether it is about this trace alone), the nearest first."""
    stem, folder = file_stem(path), path.parent
    yield folder / f"{stem}.report.json", True
    yield folder / "report.json", folder.name == stem
    for above in (folder, folder.parent, folder.parent.parent):
        yield above / "logs" / stem / "report.json", True
    yield folder / "results.json", False
    yield folder.parent / "results.json", False


def _resolved(report: Any, scenario: str, *, is_own: bool) -> bool | None:
    """The verdict in a report of one instance, bare or under its id, or in lists of ids."""
    report = as_mapping(report)
    for place in (report.get(scenario), report if is_own else None):
        verdict = as_mapping(place).get("resolved")
        if isinstance(verdict, bool):
            return verdict
    if scenario in as_list(report.get("resolved_ids")):
        return True
    failed = [*as_list(report.get("unresolved_ids")), *as_list(report.get("empty_patch_ids"))]
    return False if scenario in failed else None
