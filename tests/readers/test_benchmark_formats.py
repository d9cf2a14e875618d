"""Terminal-Bench, Lost in Conversation, MT-Bench and Who&When to runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem


def read(name: str, path: Path) -> list[Run]:
    return list(READERS[name].read(path, raise_problem))


class TestTerminalBench:
    def test_each_trial_is_a_run_without_turns(self, data: Path) -> None:
        """Scenario, trial and outcome are those of the trial; there is no turn."""
        runs = read("terminal_bench", data / "terminal_bench/results.json")
        assert [(run.scenario, run.trial, run.success) for run in runs] == [
            ("build", 1, True),
            ("build", 2, False),
            ("play", 1, None),
            ("play", 2, False),
        ]
        assert {run.turns for run in runs} == {()}

    def test_failure_modes_are_ends(self, data: Path) -> None:
        """A time-out is the budget's end; tests that could not be read are no outcome."""
        runs = read("terminal_bench", data / "terminal_bench/results.json")
        assert [run.exit_type for run in runs] == [
            ExitType.SUCCESS_FINISH,
            ExitType.BUDGET,
            ExitType.CRASH,
            ExitType.FAIL_FINISH,
        ]
        assert runs[1].events[0].kind == "limit"

    def test_no_tokens_are_not_zero_tokens(self, data: Path) -> None:
        """0 tokens are not recorded ones; those that stand there are the run's totals."""
        runs = read("terminal_bench", data / "terminal_bench/results.json")
        assert runs[0].totals
        assert (runs[0].totals.input_tokens, runs[0].totals.output_tokens) == (900, 80)
        assert [run.totals for run in runs[1:]] == [None] * 3

    def test_a_bad_trial_costs_only_itself(self, data: Path, tmp_path: Path) -> None:
        """A trial without a task is told by its place."""
        document = json.loads((data / "terminal_bench/results.json").read_text())
        document["results"][1] = {"is_resolved": True}
        path = tmp_path / "results.json"
        path.write_text(json.dumps(document))
        told: list[ReadError] = []
        assert len(list(READERS["terminal_bench"].read(path, told.append))) == 3
        assert [problem.record for problem in told] == ["results[1]"]

    @pytest.mark.parametrize(
        ("facts", "end"),
        [
            (("context_length_exceeded", False), (ExitType.BUDGET, False)),
            (("agent_timeout", True), (ExitType.BUDGET, True)),
            (("agent_installation_failed", False), (ExitType.CRASH, False)),
            (("test_timeout", None), (ExitType.CRASH, None)),
            (("unknown_agent_error", True), (ExitType.SUCCESS_FINISH, True)),
            (("none", None), (ExitType.UNKNOWN, None)),
            ((None, False), (ExitType.FAIL_FINISH, False)),
        ],
    )
    def test_each_mode(
        self, data: Path, tmp_path: Path, facts: tuple[object, object], end: tuple[object, object]
    ) -> None:
        """The outcome is is_resolved whatever the mode; the mode says how the trial ended."""
        document = json.loads((data / "terminal_bench/results.json").read_text())
        trial = {**document["results"][0], "failure_mode": facts[0], "is_resolved": facts[1]}
        path = tmp_path / "results.json"
        path.write_text(json.dumps({"results": [trial]}))
        (run,) = read("terminal_bench", path)
        assert (run.exit_type, run.success) == end

    def test_agent_and_model_stand_beside(self, data: Path, tmp_path: Path) -> None:
        """The metadata of the same run of the suite name them; without it they are not known."""
        source = data / "terminal_bench/results.json"
        assert {(r.condition, r.model) for r in read("terminal_bench", source)} == {
            ("squirrel", "acorn-7b")
        }
        path = tmp_path / "a__results.json"
        path.write_bytes(source.read_bytes())
        for text in ("[", "[]", '{"agent_name": 3}'):
            (tmp_path / "a__run_metadata.json").write_text(text)
            assert {(r.condition, r.model) for r in read("terminal_bench", path)} == {(None, None)}

    def test_times_are_told(self, data: Path) -> None:
        """How long the trial ran, and from when, is a note, as no turn could hold it."""
        notes = read("terminal_bench", data / "terminal_bench/results.json")[0].notes
        assert "the trial ran for 702 s, from 2025-07-12T07:40:12+00:00" in notes

    def test_runs_of_the_suite_in_several_files_are_trials(
        self, data: Path, tmp_path: Path
    ) -> None:
        """Trials of a second file, under the same numbers, are numbered on."""
        document = json.loads((data / "terminal_bench/results.json").read_text())
        for run in ("run1", "run2"):
            text = json.dumps(document).replace("run1", run)
            (tmp_path / f"{run}.json").write_text(text)
        runs = read_table([tmp_path]).table.runs
        trials = zip(runs.scenario.tolist(), runs.trial.tolist(), strict=True)
        assert sorted(trials) == [(task, n) for task in ("build", "play") for n in (1, 2, 3, 4)]

    def test_a_report_of_runs_without_turns(self, data: Path) -> None:
        """It counts outcomes and ends, and says that there is not one turn."""
        words = ["-m", "turncurve", "report", str(data / "terminal_bench")]
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=False, timeout=100
        )
        assert done.returncode == 0, done.stderr
        assert "not one turn" in done.stdout
        assert "1 succeeded" in done.stdout
        assert "agent_timeout 1" in done.stdout

    @pytest.mark.corpus
    @pytest.mark.parametrize(
        ("name", "resolved", "modes"),
        [
            ("sonnet2", (33, 45, 2), {"unset": 56, "agent_timeout": 22, "parse_error": 2}),
            ("sonnet3", (35, 41, 4), {"unset": 52, "agent_timeout": 24, "parse_error": 4}),
        ],
    )
    def test_real_trials(
        self, corpus, name: str, resolved: tuple[int, int, int], modes: dict[str, int]
    ) -> None:
        """Trials, resolved ones and failure modes are those counted in the raw files."""
        path = corpus(
            f"terminal_bench/20250711_openhands_claude-4-sonnet__openhands-{name}__results.json"
        )
        runs, document = read("terminal_bench", path), json.loads(path.read_text())
        given = Counter(trial["is_resolved"] for trial in document["results"])
        assert Counter(run.success for run in runs) == given
        assert (given[True], given[False], given[None]) == resolved
        assert given[True] == document["n_resolved"]
        assert Counter(run.exit_text for run in runs) == modes
        assert {(run.condition, run.totals) for run in runs} == {("openhands", None)}


class TestLostInConversation:
    def test_each_answer_is_a_turn_with_its_evaluation(self, data: Path) -> None:
        """An answer that was evaluated has a quality from 0 to 1, any other has none."""
        run, other = read("lost_in_conversation", data / "lost_in_conversation/sharded.jsonl")
        assert [turn.values.get("quality") for turn in run.turns] == [None, 1.0]
        assert [turn.values["answer_attempt"] for turn in run.turns] == [0.0, 1.0]
        assert run.quality_scale == (0.0, 1.0)
        assert other.turns[0].values["quality"] == 0.0

    def test_the_users_cost_is_apart(self, data: Path) -> None:
        """Cost is that of the answers; the simulated user's and the grader's are not in it."""
        run, _ = read("lost_in_conversation", data / "lost_in_conversation/sharded.jsonl")
        assert [turn.cost_usd for turn in run.turns] == [0.01, 0.02]

    def test_the_end(self, data: Path) -> None:
        """A completed conversation is judged; too many turns are the budget's end."""
        run, other = read("lost_in_conversation", data / "lost_in_conversation/sharded.jsonl")
        assert (run.exit_type, run.success) == (ExitType.SUCCESS_FINISH, True)
        assert (other.exit_type, other.success) == (ExitType.BUDGET, False)

    def test_null_with_a_score_is_an_outcome(self, data: Path, tmp_path: Path) -> None:
        """Where is_correct is null, a score of 1 is a success."""
        line = json.loads((data / "lost_in_conversation/sharded.jsonl").read_text().splitlines()[0])
        path = tmp_path / "math.jsonl"
        path.write_text(json.dumps({**line, "is_correct": None, "score": 1.0}) + "\n")
        assert read("lost_in_conversation", path)[0].success is True

    def test_kinds_of_conversation_are_conditions(self, data: Path) -> None:
        """The same task, told in shards and in full, are two conditions of one scenario."""
        runs = read("lost_in_conversation", data / "lost_in_conversation/sharded.jsonl")
        assert [(run.scenario, run.condition) for run in runs] == [
            ("t/1", "sharded"),
            ("t/1", "full"),
        ]

    @pytest.mark.corpus
    @pytest.mark.parametrize(
        ("model", "figures"),
        [
            # answers, evaluations, successes, ends by too many turns
            ("anthropic_claude-3-haiku", (1203, 1159, 41, 51)),
            ("gpt-4o-mini", (1123, 739, 55, 42)),
        ],
    )
    def test_real_conversations(self, corpus, model: str, figures: tuple[int, ...]) -> None:
        """Answers, evaluations, successes and ends are those counted in the raw lines."""
        path = corpus(f"lost_in_conversation/snowball-stateful_actions_{model}.jsonl")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        entries = [entry for line in lines for entry in line["trace"]]
        kinds = Counter(e["content"]["type"] for e in entries if e["role"] == "log")
        assert figures == (
            sum(entry["role"] == "assistant" for entry in entries),
            kinds["answer-evaluation"],
            sum(line["is_correct"] is True for line in lines),
            kinds["max_turns_exceeded"],
        )
        runs = read("lost_in_conversation", path)
        turns = [turn for run in runs for turn in run.turns]
        assert len(runs) == len(lines) == 105
        assert figures == (
            len(turns),
            sum("quality" in turn.values for turn in turns),
            sum(run.success is True for run in runs),
            sum(run.exit_type is ExitType.BUDGET for run in runs),
        )


class TestMtBench:
    def test_answers_of_a_question_are_a_run(self, data: Path) -> None:
        """First and second answers stand far apart in the file and are two turns of one run."""
        runs = read("mt_bench", data / "mt_bench/judgments.jsonl")
        assert [run.scenario for run in runs] == ["question-81", "question-82", "question-83"]
        assert [[turn.index for turn in run.turns] for run in runs] == [[1, 2]] * 3
        assert {run.model for run in runs} == {"acorn-7b"}

    def test_minus_one_is_missing(self, data: Path) -> None:
        """-1 is no score: the turn has a missing grade with its reason, and no quality."""
        runs = read("mt_bench", data / "mt_bench/judgments.jsonl")
        scores = [[turn.values.get("quality") for turn in run.turns] for run in runs]
        assert scores == [[9.0, 7.0], [None, 3.0], [4.5, None]]
        (grade,) = runs[1].turns[0].grades
        assert (grade.validity, grade.grader) == (None, "oak-4")
        assert "no score" in (grade.missing_reason or "")

    def test_missing_scores_are_counted_by_turn(self, data: Path) -> None:
        """In the table quality is missing there, and the missing grade is marked."""
        columns = read_table([data / "mt_bench"]).table.columns
        assert columns["grade_missing"].tolist().count(1.0) == 2
        assert int(np.isnan(columns["quality"]).sum()) == 2

    def test_a_score_off_the_scale_is_told(self, data: Path, tmp_path: Path) -> None:
        """A score of 0 is missing with its reason; the turn is kept."""
        line = json.loads((data / "mt_bench/judgments.jsonl").read_text().splitlines()[0])
        path = tmp_path / "j.jsonl"
        path.write_text(json.dumps({**line, "score": 0}) + "\n")
        told: list[ReadError] = []
        (run,) = READERS["mt_bench"].read(path, told.append)
        assert len(run.turns) == 1
        assert [(problem.record, problem.kept) for problem in told] == [(1, True)]

    def test_a_second_judgment_of_one_answer_is_told(self, data: Path, tmp_path: Path) -> None:
        """The first counts, the other is a problem at its line."""
        line = (data / "mt_bench/judgments.jsonl").read_text().splitlines()[0]
        path = tmp_path / "j.jsonl"
        path.write_text(f"{line}\n{line}\n")
        told: list[ReadError] = []
        (run,) = READERS["mt_bench"].read(path, told.append)
        assert len(run.turns) == 1
        assert [problem.record for problem in told] == [2]

    @pytest.mark.corpus
    def test_real_judgments(self, corpus) -> None:
        """80 questions of two turns; 43 first and 77 second answers hold no score, two others 0."""
        path = corpus("mt_bench/gpt-4_single.jsonl")
        told: list[ReadError] = []
        runs = list(READERS["mt_bench"].read(path, told.append))
        missing = Counter(
            (turn.index, grade.missing_reason)
            for run in runs
            for turn in run.turns
            for grade in turn.grades
        )
        unparsed = "the judge's answer held no score (-1)"
        assert len(runs) == 80
        assert {len(run.turns) for run in runs} == {2}
        assert (missing[1, unparsed], missing[2, unparsed]) == (43, 77)
        assert len(told) == 2


class TestWhoAndWhen:
    def test_turns_of_a_generated_conversation(self, data: Path) -> None:
        """Each agent's message is a turn; the terminal's is the result of the one before."""
        (run,) = read("who_and_when", data / "who_and_when/generated.json")
        assert len(run.turns) == 5
        assert [r.error for turn in run.turns for r in turn.tool_results] == [True, False]
        assert run.turns[2].tool_results[0].detector == "return_code"

    def test_what_the_orchestrator_says_is_part_of_its_thought(self, data: Path) -> None:
        """Thought and delegation are one answer; what only repeats a decision calls no model."""
        (run,) = read("who_and_when", data / "who_and_when/crafted.json")
        assert [turn.text for turn in run.turns] == [
            "Initial plan: search.",
            "Updated Ledger: {}\nSearch for cafes.",
            "I typed 'cafes'.",
            "Updated Ledger: {1}",
            "New plan: ask.",
        ]
        assert [[m.text for m in turn.before] for turn in run.turns] == [
            *(["Which cafe is open?"], [], ["Next speaker WebSurfer"], []),
            ["Stalled.... Replanning..."],
        ]

    def test_a_terminal_without_code_ran_nothing(self, data: Path, tmp_path: Path) -> None:
        """Its notice that there was no code is no result of a tool."""
        document = json.loads((data / "who_and_when/generated.json").read_text())
        n_before = len(read("who_and_when", data / "who_and_when/generated.json")[0].turns)
        notice = {"content": "There is no code from the last 1 message for me to execute."}
        document["history"].append({**notice, "role": "user", "name": "Computer_terminal"})
        path = tmp_path / "run.json"
        path.write_text(json.dumps(document))
        (run,) = read("who_and_when", path)
        assert len(run.turns) == n_before
        assert not run.turns[-1].tool_results

    def test_who_is_blamed_for_the_step_of_another_is_told(
        self, data: Path, tmp_path: Path
    ) -> None:
        """Where the message of the step is not by the agent that is named, a note says so."""
        (run,) = read("who_and_when", data / "who_and_when/crafted.json")
        assert not any("not by" in note for note in run.notes)
        document = json.loads((data / "who_and_when/crafted.json").read_text())
        path = tmp_path / "run.json"
        path.write_text(json.dumps({**document, "mistake_agent": "FileSurfer"}))
        (run,) = read("who_and_when", path)
        assert any("is by WebSurfer, not by FileSurfer" in note for note in run.notes)

    def test_the_mistake_is_an_error_and_what_follows_is_unknown(self, data: Path) -> None:
        """The step is a text that counts messages from 0: 0 before its turn, 1 there, then none."""
        (generated,) = read("who_and_when", data / "who_and_when/generated.json")
        assert [turn.values.get("error") for turn in generated.turns] == [0, 0, 0, 1, None]
        (crafted,) = read("who_and_when", data / "who_and_when/crafted.json")
        assert [turn.values.get("error") for turn in crafted.turns] == [0, 0, 1, None, None]

    def test_the_outcome_has_two_names(self, data: Path) -> None:
        """is_correct and is_corrected are the same outcome."""
        for name in ("generated", "crafted"):
            (run,) = read("who_and_when", data / f"who_and_when/{name}.json")
            assert (run.success, run.exit_type) == (False, ExitType.FAIL_FINISH)

    @pytest.mark.parametrize("step", ["99", "", "two", None, -1])
    def test_a_mistake_nowhere_is_told(self, data: Path, tmp_path: Path, step: object) -> None:
        """A step that is no place in the history is told, and the run read without it."""
        document = json.loads((data / "who_and_when/generated.json").read_text())
        path = tmp_path / "run.json"
        path.write_text(json.dumps({**document, "mistake_step": step}))
        told: list[ReadError] = []
        (run,) = READERS["who_and_when"].read(path, told.append)
        assert [problem.record for problem in told] == ["mistake_step"]
        assert "error" in run.absent

    @pytest.mark.corpus
    @pytest.mark.parametrize(
        ("half", "n_runs", "n_turns", "blamed_for_another"),
        [("Algorithm-Generated", 126, 796, 3), ("Hand-Crafted", 58, 1505, 3)],
    )
    def test_real_failures(
        self, corpus, half: str, n_runs: int, n_turns: int, blamed_for_another: int
    ) -> None:
        """Each run has one mistake, in the turn that its step falls in, and 0 before it."""
        paths = sorted(corpus(f"who_and_when/{half}").glob("*.json"))
        assert len(paths) == n_runs
        counted = 0
        noted = 0
        for path in paths:
            document = json.loads(path.read_text())
            (run,) = read("who_and_when", path)
            step = int(document["mistake_step"])
            wrong = sum(calls_a_model(message) for message in document["history"][: step + 1])
            assert [turn.values.get("error") for turn in run.turns] == [
                *([0] * (wrong - 1)),
                1,
                *([None] * (len(run.turns) - wrong)),
            ]
            counted += len(run.turns)
            noted += any(" not by " in note for note in run.notes)
        assert (counted, noted) == (n_turns, blamed_for_another)


def calls_a_model(message: dict[str, str]) -> bool:
    """Whether a message of the real collection is one that a model was asked for."""
    who = message.get("name") or message["role"]
    if who == "Orchestrator (thought)":
        return message["content"].startswith(("Initial plan", "New plan", "Updated Ledger"))
    return who not in ("Computer_terminal", "ComputerTerminal", "human") and "(" not in who
