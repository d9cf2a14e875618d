"""An agent that is a Python function."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turncurve.errors import StudyError, TurncurveError
from turncurve.experiments.stage_agent import AgentCrashedError
from turncurve.experiments.study_files import target_file
from turncurve.experiments.trial_watch import TrialOver, TrialWatch, Work


@dataclass(slots=True, kw_only=True)
class Trial:
    """What the function is called with.

    Args:
        work: Where and how it works.
    """

    work: Work
    _watch: TrialWatch
    _again: bool = field(default=False, init=False)
    _problem: TurncurveError | None = field(default=None, init=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.work, name)

    def turn(self, *, tokens: int | None = None, cost_usd: float | None = None) -> None:
        """Say that a turn is over, and what it took.

        The trial ends here where its goal is reached or its budget is spent: `TrialOver` passes
        through the function, which may tidy up in a `finally`.
        """
        taken = self._watch.taken
        taken.turns = (taken.turns or 0) + 1
        if tokens is not None:
            taken.tokens = (taken.tokens or 0) + tokens
        if cost_usd is not None:
            taken.cost_usd = (taken.cost_usd or 0.0) + cost_usd
        try:
            self._again = self._watch.look()
        except TurncurveError as problem:  # not the agent's, which must not catch it
            self._problem = problem
            raise TrialOver from problem
        if self._again or self._watch.over():
            raise TrialOver


class CallableAgent:
    """A function as an agent.

    Args:
        function: Called with a `Trial`; it works in `trial.folder`, keeps what it knows in
            `trial.history`, calls `trial.turn()` after each turn, and returns when it is done.
    """

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function = function

    def work(self, work: Work, watch: TrialWatch) -> bool:
        trial = Trial(work=work, _watch=watch)
        try:
            self._function(trial)
        except TrialOver:
            if trial._problem is not None:  # noqa: SLF001 - ours; no business of the function's
                raise trial._problem from None  # noqa: SLF001
            return trial._again  # noqa: SLF001
        except Exception as problem:  # the agent is anybody's code
            where = traceback.extract_tb(problem.__traceback__)[-1]
            raise AgentCrashedError(
                f"{type(problem).__name__}: {problem} ({where.name}, line {where.lineno})"
            ) from problem
        return watch.look()


def load_target(target: str, folder: Path) -> Callable[..., Any]:
    """The function that `FILE.py@NAME` names.

    Raises:
        StudyError: There is none, or its file cannot be run.
    """
    path, name = target_file(target, folder)
    spec = importlib.util.spec_from_file_location(f"turncurve_study_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise StudyError(f"{target!r}: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # the file is anybody's code
        raise StudyError(f"{path}: cannot be run: {type(problem).__name__}: {problem}") from problem
    function = getattr(module, name, None)
    if not callable(function):
        raise StudyError(f"{path}: there is no function {name}")
    return function  # type: ignore[no-any-return] # of anybody's module
