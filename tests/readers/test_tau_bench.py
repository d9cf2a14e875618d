"""τ-bench results to runs."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run
from turncurve.readers.base import raise_problem
from turncurve.readers.tau_bench import READER


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


@pytest.fixture
def bookings(data: Path) -> Path:
    return data / "tau_bench/bookings.json"


def records(path: Path) -> list[dict]:
    return json.loads(path.read_text())


class TestConversation:
    def test_each_answer_is_a_turn(self, bookings):
        """Each message of the agent is a turn; what others said before it stands before it."""
        run = read(bookings)[0]
        assert [turn.index for turn in run.turns] == [1, 2, 3, 4]
        assert [[m.role for m in turn.before] for turn in run.turns] == [
            ["system", "user"],
            ["user"],
            [],
            [],
        ]
        assert run.turns[3].text == "Done."

    def test_results_follow_their_call(self, bookings):
        """A result stands on the turn that called, with the call's id and arguments decoded."""
        turn = read(bookings)[0].turns[1]
        assert turn.tool_calls[0].arguments == {"user_id": "u1"}
        assert [r.call_id for r in turn.tool_results] == [turn.tool_calls[0].id] == ["c1"]

    def test_errors_start_with_error(self, bookings):
        """A result fails if its text starts with `Error`, not by the word within it."""
        runs = read(bookings)
        results = [r for run in runs for turn in run.turns for r in turn.tool_results]
        assert [r.error for r in results] == [True, False, False, False]
        assert {r.detector for r in results} == {"text"}

    def test_arguments_that_do_not_parse_stay_text(self, bookings):
        """Arguments that are no JSON are kept as the text they are."""
        assert read(bookings)[2].turns[0].tool_calls[0].arguments == '{"thought": '

    def test_last_words_of_the_user_are_kept(self, bookings):
        """What the user said after the last turn belongs to no turn, and stands in a note."""
        assert "after the last turn the user said: Thank you!" in read(bookings)[0].notes


class TestOutcome:
    def test_reward_is_success_and_score(self, bookings):
        """A full reward is a success; the reward itself is the score."""
        runs = read(bookings)
        assert [run.success for run in runs] == [True, False, False, None]
        assert [run.score for run in runs] == [1.0, 0.0, 0.0, None]

    def test_exits(self, bookings):
        """The user's stop and a transfer are finishes; else the limit of steps, or a crash."""
        assert [(run.exit_type, run.exit_text) for run in read(bookings)] == [
            (ExitType.SUCCESS_FINISH, "###STOP###"),
            (ExitType.FAIL_FINISH, "transfer_to_human_agents"),
            (ExitType.BUDGET, None),
            (ExitType.CRASH, "the model's server was overloaded"),
        ]

    def test_crash_has_no_outcome(self, bookings):
        """The reward of 0 that stands for a run that never began is no outcome."""
        crashed = read(bookings)[3]
        assert (crashed.turns, crashed.success, crashed.score) == ((), None, None)
        assert any("no outcome" in note for note in crashed.notes)

    def test_missing_reward_is_unknown(self, bookings, tmp_path):
        """A conversation without a reward has neither success nor score."""
        [first, *_] = records(bookings)
        del first["reward"]
        path = tmp_path / "a.json"
        path.write_text(json.dumps([first]))
        [run] = read(path)
        assert (run.success, run.score, run.exit_type) == (None, None, ExitType.UNKNOWN)


class TestIdentity:
    def test_trials_count_from_1(self, bookings):
        """Trials written from 0 are counted from 1; the task is the scenario."""
        runs = read(bookings)
        assert [(run.scenario, run.trial) for run in runs] == [
            ("7", 1),
            ("7", 2),
            ("8", 1),
            ("9", 1),
        ]
        assert len({run.id for run in runs}) == 4

    def test_trials_from_1_stay(self, bookings, tmp_path):
        """In a file without a trial 0, trials count from 1 already."""
        path = tmp_path / "a.json"
        path.write_text(json.dumps([{**r, "trial": r["trial"] + 1} for r in records(bookings)]))
        assert [run.trial for run in read(path)] == [1, 2, 1, 1]

    def test_nothing_is_known_of_usage(self, bookings):
        """Tokens, cost and times are absent with reasons; the user's cost is not the agent's."""
        run = read(bookings)[0]
        assert {turn.usage for turn in run.turns} == {None}
        assert "simulated user" in run.absent["cost_usd"]
        assert {"context_tokens", "output_tokens", "seconds"} <= set(run.absent)


class TestFaults:
    def test_bad_record_loses_no_other(self, bookings, tmp_path):
        """A record of a wrong type, and one without a conversation, are told; the rest is read."""
        first, second, *_ = records(bookings)
        path, problems = tmp_path / "a.json", []
        path.write_text(json.dumps([first, 7, {"task_id": 1, "traj": None}, second]))
        assert len(list(READER.read(path, problems.append))) == 2
        assert [problem.record for problem in problems] == ["[1]", "[2]"]
        assert "NoneType" in problems[1].reason

    def test_bad_message_loses_no_other(self, bookings, tmp_path):
        """A message that is no object is told by its place; its conversation is read."""
        [first, *_] = records(bookings)
        first["traj"][3] = None
        path, problems = tmp_path / "a.json", []
        path.write_text(json.dumps([first]))
        [run] = READER.read(path, problems.append)
        assert len(run.turns) == 4
        assert [(p.record, p.kept) for p in problems] == [("[0].traj[3]", True)]

    def test_truncated_list_gives_what_is_whole(self, bookings, tmp_path):
        """Of a list that breaks off, the whole records are read and the broken one is told."""
        path, problems = tmp_path / "a.json", []
        text = bookings.read_text()
        path.write_text(text[: text.index("Transfer successful")])
        runs = list(READER.read(path, problems.append))
        assert [run.scenario for run in runs] == ["7"]
        assert [(p.record, "breaks off" in p.reason) for p in problems] == [("[1]", True)]

    def test_broken_record_in_the_middle(self, bookings, tmp_path):
        """A record that is no JSON is told by its place; those around it are read."""
        path, problems = tmp_path / "a.json", []
        path.write_text(bookings.read_text().replace('"trial": 1', '"trial": oops'))
        runs = list(READER.read(path, problems.append))
        assert [run.scenario for run in runs] == ["7", "8", "9"]
        assert [problem.record for problem in problems] == ["[1]"]

    def test_deep_nesting_in_one_record(self, bookings, tmp_path):
        """A record nested 10,000 deep is told; the others are read."""
        path, problems = tmp_path / "a.json", []
        deep = "[" * 10_000 + "]" * 10_000
        path.write_text(bookings.read_text().replace('"trial": 1', f'"trial": {deep}'))
        runs = list(READER.read(path, problems.append))
        assert [run.scenario for run in runs] == ["7", "8", "9"]
        assert "deep" in problems[0].reason

    def test_truncated_gzip_gives_what_is_whole(self, bookings, tmp_path):
        """Of a compressed file that breaks off, whole records are read and the break is told."""
        path, problems = tmp_path / "a.json.gz", []
        text = json.dumps(records(bookings) * 40)
        path.write_bytes(gzip.compress(text.encode(), 0)[:60_000])
        runs = list(READER.read(path, problems.append))
        assert len(runs) > 10
        assert len(problems) == 1

    def test_garbage_after_the_list_is_told(self, bookings, tmp_path):
        """A list with something behind it gives its records, and the fault is told."""
        path, problems = tmp_path / "a.json", []
        path.write_text(bookings.read_text() + "]")
        assert len(list(READER.read(path, problems.append))) == 4
        assert len(problems) == 1

    def test_records_one_a_line(self, bookings, tmp_path):
        """One record a line under the name .json is read the same; a bad line is told."""
        path, problems = tmp_path / "a.json", []
        lines = [json.dumps(record) for record in records(bookings)]
        path.write_text("\n".join([lines[0], "{", *lines[1:]]) + "\n")
        runs = list(READER.read(path, problems.append))
        turns = {run.id: [(t.text, t.tool_results) for t in run.turns] for run in read(bookings)}
        assert {run.id: [(t.text, t.tool_results) for t in run.turns] for run in runs} == turns
        assert READER.looks_like(path.read_bytes(), path)
        assert [problem.record for problem in problems] == [2]

    def test_stops_at_the_first_problem_where_told_to(self, tmp_path):
        """With problems raised, the first bad record ends the reading and names file and place."""
        path = tmp_path / "a.json"
        path.write_text(json.dumps([7]))
        with pytest.raises(ReadError, match=r"a\.json:\[0\]: wanted a conversation"):
            read(path)


class TestRecognition:
    def test_content_decides(self, bookings):
        """Results are recognised under any name, also behind white space."""
        assert READER.looks_like(b"\n " + bookings.read_bytes(), Path("notes.txt"))

    @pytest.mark.parametrize(
        "other",
        [
            b'[{"id": "a", "task_id": 1, "messages": []}]',
            b'[{"role": "user", "content": "\\"task_id\\": 1, \\"traj\\": []"}]',
            b'{"simulations": [{"task_id": 1}]}',
        ],
    )
    def test_other_lists_are_left_alone(self, other):
        """Lists of other records (tau2's among them) are not taken."""
        assert not READER.looks_like(other, Path("tau.json"))


@pytest.mark.corpus
def test_airline_file(corpus):
    """200 real conversations: 50 tasks x 4 trials, 2,454 turns, pass^1 of 0.420 as published."""
    runs = read(corpus("tau_bench/tau__gpt-4o-airline.json"))
    assert len(runs) == 200
    assert Counter(run.trial for run in runs) == {1: 50, 2: 50, 3: 50, 4: 50}
    assert len({run.scenario for run in runs}) == 50
    assert len({run.id for run in runs}) == 200
    assert sum(len(run.turns) for run in runs) == 2454
    assert sum(run.success for run in runs) / 200 == 0.42
    results = [r for run in runs for turn in run.turns for r in turn.tool_results]
    assert (len(results), sum(r.error for r in results)) == (1164, 73)
    limited = [run for run in runs if run.exit_type is ExitType.BUDGET]
    assert [len(run.turns) for run in limited] == [30] * 5
