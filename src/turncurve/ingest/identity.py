"""Which run is which across files: ids, conditions and trials."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from turncurve.errors import InvariantError
from turncurve.ingest.discover import Found
from turncurve.model import Run

_RERUN = re.compile(r"[\W_]+(?:re-?run|run|repeat|rep|trial|retry|try|seed|epoch)[\W_]?\d*$", re.I)


class Identities:
    """Gives each run an id of its own, its condition and its trial, in reading order.

    Args:
        conditions: Folder's condition by file; None leaves each run the one its file gives.
    """

    def __init__(self, conditions: dict[Path, str] | None = None) -> None:
        self._conditions = conditions
        self._ids: set[str] = set()
        self._new_ids: dict[Path, dict[str, str]] = defaultdict(dict)
        self._trials: dict[tuple[str | None, str | None], set[int]] = defaultdict(set)
        self._next: Counter[tuple[str | None, str | None]] = Counter()

    def place(self, run: Run, path: Path) -> Run:
        """The run with its final id, parent, condition and trial.

        The first run with an id keeps it; a later one has its folder and file put before it. Runs
        of one scenario under one condition that give no trial, or one that is taken, are numbered
        on. A run without a scenario is a trial of nothing else, and a sub-agent's run takes no
        number.

        Raises:
            InvariantError: Its id, or a name in it, is no text.
        """
        _check_words(run)
        new_id = self._unique(run.id, path)
        ids = self._new_ids[path]
        parent = ids.get(run.parent, run.parent) if run.parent is not None else None
        ids.setdefault(run.id, new_id)
        condition = run.condition if self._conditions is None else self._conditions[path]
        numbered = run.scenario is not None and run.parent is None
        trial = self._trial((condition, run.scenario), run.trial) if numbered else run.trial or 1
        if (new_id, parent, condition, trial) == (run.id, run.parent, run.condition, run.trial):
            return run
        return replace(run, id=new_id, parent=parent, condition=condition, trial=trial)

    def _unique(self, run_id: str, path: Path) -> str:
        folder = path.parent.name
        candidates = [run_id, f"{folder}/{run_id}", f"{folder}/{path.name}/{run_id}"]
        new_id = next((name for name in candidates if name not in self._ids), None)
        number = 2
        while new_id is None or new_id in self._ids:
            new_id = f"{candidates[-1]}#{number}"
            number += 1
        self._ids.add(new_id)
        return new_id

    def _trial(self, group: tuple[str | None, str | None], given: int | None) -> int:
        taken = self._trials[group]
        if given is not None and given >= 1 and given not in taken:
            taken.add(given)
            return given
        number = self._next[group] + 1
        while number in taken:
            number += 1
        self._next[group] = number
        taken.add(number)
        return number


def _check_words(run: Run) -> None:
    """Ids and names are told apart as they stand, so each must be a text."""
    for name in ("id", "scenario", "condition", "agent", "parent", "model"):
        value = getattr(run, name)
        if not isinstance(value, str) and (value is not None or name in ("id", "agent")):
            raise InvariantError(f"wanted text as {name} of a run, got {value!r:.80}")


def folder_conditions(files: Sequence[Found]) -> dict[Path, str]:
    """Each file's condition: the name of the folder below the given path that holds it.

    A file right in the given folder has that folder's name. A folder whose name is another's with a
    word for a rerun at its end (`_rerun`, `-run2`, `_repeat`, `_trial3`) is another trial of that
    one's condition; so are folders that differ in nothing but the number behind such a word.
    """
    names = {file.path: _folder(file) for file in files}
    known = set(names.values())
    stems = Counter(_stem(name) for name in known)
    conditions = {
        name: _stem(name) if _stem(name) in known or stems[_stem(name)] > 1 else name
        for name in known
    }
    return {path: conditions[name] for path, name in names.items()}


def _folder(file: Found) -> str:
    parts = file.path.relative_to(file.root).parts
    return parts[0] if len(parts) > 1 else file.root.resolve().name


def _stem(name: str) -> str:
    stem = _RERUN.sub("", name)
    return stem or name
