"""Who judged which turn how: the grades or labels of a set of files, as columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.construct import one_construct
from turncurve.ingest import iter_named_runs
from turncurve.model import Construct, Grade, Run, Turn
from turncurve.readers import OnProblem, raise_problem
from turncurve.signals.phase import turn_phase

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Scale: TypeAlias = Literal["validity", "fail"]

VALIDITIES = ("fail", "neutral", "pass")
"""Categories of the scale "validity", from worst to best."""
FAILING = ("fail", "no fail")
"""Categories of the scale "fail", of marks that say where an error is and nothing else."""
SEVERITIES = ("low", "medium", "high")
MISSING = -1

NO_MARK = "turn with a mark that is neither 0 nor 1"

_MARKED_BY: Mapping[str, tuple[str, Construct | None]] = {
    "turns": ("the error column", None),
    "trail": ("annotators of TRAIL", "hindsight"),
    "who_and_when": ("annotators of Who&When", "hindsight"),
}
"""Who marked the errors of a format, and what they knew: annotators saw whole traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """Judgements of turns; one row a turn and rater, arrays of shape (n_rows,).

    Attributes:
        name: What the set is called in words: GRADES, say.
        scale: Which categories there are; 0 is "fail" in both.
        construct: What the judges knew; None where no file says.
        raters: Names, in the order of their first judgement.
        members: Those of them who voted in a panel, which is a rater too.
        runs: Ids of the runs as their files give them.
        roots: For each of them the id of the run that it is a part of: its own, or that of the run
            that started it as a sub-agent. Those with one root are no independent replicates.
        run: Position in `runs`.
        turn: From 1.
        rater: Position in `raters`.
        category: Position in `categories`; -1 for a judgement that could not be had.
        severity: Position in `SEVERITIES`; -1 where none is stated.
        explore: 1 where the turn only looks, 0 where it acts, NaN where that is not known.
        context_tokens: Tokens that the turn's model call read; NaN where not known.
        n_turns: Turns of the row's run, as far as this set shows them.
        excluded: Reason to number of turns that gave no row.
    """

    name: str
    scale: Scale
    construct: Construct | None
    raters: tuple[str, ...]
    members: frozenset[str]
    runs: tuple[str, ...]
    roots: tuple[str, ...]
    run: IntArray
    turn: IntArray
    rater: IntArray
    category: IntArray
    severity: IntArray
    explore: FloatArray
    context_tokens: FloatArray
    n_turns: IntArray
    excluded: Mapping[str, int] = field(default_factory=dict)

    @property
    def categories(self) -> tuple[str, ...]:
        """The words of the scale."""
        return VALIDITIES if self.scale == "validity" else FAILING


def judgements_of(
    runs: Iterable[Run], *, name: str, construct: Construct | None = None
) -> Judgements:
    """Collect the judgements in runs: grades, or else marks of errors (a value `error` of 0 or 1).

    Args:
        runs: Runs as their files name them; several files may speak of one run.
        name: What to call the set in errors.
        construct: What the judges knew, where the files do not say.

    Raises:
        ConstructError: Files of the set say different things of what the judges knew, or another
            than `construct`.
    """
    rows = _Rows()
    for run in runs:
        rows.add(run)
    return rows.judgements(name, construct)


def with_traces(judgements: Judgements, runs: Iterable[Run]) -> Judgements:
    """The judgements with what the judged traces say of phase, context and length.

    Args:
        judgements: Of some turns.
        runs: The traces, by the same ids and turns.
    """
    places = {run: number for number, run in enumerate(judgements.runs)}
    rows = defaultdict[tuple[int, int], list[int]](list)
    pairs = zip(judgements.run.tolist(), judgements.turn.tolist(), strict=True)
    for row, pair in enumerate(pairs):
        rows[pair].append(row)
    explore, tokens = judgements.explore.copy(), judgements.context_tokens.copy()
    n_turns = judgements.n_turns.copy()
    for run in runs:
        number = places.get(run.id)
        if number is None:
            continue
        of_run = judgements.run == number
        n_turns[of_run] = np.maximum(n_turns[of_run], max((t.index for t in run.turns), default=0))
        for turn in run.turns:
            phase = _phase(turn)
            own = rows.get((number, turn.index), [])
            explore[own] = np.where(np.isnan(explore[own]), phase, explore[own])
            tokens[own] = _tokens(turn)
    return replace(judgements, explore=explore, context_tokens=tokens, n_turns=n_turns)


def _phase(turn: Turn) -> float:
    """1 where it looks around, 0 where it acts, as the file says or its actions show."""
    stated = turn.values.get("phase_explore")
    found = turn_phase(turn) if stated is None else stated
    return np.nan if found is None else found


def _tokens(turn: Turn) -> float:
    read = None if turn.usage is None else turn.usage.context_tokens
    return np.nan if read is None else float(read)


def read_judgements(
    paths: str | Path | Sequence[str | Path],
    *,
    name: str,
    construct: Construct | None = None,
    on_problem: OnProblem = raise_problem,
) -> Judgements:
    """Read the judgements in files, folders, patterns and stores.

    Args:
        paths: One path or pattern, or several.
        name: What to call the set in errors and counts; two sets to be compared differ in it.
        construct: What the judges knew, where the files do not say.
        on_problem: Told of each record that cannot be read. By default the first one raises.

    Raises:
        ReadError: A record cannot be read, and `on_problem` is not given.
        ConstructError: Files of the set say different things of what the judges knew.
    """
    several = [paths] if isinstance(paths, str | Path) else paths
    runs = iter_named_runs(several, on_problem=on_problem)
    return judgements_of(runs, name=name, construct=construct)


class _Rows:
    """Collects rows run by run, so that no run is held."""

    def __init__(self) -> None:
        self._runs: dict[str, int] = {}
        self._parents: dict[str, str] = {}
        self._raters: dict[str, int] = {}
        self._members = set[str]()
        self._length: dict[int, int] = {}
        self._cells: list[tuple[int, int, int, int, int, float, float]] = []
        self._marked = False
        self._odd = 0
        self._constructs: dict[Construct, str] = {}
        self._scores: list[bool] = []

    def add(self, run: Run) -> None:
        """Add the judgements of a run."""
        number = self._runs.setdefault(run.id, len(self._runs))
        if run.parent is not None:
            self._parents.setdefault(run.id, run.parent)
        length = max((turn.index for turn in run.turns), default=0)
        self._length[number] = max(self._length.get(number, 0), length)
        for turn in run.turns:
            beside = (_phase(turn), _tokens(turn))
            if turn.grades:
                self._add_grades(number, run, turn, beside)
            elif turn.values.get("error") is not None:
                self._add_mark(number, run, turn, beside)

    def _add_grades(self, number: int, run: Run, turn: Turn, beside: tuple[float, float]) -> None:
        for grade in turn.grades:
            if grade.construct is not None:
                self._constructs.setdefault(grade.construct, run.path)
            self._add_grade((number, turn.index), grade, grade.grader, beside)
            times = Counter[str]()
            for vote in grade.members or ():
                times[vote.grader] += 1
                n = times[vote.grader]
                voter = vote.grader if n == 1 else f"{vote.grader} #{n}"
                self._members.add(voter)
                self._add_grade((number, turn.index), vote, voter, beside)

    def _add_grade(
        self, at: tuple[int, int], grade: Grade, who: str, beside: tuple[float, float]
    ) -> None:
        category = MISSING if grade.validity is None else VALIDITIES.index(grade.validity)
        severity = MISSING if grade.severity is None else SEVERITIES.index(grade.severity)
        rater = self._raters.setdefault(who, len(self._raters))
        self._cells.append((*at, rater, category, severity, *beside))
        self._scores.append(True)

    def _add_mark(self, number: int, run: Run, turn: Turn, beside: tuple[float, float]) -> None:
        mark = turn.values["error"]
        if mark not in (0.0, 1.0):
            self._odd += 1
            return
        who, construct = _MARKED_BY.get(run.format, (f"error marks of {run.format}", None))
        if construct is not None:
            self._constructs.setdefault(construct, run.path)
        rater = self._raters.setdefault(who, len(self._raters))
        self._marked = True
        self._cells.append((number, turn.index, rater, int(mark == 0), MISSING, *beside))
        self._scores.append(False)

    def _root(self, run: str) -> str:
        seen = {run}
        while (parent := self._parents.get(run)) is not None and parent not in seen:
            seen.add(parent)
            run = parent
        return run

    def judgements(self, name: str, construct: Construct | None) -> Judgements:
        """All rows as columns."""
        cells = np.array(self._cells, dtype=np.float64).reshape(len(self._cells), 7).T
        run, turn, rater, category, severity = (cells[i].astype(np.int64) for i in range(5))
        if self._marked:  # grades beside marks are put on the scale of the marks
            category = np.where(np.array(self._scores) & (category > 0), 1, category)
        lengths = np.array([self._length[i] for i in range(len(self._runs))], dtype=np.int64)
        return Judgements(
            name=name,
            scale="fail" if self._marked else "validity",
            construct=one_construct(name, self._constructs, construct),
            raters=tuple(self._raters),
            members=frozenset(self._members),
            runs=tuple(self._runs),
            roots=tuple(self._root(run) for run in self._runs),
            run=run,
            turn=turn,
            rater=rater,
            category=category,
            severity=severity,
            explore=cells[5],
            context_tokens=cells[6],
            n_turns=lengths[run] if len(lengths) else run,
            excluded={NO_MARK: self._odd} if self._odd else {},
        )
