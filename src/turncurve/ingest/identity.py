"""Which run is which across files: ids, conditions and trials."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from turncurve.errors import InvariantError
from turncurve.ingest.discover import Found
from turncurve.model import Run
from turncurve.table import RunTable
from turncurve.table.columns import objects

_RERUN = re.compile(r"[\W_]+(?:re-?run|run|repeat|rep|trial|retry|try|seed|epoch)[\W_]?\d*$", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What tells a run from others, as its file gives it or as it is settled over all files."""

    id: str
    scenario: str | None
    condition: str | None
    parent: str | None
    trial: int | None


class Identities:
    """Gives each run an id of its own, its condition and its trial, in reading order.

    Args:
        conditions: Folder's condition by file; None leaves each run the one its file gives.
    """

    def __init__(self, conditions: Mapping[Path, str] | None = None) -> None:
        self._conditions = conditions
        self._ids: set[str] = set()
        self._new_ids: dict[Path, dict[str, str]] = defaultdict(dict)
        self._trials: dict[tuple[str | None, str | None], set[int]] = defaultdict(set)
        self._next: Counter[tuple[str | None, str | None]] = Counter()

    def place(self, run: Run, path: Path) -> Run:
        """The run with its final id, parent, condition and trial; see `settle`.

        Raises:
            InvariantError: Its id, or a name in it, is no text.
        """
        check_words(run)
        given = Naming(
            id=run.id,
            scenario=run.scenario,
            condition=run.condition,
            parent=run.parent,
            trial=run.trial,
        )
        settled = self.settle(given, path)
        if settled == given:
            return run
        return replace(
            run,
            id=settled.id,
            parent=settled.parent,
            condition=settled.condition,
            trial=settled.trial,
        )

    def place_rows(self, runs: RunTable) -> RunTable:
        """The run table with the final id, parent, condition and trial of each row; see `settle`.

        Args:
            runs: Rows as their files give them, in reading order; a trial of 0 is none.
        """
        settled = [
            self.settle(
                Naming(id=run, scenario=scenario, condition=condition, parent=parent, trial=trial),
                Path(path),
            )
            for run, scenario, condition, parent, trial, path in zip(
                runs.id,
                runs.scenario,
                runs.condition,
                runs.parent,
                (trial or None for trial in runs.trial.tolist()),
                runs.path,
                strict=True,
            )
        ]
        return replace(
            runs,
            id=objects([one.id for one in settled]),
            parent=objects([one.parent for one in settled]),
            condition=objects([one.condition for one in settled]),
            trial=np.array([one.trial for one in settled], dtype=np.int64),
        )

    def settle(self, given: Naming, path: Path) -> Naming:
        """The final names of the next run.

        The first run with an id keeps it; a later one has its folder and file put before it. Runs
        of one scenario under one condition that give no trial, or one that is taken, are numbered
        on. A run without a scenario is a trial of nothing else, and a sub-agent's run takes no
        number.
        """
        new_id = self._unique(given.id, path)
        ids = self._new_ids[path]
        parent = ids.get(given.parent, given.parent) if given.parent is not None else None
        ids.setdefault(given.id, new_id)
        condition = given.condition
        if self._conditions is not None:
            condition = self._conditions.get(path, condition)
        numbered = given.scenario is not None and given.parent is None
        trial = (
            self._trial((condition, given.scenario), given.trial) if numbered else given.trial or 1
        )
        return Naming(
            id=new_id, scenario=given.scenario, condition=condition, parent=parent, trial=trial
        )

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


def check_words(run: Run) -> None:
    """Ids and names are told apart as they stand, so each must be a text.

    Raises:
        InvariantError: One is none.
    """
    for name in ("id", "scenario", "condition", "agent", "parent", "model"):
        value = getattr(run, name)
        if not isinstance(value, str) and (value is not None or name in ("id", "agent")):
            raise InvariantError(f"wanted text as {name} of a run, got {value!r:.80}")


def folder_conditions(files: Sequence[Found]) -> dict[Path, str]:
    """Each file's condition by `conditions_of` its folder."""
    return conditions_of({file.path: folder_name(file) for file in files})


def folder_name(file: Found) -> str:
    """The folder right below the given path that holds a file, else the given folder itself."""
    parts = file.path.relative_to(file.root).parts
    return parts[0] if len(parts) > 1 else file.root.resolve().name


def conditions_of(folders: Mapping[Path, str]) -> dict[Path, str]:
    """Each file's condition: the name of its folder, without what tells reruns of it apart.

    A folder whose name is another's with a word for a rerun at its end (`_rerun`, `-run2`,
    `_repeat`, `_trial3`) is another trial of that one's condition; so are folders that differ in
    nothing but the number behind such a word.
    """
    known = set(folders.values())
    stems = Counter(_stem(name) for name in known)
    conditions = {
        name: _stem(name) if _stem(name) in known or stems[_stem(name)] > 1 else name
        for name in known
    }
    return {path: conditions[name] for path, name in folders.items()}


def _stem(name: str) -> str:
    stem = _RERUN.sub("", name)
    return stem or name
