"""An agent that is a command, run in a copy of the workspace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from turncurve.errors import StudyError
from turncurve.experiments.stage_agent import AgentCrashedError
from turncurve.experiments.trial_watch import TrialWatch, Work

BETWEEN_LOOKS = 0.05
"""Seconds between two looks at the folder; a look at a folder that has not changed is cheap."""
TO_END = 5.0
"""Seconds that a command has to end once it is told to."""
LAST_WORDS = 400
"""Characters that are kept of what a command that crashed said last."""


def filled(words: tuple[str, ...], values: Mapping[str, str]) -> list[str]:
    """The words of a command with `{python}` and the given names filled in."""
    known = {"python": sys.executable, **values}
    found = []
    for word in words:
        for name, value in known.items():
            word = word.replace(f"{{{name}}}", value)
        found.append(word)
    return found


class CommandAgent:
    """A command as an agent.

    It is looked at whenever its folder has changed, and at its end.

    Args:
        command: Its words, see `filled`.
        study: The study's folder.
    """

    def __init__(self, command: tuple[str, ...], study: Path) -> None:
        self._command = command
        self._study = study

    def work(self, work: Work, watch: TrialWatch) -> bool:
        with TemporaryDirectory(prefix="turncurve-") as spare:
            usage, said = Path(spare, "usage.json"), Path(spare, "said.txt")
            before = watch.taken.turns or 0, watch.taken.tokens or 0, watch.taken.cost_usd or 0.0
            with said.open("wb") as output:
                process = self._start(work, watch, usage, output)
                try:
                    again = _watched(process, work, watch, usage, before)
                finally:
                    _end(process)
            _take(usage, watch, before)
            if again:
                return True
            again = watch.look()
            if process.returncode > 0 and not watch.is_done and not again:
                words = said.read_text(encoding="utf-8", errors="replace")[-LAST_WORDS:].strip()
                raise AgentCrashedError(f"status {process.returncode}: {words}")
            return again

    def _start(
        self, work: Work, watch: TrialWatch, usage: Path, output: BinaryIO
    ) -> subprocess.Popen[bytes]:
        values = {"goal": work.goal, "work": str(work.folder), "study": str(self._study)}
        words = filled(self._command, values)
        turns = watch.turns_left()
        told = {
            "TURNCURVE_GOAL": work.goal,
            "TURNCURVE_TASK": work.task,
            "TURNCURVE_STAGE": work.stage or "",
            "TURNCURVE_WORK": str(work.folder),
            "TURNCURVE_HISTORY": str(work.history),
            "TURNCURVE_USAGE": str(usage),
            "TURNCURVE_SEED": str(work.seed),
            "TURNCURVE_TURNS": "" if turns is None else str(turns),
        }
        try:
            return subprocess.Popen(
                words,
                cwd=work.folder,
                env=os.environ | told,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as problem:
            raise StudyError(f"the agent {words[0]!r} cannot be run: {problem}") from problem


def _watched(
    process: subprocess.Popen[bytes],
    work: Work,
    watch: TrialWatch,
    usage: Path,
    before: tuple[int, int, float],
) -> bool:
    """Look until the command ends or is to end; True: it is to be started again."""
    seen: object = None
    while process.poll() is None:
        now = _state(work.folder)
        if now != seen:
            seen = now
            _take(usage, watch, before)
            _tell(process, signal.SIGSTOP)  # what is looked at and kept must not change meanwhile
            again = watch.look()
            _tell(process, signal.SIGCONT)
            if again:
                return True
        if watch.over():
            return False
        left = watch.seconds_left()
        time.sleep(BETWEEN_LOOKS if left is None else min(BETWEEN_LOOKS, left))
    return False


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """What there is in a folder, without a look into its files."""
    found = []
    for at, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            try:
                one = os.lstat(os.path.join(at, name))  # noqa: PTH118 - a hot path
            except FileNotFoundError:
                continue
            found.append((f"{at}/{name}", one.st_mtime_ns, one.st_size))
    return found


def _take(usage: Path, watch: TrialWatch, before: tuple[int, int, float]) -> None:
    """Take in what the command says that it took; a half-written file says nothing."""
    try:
        said = json.loads(usage.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if not isinstance(said, dict):
        return
    turns, tokens, cost = said.get("turns"), said.get("tokens"), said.get("cost_usd")
    if type(turns) is int and turns >= 0:
        watch.taken.turns = before[0] + turns
    if type(tokens) is int and tokens >= 0:
        watch.taken.tokens = before[1] + tokens
    if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0:
        watch.taken.cost_usd = before[2] + cost


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started."""
    _tell(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(TO_END)
    _tell(process, signal.SIGKILL)
    process.wait()


def _tell(process: subprocess.Popen[bytes], what: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, what)
