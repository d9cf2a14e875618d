"""SWE-agent trajectories to runs."""

import json
from collections import Counter
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Totals
from turncurve.readers.base import raise_problem
from turncurve.readers.swe_agent import READER


def only(path: Path) -> Run:
    [run] = READER.read(path, raise_problem)
    return run


@pytest.fixture
def v0(data: Path) -> Path:
    return data / "swe_agent/demo__calc-3.traj"


@pytest.fixture
def v1(data: Path) -> Path:
    return data / "swe_agent/batch/demo__calc-4/demo__calc-4.traj"


def changed(path: Path, to: Path, **changes: object) -> Path:
    """A copy of a trajectory with other top-level entries."""
    to.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return to


class TestVersion0:
    def test_each_item_is_a_turn(self, v0):
        """Each item of the trajectory is a turn: its action the call, its observation the result.

        The harness's own last step is a turn too, since the model was asked, and calls nothing.
        """
        turns = only(v0).turns
        assert [turn.index for turn in turns] == [1, 2, 3, 4, 5, 6]
        assert [len(turn.tool_calls) for turn in turns] == [1, 1, 1, 1, 1, 0]
        assert [len(turn.tool_results) for turn in turns] == [1, 1, 1, 1, 1, 0]
        call = turns[0].tool_calls[0]
        assert (call.name, call.arguments) == ("open", {"command": "open calc.py"})

    def test_failures_are_told_by_their_text(self, v0):
        """A refused edit and a timeout fail; an error within a file, a noisy success, '' do not."""
        results = [r for turn in only(v0).turns for r in turn.tool_results]
        assert [r.error for r in results] == [False, True, False, True, False]
        assert {r.detector for r in results} == {"text"}
        assert [r.transient for r in results] == [False, False, False, True, False]

    @pytest.mark.parametrize(
        ("observation", "error", "transient"),
        [
            ("Read timed out is what the old code said", False, False),
            ("ERROR: Temporary failure in name resolution", True, True),
            ("Error: no such option" + " " * 300 + "the request timed out", True, False),
            ("cat: usage.txt\nUsage: see below", False, False),
        ],
    )
    def test_only_a_failure_that_names_it_is_transient(
        self, v0, tmp_path, observation, error, transient
    ):
        """A cause that a retry may cure counts at the start of a failure's text alone."""
        steps = json.loads(v0.read_text())["trajectory"]
        steps[0]["observation"] = observation
        run = only(changed(v0, tmp_path / "a.traj", trajectory=steps))
        [result] = run.turns[0].tool_results
        assert (result.error, result.transient) == (error, transient)

    def test_tokens_are_known_for_the_run_alone(self, v0):
        """Turns have no usage, with reasons; the run's totals are the file's."""
        run = only(v0)
        assert [(turn.usage, turn.cost_usd) for turn in run.turns] == [(None, None)] * 6
        assert run.totals == Totals(input_tokens=41000, output_tokens=700, cost_usd=2.01)
        assert run.absent["context_tokens"] == "SWE-agent counts tokens by run, not by turn"
        assert {"output_tokens", "cost_usd", "compaction", "format_error"} <= set(run.absent)

    def test_cost_limit_behind_a_submission_is_a_budget_exit(self, v0):
        """`submitted (exit_cost)` is a budget exit, marked after the last turn."""
        run = only(v0)
        assert (run.exit_type, run.exit_text) == (ExitType.BUDGET, "submitted (exit_cost)")
        assert [(event.kind, event.turn) for event in run.events] == [("limit", 7)]

    def test_demonstrations_are_no_part_of_the_run(self, v0):
        """Messages marked as demonstration stand neither among turns nor among prompts."""
        run = only(v0)
        assert [m.text for m in run.turns[0].before] == ["You edit files.", "Mend add in calc.py."]
        assert any(note.startswith("2 message(s) of demonstrations") for note in run.notes)

    def test_scenario_is_the_name_of_the_file(self, v0):
        """Version 0 names its instance by the file alone."""
        run = only(v0)
        assert (run.id, run.scenario, run.model) == ("demo__calc-3", "demo__calc-3", None)

    @pytest.mark.parametrize(
        ("status", "exit_type"),
        [
            ("submitted", ExitType.UNKNOWN),
            ("exit_context", ExitType.BUDGET),
            ("submitted (exit_context)", ExitType.BUDGET),
            ("exit_format", ExitType.CRASH),
            ("exit_api", ExitType.CRASH),
            ("submitted (exit_error)", ExitType.CRASH),
            ("something new", ExitType.UNKNOWN),
            (None, ExitType.STILL_RUNNING),
        ],
    )
    def test_exit_statuses(self, v0, tmp_path, status, exit_type):
        """Each exit status has its exit type; a run without one was not over when written."""
        info = {**json.loads(v0.read_text())["info"], "exit_status": status}
        run = only(changed(v0, tmp_path / "a.traj", info=info))
        assert (run.exit_type, run.exit_text) == (exit_type, status)


class TestVersion1:
    def test_answer_without_an_action_is_a_format_error(self, v1):
        """Version 1 keeps the answers that it could not read: those are format errors."""
        run = only(v1)
        assert [turn.format_error for turn in run.turns] == [False, True, False, False, False]
        assert run.turns[1].text == "I will edit it now."
        assert "format_error" not in run.absent

    def test_the_harness_leaving_is_no_format_error(self, v1, tmp_path):
        """A last step in which the harness gives up has no action, and is no format error."""
        steps = json.loads(v1.read_text())["trajectory"]
        text = "Exit due to context window"
        steps.append({"action": "", "observation": "Exited", "response": text, "query": []})
        run = only(changed(v1, tmp_path / "a.traj", trajectory=steps))
        assert (run.turns[-1].format_error, run.turns[-1].tool_calls) == (False, ())

    def test_failures_in_the_words_of_version_1(self, v1):
        """A replacement that was not made and a cancelled command fail; the latter may be retried.

        The submitted diff is a result that worked.
        """
        results = [r for turn in only(v1).turns for r in turn.tool_results]
        assert [r.error for r in results] == [False, True, True, False]
        assert [r.transient for r in results] == [False, False, True, False]

    def test_command_times_are_tool_seconds(self, v1):
        """The time that a command took is a signal of its own, not the model's seconds."""
        run = only(v1)
        assert [turn.values.get("tool_seconds") for turn in run.turns] == [
            0.25,
            None,
            0.5,
            30.0,
            0.1,
        ]
        assert "seconds" in run.absent

    def test_cost_of_0_beside_tokens_is_unknown(self, v1):
        """An instance cost of 0 for a run that used tokens is an unknown price."""
        assert only(v1).totals == Totals(input_tokens=9000, output_tokens=300, cost_usd=None)

    def test_model_and_scenario_come_from_the_configuration(self, v1, tmp_path):
        """The replay configuration, as text or as object, names model and instance."""
        as_text = only(v1)
        config = json.loads(json.loads(v1.read_text())["replay_config"])
        as_object = only(changed(v1, tmp_path / "a.traj", replay_config=config))
        for run in (as_text, as_object):
            assert (run.model, run.scenario) == ("lab/model-c", "demo__calc-4")

    def test_report_beside_says_not_resolved(self, v1):
        """A report under the instance's id makes the submission a finish in failure."""
        run = only(v1)
        assert (run.success, run.exit_type) == (False, ExitType.FAIL_FINISH)


class TestIncompleteFiles:
    def test_history_alone_gives_turns(self, data):
        """A file of a conversation alone is read as turns; how it ended is unknown."""
        run = only(data / "swe_agent/history_only.traj")
        assert [turn.tool_calls[0].name for turn in run.turns] == ["ls", "submit"]
        assert [[r.error for r in turn.tool_results] for turn in run.turns] == [[True], []]
        assert (run.exit_type, run.totals) == (ExitType.UNKNOWN, None)
        assert any("only a conversation" in note for note in run.notes)

    def test_counts_of_0_are_not_recorded(self, data):
        """A replay's counts are all 0: there are no totals, and a note says why."""
        run = only(data / "swe_agent/replay.traj")
        assert run.totals is None
        assert any("not recorded" in note for note in run.notes)

    @pytest.mark.parametrize("observation", [None, 7])
    def test_null_observation_is_no_result(self, v0, tmp_path, observation):
        """A step without an observation text is a call without a result."""
        steps = json.loads(v0.read_text())["trajectory"]
        steps[0]["observation"] = observation
        run = only(changed(v0, tmp_path / "a.traj", trajectory=steps))
        assert (len(run.turns[0].tool_calls), run.turns[0].tool_results) == (1, ())

    def test_run_without_steps_is_kept(self, v0, tmp_path):
        """An empty trajectory is a run of no turns, still with its exit and totals."""
        run = only(changed(v0, tmp_path / "a.traj", trajectory=[]))
        assert (run.turns, run.exit_type) == ((), ExitType.BUDGET)
        assert run.totals is not None
        assert any("no turn" in note for note in run.notes)

    @pytest.mark.parametrize("message", [{"role": "assistant", "is_demo": True}, 7])
    def test_history_without_a_message_of_the_run(self, tmp_path, message):
        """A history of nothing but demonstrations, or of no messages, is a run of no turns."""
        path = tmp_path / "a.traj"
        path.write_text(json.dumps({"history": [message]}))
        run = only(path)
        assert run.turns == ()
        n_shown = 1 if isinstance(message, dict) else 0
        assert sum("demonstrations" in note for note in run.notes) == n_shown


class TestFaults:
    def test_step_of_a_wrong_type_keeps_its_turn(self, v0, tmp_path):
        """A step that is no object is told by its place; the turns after it keep their index."""
        problems = []
        steps = json.loads(v0.read_text())["trajectory"]
        steps[1] = "edit"
        path = changed(v0, tmp_path / "a.traj", trajectory=steps)
        [run] = READER.read(path, problems.append)
        assert [(problem.record, problem.kept) for problem in problems] == [("trajectory[1]", True)]
        assert [len(turn.tool_calls) for turn in run.turns] == [1, 0, 1, 1, 1, 0]

    @pytest.mark.parametrize("document", ["{}", '{"trajectory": 3}', "[]", '{"history": []}'])
    def test_document_without_steps_is_told(self, tmp_path, document):
        """A document of another shape is an error that says what a .traj file is."""
        path = tmp_path / "a.traj"
        path.write_text(document)
        with pytest.raises(ReadError, match="wanted a list under `trajectory`"):
            list(READER.read(path, raise_problem))

    def test_truncated_file_is_told(self, v0, tmp_path):
        """A file that breaks off gives no run and a problem that names it."""
        path, problems = tmp_path / "a.traj", []
        path.write_bytes(v0.read_bytes()[:900])
        assert list(READER.read(path, problems.append)) == []
        assert [problem.path for problem in problems] == [path]

    def test_broken_configuration_costs_the_model_alone(self, v1, tmp_path):
        """A configuration text that does not decode leaves the model unknown, and the run read."""
        run = only(changed(v1, tmp_path / "demo.traj", replay_config="{"))
        assert (run.model, run.scenario, len(run.turns)) == (None, "demo", 5)


class TestRecognition:
    @pytest.mark.parametrize(
        "name", ["demo__calc-3", "batch/demo__calc-4/demo__calc-4", "history_only", "replay"]
    )
    def test_content_decides(self, data, name):
        """A trajectory is recognised under any name."""
        content = (data / f"swe_agent/{name}.traj").read_bytes()
        assert READER.looks_like(content, Path("notes.txt"))

    @pytest.mark.parametrize(
        "other",
        [
            b'{"history": [{"role": "user", "content": "x"}], "mistake_agent": "a"}',
            b'{"info": {"exit_status": "Submitted"}, "messages": []}',
            b'{"text": "\\"trajectory\\": [{\\"observation\\": 1}]"}',
        ],
    )
    def test_other_files_are_left_alone(self, other):
        """Files of other shapes are not taken, even by the name of a trajectory."""
        assert not READER.looks_like(other, Path("a.traj"))


@pytest.mark.corpus
class TestCorpus:
    def test_verified_runs(self, corpus):
        """30 real runs of version 0: turns, totals, exits, and no usage by turn."""
        folder = corpus("swe_agent/claude-3.5-sonnet-verified")
        runs = [only(path) for path in sorted(folder.glob("*.traj"))]
        turns = [turn for run in runs for turn in run.turns]
        assert (len(runs), len(turns), max(len(run.turns) for run in runs)) == (30, 843, 78)
        assert {(turn.usage, turn.cost_usd) for turn in turns} == {(None, None)}
        assert all({"context_tokens", "output_tokens", "cost_usd"} <= set(r.absent) for r in runs)
        assert sum(run.totals.input_tokens for run in runs) == 13_391_725
        assert sum(run.totals.output_tokens for run in runs) == 133_614
        assert sum(run.totals.cost_usd for run in runs) == pytest.approx(42.1794, abs=5e-5)
        assert Counter(run.exit_type for run in runs) == {ExitType.UNKNOWN: 27, ExitType.BUDGET: 3}

    def test_failures_by_text(self, corpus):
        """Of 840 real results 125 fail by their text, among them the 15 edits refused as such.

        The 120 noisy but applied edits (`_split_string`) are none of them.
        """
        folder = corpus("swe_agent/claude-3.5-sonnet-verified")
        runs = [only(path) for path in sorted(folder.glob("*.traj"))]
        results = [r for run in runs for turn in run.turns for r in turn.tool_results]
        assert (len(results), sum(r.error for r in results)) == (840, 125)
        refused = [r for r in results if r.text.startswith("Your proposed edit has introduced")]
        noisy = [r for r in results if r.text.startswith('  File "/root/commands/_split_string')]
        assert [r.error for r in refused] == [True] * 15
        assert [r.error for r in noisy] == [False] * 120

    def test_demonstrations_and_test_files(self, corpus):
        """Every other .traj of the collection is read without a problem, and none loses a step."""
        folder = corpus("swe_agent")
        paths = sorted(folder.glob("*.traj"))
        runs = {path: only(path) for path in paths}
        assert len(runs) == 22
        for path, run in runs.items():
            document = json.loads(path.read_text())
            steps = document.get("trajectory", [None] * 5)
            assert len(run.turns) == len(steps), path
            assert all(turn.tool_calls for turn in run.turns), path
        assert sum(run.totals is None for run in runs.values()) == 19
