"""mini-swe-agent trajectories to runs."""

import gzip
import json
import statistics
from collections import Counter
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Usage
from turncurve.readers.base import raise_problem
from turncurve.readers.mini_swe_agent import READER


def only(path: Path) -> Run:
    [run] = READER.read(path, raise_problem)
    return run


@pytest.fixture
def v1(data: Path) -> Path:
    return data / "mini_swe_agent/batch/trajs/demo__sum-1/demo__sum-1.traj.json"


@pytest.fixture
def native(data: Path) -> Path:
    return data / "mini_swe_agent/native_calls.traj.json"


def changed(path: Path, to: Path, **changes: object) -> Path:
    """A copy of a trajectory with other top-level entries."""
    to.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return to


class TestVersion1:
    def test_command_blocks_are_calls_and_return_codes_are_statuses(self, v1):
        """A lone bash block is the call; a non-zero return code is an error by return code."""
        run = only(v1)
        assert [len(turn.tool_calls) for turn in run.turns] == [1, 0, 1, 1, 1]
        assert run.turns[0].tool_calls[0].arguments == {"command": "ls"}
        results = [(r.error, r.detector) for turn in run.turns for r in turn.tool_results]
        assert results == [(False, "return_code"), (True, "return_code")]

    def test_format_error_marks_the_answer_it_complains_of(self, v1):
        """The complaint about two blocks marks that answer alone, and is no tool result."""
        run = only(v1)
        assert [turn.format_error for turn in run.turns] == [False, True, False, False, False]
        assert run.turns[1].tool_results == ()
        assert run.turns[2].before[0].text.startswith("Please always provide EXACTLY ONE action")

    def test_killed_command_is_a_call_without_a_result(self, v1):
        """A command that timed out gave no return code: no result, an event at the next turn."""
        run = only(v1)
        assert run.turns[2].tool_calls
        assert run.turns[2].tool_results == ()
        assert [(e.kind, e.turn, e.detail) for e in run.events] == [
            ("error", 4, {"error": "timeout"})
        ]
        assert "timed out" in run.turns[3].before[0].text

    def test_prompt_tokens_include_the_cached_ones(self, v1):
        """Cached tokens are taken out of the prompt tokens, so that the context is their sum."""
        usage = only(v1).turns[1].usage
        assert usage == Usage(input_uncached=200, cache_read=900, output=60, reasoning=0)
        assert usage.context_tokens == 1100

    def test_reasoning_beside_the_output_is_absent(self, v1):
        """A reasoning count above the output count is no part of it, so it is not known."""
        assert [turn.usage.reasoning for turn in only(v1).turns] == [20, 0, 0, 0, None]

    def test_outcome_comes_from_the_report_beside(self, v1):
        """`logs/<name>/report.json` beside `trajs/` says resolved: a finish in success."""
        run = only(v1)
        assert (run.success, run.exit_type, run.exit_text) == (
            True,
            ExitType.SUCCESS_FINISH,
            "Submitted",
        )
        assert (run.id, run.scenario, run.model) == ("demo__sum-1", "demo__sum-1", "lab/model-a")

    def test_costs_and_times_are_the_providers(self, v1):
        """Cost is the provider's of each call; the call's start is its creation time."""
        run = only(v1)
        assert [t.cost_usd for t in run.turns] == [0.001, 0.002, 0.003, 0.004, 0.0051]
        assert run.turns[0].started_at == 1763000000.0
        assert [turn.seconds for turn in run.turns] == [None] * 5
        assert "seconds" in run.absent
        assert not {"context_tokens", "cost_usd", "compaction"} & set(run.absent)

    def test_prompts_stand_before_the_first_turn(self, v1):
        """The system prompt and the task stand before turn 1, in order."""
        assert [m.role for m in only(v1).turns[0].before] == ["system", "user"]

    def test_zero_costs_beside_tokens_are_unknown(self, v1, tmp_path):
        """Costs of 0 throughout a run that used tokens mean an unknown price: absent, not 0."""
        messages = json.loads(v1.read_text())["messages"]
        for message in messages:
            if message["role"] == "assistant":
                message["extra"]["response"]["usage"]["cost"] = 0
        run = only(changed(v1, tmp_path / "a.traj.json", messages=messages))
        assert [turn.cost_usd for turn in run.turns] == [None] * 5
        assert "cost_usd" in run.absent
        assert run.totals.cost_usd == 0.0151

    def test_submitted_without_a_report_is_unknown(self, v1, tmp_path):
        """A submission that nobody judged is neither success nor failure."""
        run = only(changed(v1, tmp_path / "a.traj.json"))
        assert (run.success, run.exit_type) == (None, ExitType.UNKNOWN)

    def test_templates_of_the_file_tell_its_notices(self, v1, tmp_path):
        """A format complaint in the words of the file's own template is recognised."""
        document = json.loads(v1.read_text())
        document["info"]["config"]["agent"]["format_error_template"] = "Only one block, {{n}} found"
        document["messages"][5]["content"] = "Only one block, 2 found"
        run = only(changed(v1, tmp_path / "a.traj.json", **document))
        assert run.turns[1].format_error is True

    def test_answer_to_an_odd_template_has_an_unknown_status(self, v1, tmp_path):
        """A result that shows no return code is kept, with its status unknown."""
        messages = json.loads(v1.read_text())["messages"]
        messages[3]["content"] = "Observation: a.py"
        run = only(changed(v1, tmp_path / "a.traj.json", messages=messages))
        [result] = run.turns[0].tool_results
        assert (result.error, result.detector, result.text) == (None, None, "Observation: a.py")


class TestVersion11:
    def test_parallel_results_name_their_calls(self, native):
        """Each result of parallel calls keeps the id of its call and its own status."""
        first = only(native).turns[0]
        assert [call.id for call in first.tool_calls] == ["call_1", "call_2"]
        assert [(r.call_id, r.error) for r in first.tool_results] == [
            ("call_1", False),
            ("call_2", True),
        ]
        assert first.tool_calls[1].arguments == {"command": "cat missing.py"}

    def test_timeout_is_a_transient_error(self, native):
        """A result whose exception is a timeout is an error that a retry may cure."""
        results = [r for turn in only(native).turns for r in turn.tool_results]
        assert [r.transient for r in results] == [False, False, True, False]
        assert results[2].error is True

    def test_lost_answer_is_an_event_and_no_turn(self, native):
        """An answer that was no action and is not in the file marks no turn, and is told."""
        run = only(native)
        assert len(run.turns) == 3
        assert [turn.format_error for turn in run.turns] == [False] * 3
        assert ("error", 3) in [(event.kind, event.turn) for event in run.events]
        assert any("not in the file" in note for note in run.notes)

    def test_kept_answer_of_a_format_error_is_a_turn(self, native, tmp_path):
        """Where the complaint carries the provider's response, that model call is a turn."""
        messages = json.loads(native.read_text())["messages"]
        messages[7]["extra"]["response"] = {
            "model": "model-b",
            "choices": [{"message": {"role": "assistant", "content": "I am done."}}],
            "usage": {"prompt_tokens": 1110, "completion_tokens": 5},
        }
        run = only(changed(native, tmp_path / "a.traj.json", messages=messages))
        assert [turn.format_error for turn in run.turns] == [False, False, True, False]
        assert (run.turns[2].text, run.turns[2].usage.context_tokens) == ("I am done.", 1110)

    def test_seconds_run_from_the_message_before(self, native):
        """A call lasts from the message before it to its answer, where both have a time."""
        assert [turn.seconds for turn in only(native).turns] == [None, 2.5, None]

    def test_limit_is_a_budget_exit(self, native):
        """LimitsExceeded is a budget exit, marked by a limit after the last turn."""
        run = only(native)
        assert (run.exit_type, run.exit_text) == (ExitType.BUDGET, "LimitsExceeded")
        assert ("limit", 4) in [(event.kind, event.turn) for event in run.events]

    def test_run_without_a_turn_is_kept_and_marked(self, data):
        """A run that failed before the first answer is a run of no turns, with a note."""
        run = only(data / "mini_swe_agent/no_turn.traj.json")
        assert run.turns == ()
        assert (run.exit_type, run.exit_text) == (ExitType.CRASH, "InternalServerError")
        assert any("no turn" in note for note in run.notes)

    def test_no_exit_status_yet_is_still_running(self, native, tmp_path):
        """A file saved before its run ended has no exit status: still running."""
        document = json.loads(native.read_text())
        document["info"]["exit_status"] = ""
        document["messages"] = document["messages"][:-1]
        run = only(changed(native, tmp_path / "a.traj.json", **document))
        assert (run.exit_type, run.exit_text) == (ExitType.STILL_RUNNING, None)

    def test_action_that_was_not_executed_has_no_status(self, native, tmp_path):
        """The return code that stands in for an action never run says nothing."""
        messages = json.loads(native.read_text())["messages"]
        messages[4]["extra"].update(returncode=-1, exception_info="action was not executed")
        run = only(changed(native, tmp_path / "a.traj.json", messages=messages))
        assert run.turns[0].tool_results[1].error is None

    def test_commands_of_a_human_are_no_turns(self, native, tmp_path):
        """A command that a person typed, and its result, belong before the next turn."""
        messages = json.loads(native.read_text())["messages"]
        messages[7:8] = [
            {"role": "user", "content": "User command: ls", "extra": {"actions": [{}]}},
            {"role": "user", "content": "<returncode>1</returncode>", "extra": {"returncode": 1}},
        ]
        run = only(changed(native, tmp_path / "a.traj.json", messages=messages))
        assert [len(turn.tool_results) for turn in run.turns] == [2, 1, 1]
        assert len(run.turns[2].before) == 2

    def test_responses_api_messages_are_read(self, native, tmp_path):
        """Answers and results in the shape of the Responses API give the same turn."""
        messages = [
            {"role": "user", "content": "Mend it."},
            {
                "object": "response",
                "model": "model-d",
                "created_at": 1776000000,
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "message", "content": [{"type": "output_text", "text": "Look."}]},
                    {
                        "type": "function_call",
                        "call_id": "c1",
                        "name": "bash",
                        "arguments": '{"command": "ls"}',
                    },
                ],
                "usage": {
                    "input_tokens": 500,
                    "input_tokens_details": {"cached_tokens": 400},
                    "output_tokens": 30,
                    "output_tokens_details": {"reasoning_tokens": 10},
                },
                "extra": {"cost": 0.5, "timestamp": 1776000003},
            },
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": "<returncode>3</returncode>",
                "extra": {"returncode": 3},
            },
        ]
        [turn] = only(changed(native, tmp_path / "a.traj.json", messages=messages)).turns
        assert (turn.text, turn.cost_usd, turn.model) == ("Look.", 0.5, "model-d")
        assert turn.tool_calls[0].arguments == {"command": "ls"}
        assert [(r.call_id, r.error) for r in turn.tool_results] == [("c1", True)]
        assert turn.usage == Usage(input_uncached=100, cache_read=400, output=30, reasoning=10)


class TestBareList:
    def test_list_of_messages_is_a_run(self, data):
        """A bare list gives turns and statuses; its exit and its usage are not known."""
        run = only(data / "mini_swe_agent/bare_list.traj.json")
        assert (len(run.turns), run.scenario, run.exit_type) == (2, "bare_list", ExitType.UNKNOWN)
        assert [turn.usage for turn in run.turns] == [None, None]
        assert [len(turn.tool_results) for turn in run.turns] == [1, 0]
        assert {"context_tokens", "output_tokens", "cost_usd", "seconds"} <= set(run.absent)


class TestRecognition:
    @pytest.mark.parametrize("name", ["native_calls", "no_turn", "bare_list"])
    def test_content_decides(self, data, name):
        """A trajectory is recognised under any name."""
        content = (data / f"mini_swe_agent/{name}.traj.json").read_bytes()
        assert READER.looks_like(content, Path("notes.txt"))

    def test_long_submission_hides_the_marks(self):
        """A head that a long submission fills is recognised by its name as well."""
        head = b'{"info": {"exit_status": "Submitted", "submission": "' + b"+x\\n" * 10
        assert READER.looks_like(head, Path("a.traj.json"))
        assert not READER.looks_like(head, Path("a.json"))

    @pytest.mark.parametrize(
        "other",
        [
            b'[{"role": "user", "content": "hello"}]',
            b'{"role": "user", "content": "\\"mini_version\\": 1"}',
            b'{"environment": "swe_main", "trajectory": [{"observation": "mini_version"}]}',
        ],
    )
    def test_other_chats_are_left_alone(self, other):
        """Other conversations are not taken, even where their text speaks of the format."""
        assert not READER.looks_like(other, Path("a.traj.json"))

    def test_reads_through_gzip(self, v1, tmp_path):
        """A compressed trajectory gives the same turns under the same name."""
        packed = tmp_path / "demo__sum-1.traj.json.gz"
        packed.write_bytes(gzip.compress(v1.read_bytes()))
        assert only(packed).turns == only(v1).turns


class TestFaults:
    def test_truncated_file_is_told(self, v1, tmp_path):
        """A file that breaks off gives no run and a problem that names it."""
        path, problems = tmp_path / "a.traj.json", []
        path.write_bytes(v1.read_bytes()[:2000])
        assert list(READER.read(path, problems.append)) == []
        assert [problem.path for problem in problems] == [path]
        with pytest.raises(ReadError, match=r"a\.traj\.json"):
            list(READER.read(path, raise_problem))

    @pytest.mark.parametrize("document", ["{}", '{"messages": 3}', "7", "null"])
    def test_document_without_messages_is_told(self, tmp_path, document):
        """A document of another shape is an error that says what a trajectory is."""
        path = tmp_path / "a.traj.json"
        path.write_text(document)
        with pytest.raises(ReadError, match="wanted a list under `messages`"):
            list(READER.read(path, raise_problem))

    def test_message_of_a_wrong_type_loses_nothing_else(self, v1, tmp_path):
        """A message that is no object is told by its place; the others are read."""
        problems = []
        messages = json.loads(v1.read_text())["messages"]
        messages[1] = "Mend it."
        path = changed(v1, tmp_path / "a.traj.json", messages=messages)
        [run] = READER.read(path, problems.append)
        assert len(run.turns) == 5
        assert [(problem.record, problem.kept) for problem in problems] == [("messages[1]", True)]

    def test_values_of_wrong_types_are_unknown(self, v1, tmp_path):
        """Null times, text costs, negative and fractional counts are unknown, not numbers."""
        document = json.loads(v1.read_text())
        response = document["messages"][2]["extra"]["response"]
        response.update(created=None, model=7)
        response["usage"] = {"prompt_tokens": -1, "completion_tokens": 2.5, "cost": "0.1"}
        document["info"]["config"] = None
        turn = only(changed(v1, tmp_path / "a.traj.json", **document)).turns[0]
        assert (turn.usage, turn.cost_usd, turn.started_at, turn.model) == (None,) * 4

    def test_nan_is_missing_and_told(self, v1, tmp_path):
        """A NaN in the file is read as missing and told as a repair."""
        path, problems = tmp_path / "a.traj.json", []
        path.write_text(v1.read_text().replace('"cost": 0.001', '"cost": NaN'))
        [run] = READER.read(path, problems.append)
        assert run.turns[0].cost_usd is None
        assert [problem.kept for problem in problems] == [True]

    def test_broken_report_leaves_the_outcome_unknown(self, v1, tmp_path):
        """A report that does not decode is told by its own path; the run stays."""
        folder, problems = tmp_path / "t", []
        folder.mkdir()
        path = changed(v1, folder / "t.traj.json")
        (folder / "report.json").write_text("{")
        [run] = READER.read(path, problems.append)
        assert run.success is None
        assert [problem.path.name for problem in problems] == ["report.json"]


class TestOutcomeFiles:
    @pytest.mark.parametrize(
        ("name", "report", "success"),
        [
            ("t/report.json", {"resolved": False}, False),
            ("t/report.json", {"demo__sum-1": {"resolved": True}}, True),
            ("t/t.report.json", {"resolved": True}, True),
            ("logs/t/report.json", {"resolved": False}, False),
            ("report.json", {"resolved": True}, None),
            ("results.json", {"resolved_ids": ["demo__sum-1"], "unresolved_ids": []}, True),
            ("t/results.json", {"resolved_ids": [], "unresolved_ids": ["demo__sum-1"]}, False),
            ("results.json", {"resolved_ids": [], "unresolved_ids": ["other"]}, None),
            ("t/report.json", {"resolved": "yes"}, None),
            ("t/report.json", [1], None),
        ],
    )
    def test_places_and_shapes(self, v1, tmp_path, name, report, success):
        """Each place and shape of an outcome file says what it should, or nothing."""
        (tmp_path / "t").mkdir()
        path = changed(v1, tmp_path / "t/t.traj.json")
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(report))
        assert only(path).success is success

    def test_bare_verdict_in_a_shared_folder_is_no_ones(self, v1, tmp_path):
        """A bare report in a folder of another name may be about any trace there: not taken."""
        path = changed(v1, tmp_path / "t.traj.json")
        (tmp_path / "report.json").write_text('{"resolved": true}')
        assert only(path).success is None

    def test_ids_from_the_trace_make_no_path(self, v1, tmp_path):
        """An instance id with `..` in it leads to no file."""
        (tmp_path / "logs").mkdir()
        (tmp_path / "secret").mkdir()
        (tmp_path / "secret/report.json").write_text('{"resolved": true}')
        path = changed(v1, tmp_path / "t.traj.json", instance_id="../secret")
        assert only(path).success is None


@pytest.mark.corpus
class TestCorpus:
    def test_gemini_runs(self, corpus):
        """80 runs of a real batch give the figures counted from the files by hand."""
        folder = corpus("mini_swe_agent/gemini-3-pro")
        runs = [only(path) for path in sorted(folder.rglob("*.traj.json"))]
        turns = [turn for run in runs for turn in run.turns]
        results = [result for turn in turns for result in turn.tool_results]
        lengths = [len(run.turns) for run in runs]
        assert (len(runs), len(turns), max(lengths), statistics.median(lengths)) == (
            80,
            3270,
            97,
            37,
        )
        assert (len(results), sum(r.error for r in results)) == (3043, 195)
        assert {r.detector for r in results} == {"return_code"}
        assert sum(turn.format_error for turn in turns) == 139
        assert sum(turn.usage.context_tokens for turn in turns) == 56_405_220
        assert sum(turn.usage.cache_read for turn in turns) == 47_507_971
        assert sum(turn.usage.output for turn in turns) == 923_921
        assert max(turn.usage.context_tokens for turn in turns) == 95_507
        assert sum(turn.cost_usd for turn in turns) == pytest.approx(38.3629, abs=5e-5)
        assert sum(run.success for run in runs) == 58

    def test_deepseek_repeats(self, corpus):
        """39 real runs with native calls: lengths, exits, and the two without a turn."""
        folder = corpus("mini_swe_agent/deepseek-repeats")
        runs = [only(path) for path in sorted(folder.rglob("*.traj.json"))]
        assert len(runs) == 39
        assert len({run.scenario for run in runs}) == 8
        assert sum(len(run.turns) for run in runs) == 2848
        assert [len(run.turns) == 0 for run in runs].count(True) == 2
        assert all(run.notes for run in runs if not run.turns)
        assert Counter(run.exit_text for run in runs) == {
            "Submitted": 34,
            "InternalServerError": 4,
            "Timeout": 1,
        }
        assert sum(run.exit_type is ExitType.CRASH for run in runs) == 5
        results = [r for run in runs for turn in run.turns for r in turn.tool_results]
        assert (len(results), sum(r.error for r in results)) == (2814, 285)
        assert sum(r.transient for r in results) == 16

    def test_test_trajectories(self, corpus):
        """The two bare lists of the collection are read, with the results that they hold."""
        folder = corpus("mini_swe_agent")
        runs = [only(path) for path in sorted(folder.glob("*.traj.json"))]
        assert [(len(run.turns), run.scenario) for run in runs] == [
            (10, "mini__github_issue"),
            (2, "mini__local"),
        ]
