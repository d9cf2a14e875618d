"""Runs to a score by the rule over signals."""

from __future__ import annotations

from pathlib import Path

import anyio
from inspect_ai.scorer import Score

from turncurve.analysis.verdict_rates import count_verdicts
from turncurve.errors import ReadError
from turncurve.ingest import ReadOptions
from turncurve.inspect_ext.sample_runs import SampleRuns
from turncurve.inspect_ext.turn_record import JudgedRun, judged_grades, score_of, signals_of
from turncurve.inspect_ext.turn_table import table_of
from turncurve.inspect_ext.turns_file import TurnsFolder
from turncurve.model import Grade, Run
from turncurve.signals.verdicts import RULE, turn_verdicts
from turncurve.table import TurnTable

GRADER = "turncurve/signals_scorer"


class SignalsJudge:
    """Judges the turns of runs by the rule over signals.

    Args:
        rules: YAML file of checkable rules.
        output_schema: JSON Schema file for each turn's output.
        outcome: The score that was named as the runs' outcome.
        turns_dir: Folder for the signals of long runs.
    """

    def __init__(
        self,
        *,
        rules: str | None = None,
        output_schema: str | None = None,
        outcome: str | None = None,
        turns_dir: str | None = None,
    ) -> None:
        self._options = ReadOptions(
            rules=None if rules is None else Path(rules),
            output_schema=None if output_schema is None else Path(output_schema),
        )
        given = [name for name, file in (("rules", rules), ("schema", output_schema)) if file]
        self._rubric = "+".join([RULE, *given])
        self._outcome = outcome
        self._folder = TurnsFolder(None if turns_dir is None else Path(turns_dir))

    async def score(self, runs: SampleRuns) -> Score:
        """The score of a sample: its main agent's, with counts of the agents beneath."""
        judged = await anyio.to_thread.run_sync(self.judge, runs)
        return score_of(judged, self._folder)

    def judge(self, runs: SampleRuns) -> JudgedRun:
        """The verdict of each turn, with the signals behind them."""
        problems: list[ReadError] = []
        table = self._table(runs.main, problems)
        return JudgedRun(
            run=runs.main,
            judged=judged_grades(self._grades(table), source="rule"),
            outcome_from=self._outcome,
            detail={"signals": signals_of(table)},
            beneath=[
                (run.agent, count_verdicts(self._grades(self._table(run, problems))))
                for run in runs.beneath
            ],
            notes=[*runs.main.notes, *map(str, problems)],
        )

    def _table(self, run: Run, problems: list[ReadError]) -> TurnTable:
        return table_of(run, options=self._options, on_problem=problems.append)

    def _grades(self, table: TurnTable) -> list[Grade]:
        return [
            Grade(
                grader=GRADER,
                rubric=self._rubric,
                validity=verdict.validity,
                looping=verdict.looping,
                missing_reason=verdict.why if verdict.validity is None else None,
            )
            for verdict in turn_verdicts(table)
        ]
