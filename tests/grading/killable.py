"""A process that grades and is made to be killed: `python killable.py GRADES LOG`.

Each call to its grader is written to LOG when it starts, before anything else happens.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grading.fakes import PASS, judged_turn, patient, said
from grading.runs import run
from turncurve.grading.grade import grade_runs, run_grading
from turncurve.grading.journal import open_journal
from turncurve.grading.model import GraderMessage, Member, Reply
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import GradeSettings, Session, session_line

N_RUNS, N_TURNS, CONCURRENCY = 12, 20, 4


class LoggedModel:
    """A grader that answers after some milliseconds."""

    name = "lab/logged"
    parameters: Mapping[str, Any] = {}

    def __init__(self, log: Path) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def generate(
        self, messages: Sequence[GraderMessage], schema: Mapping[str, Any] | None
    ) -> Reply:
        del schema
        goal = messages[1].text.split("goal ")[1].split("\n")[0]
        os.write(self._log, f"run-{goal} {judged_turn(messages)}\n".encode())
        await asyncio.sleep(random.uniform(0.005, 0.03))
        return said(PASS)


def main() -> None:
    grades, log = map(Path, sys.argv[1:])
    panel = [Member(model=LoggedModel(log))]
    rubric = load_rubric("steps")
    settings = GradeSettings(concurrency=CONCURRENCY, price=lambda *_: None)
    runs = [run(N_TURNS, name=f"run-{i}", goal=f"goal {i}") for i in range(N_RUNS)]
    with open_journal(grades, session_line(rubric, panel, settings)) as journal:
        session = Session(rubric, panel, settings, journal=journal, pace=patient())
        run_grading(grade_runs(runs, session))


if __name__ == "__main__":
    main()
