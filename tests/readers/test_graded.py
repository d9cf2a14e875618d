"""Graded traces to runs."""

import json
from collections import Counter
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run
from turncurve.readers.base import raise_problem
from turncurve.readers.graded import READER


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


@pytest.fixture
def demo(data: Path) -> Path:
    return data / "graded/demo.jsonl"


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(to: Path, *lines: object) -> Path:
    to.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return to


class TestGrades:
    def test_validities_in_order(self, demo):
        """Each step's validity stands on its turn, counted from 1."""
        run = read(demo)[0]
        assert [turn.index for turn in run.turns] == [1, 2, 3, 4]
        assert [turn.grades[0].validity for turn in run.turns] == ["neutral", "fail", None, "pass"]

    def test_parse_error_is_missing_never_neutral(self, demo):
        """A step whose grader's answer did not parse has no validity, whatever was filled in."""
        grade = read(demo)[0].turns[2].grades[0]
        assert grade.validity is None
        assert grade.missing_reason == "no JSON object found in grader response"
        assert any("1 grade(s)" in note for note in read(demo)[0].notes)

    @pytest.mark.parametrize("mark", [True, [[]], {"code": 3}])
    def test_parse_error_of_any_type_is_missing(self, demo, tmp_path, mark):
        """A parse error that is no text still makes the grade missing, with a reason."""
        [first, *_] = records(demo)
        first["steps"][2]["raw"]["parse_error"] = mark
        grade = read(written(tmp_path / "a.jsonl", first))[0].turns[2].grades[0]
        assert grade.validity is None
        assert grade.missing_reason

    def test_fields_of_a_grade(self, demo):
        """Grader, severity, dependency, complexity and looping are the file's."""
        grade = read(demo)[0].turns[1].grades[0]
        assert (grade.grader, grade.severity, grade.dependency, grade.complexity) == (
            "lab/grader-a",
            "high",
            "independent",
            "low",
        )
        assert grade.looping is True
        assert read(demo)[0].turns[0].grades[0].severity is None

    def test_several_graders_share_a_turn(self, demo):
        """Two graders of one step give two grades of one turn; a step nobody graded is a gap."""
        run = read(demo)[1]
        assert [turn.index for turn in run.turns] == [1, 3]
        assert [[(g.grader, g.validity) for g in turn.grades] for turn in run.turns] == [
            [("lab/grader-a", "pass"), ("lab/grader-b", "fail")],
            [("lab/grader-a", "fail"), ("lab/grader-b", None)],
        ]

    def test_phase_is_taken_over(self, demo):
        """A step's phase is 1 where it explores and 0 where it acts."""
        phases = [turn.values for turn in read(demo)[0].turns]
        assert phases == [{"phase_explore": 1.0}, *[{"phase_explore": 0.0}] * 3]


class TestConstruct:
    @pytest.mark.parametrize("place", ["record", "metadata", "step"])
    def test_is_read_where_it_stands(self, demo, tmp_path, place):
        """What the grader knew is taken from the record, its metadata, or a step."""
        [first, *_] = records(demo)
        homes = {
            "record": first,
            "metadata": first.setdefault("metadata", {}),
            "step": first["steps"][1],
        }
        homes[place]["construct"] = "no_hindsight"
        [run] = read(written(tmp_path / "a.jsonl", first))
        assert run.turns[1].grades[0].construct == "no_hindsight"
        other = run.turns[0].grades[0].construct
        assert other == (None if place == "step" else "no_hindsight")

    def test_a_step_stands_over_its_record(self, demo, tmp_path):
        """A step's own construct counts for it."""
        [first, *_] = records(demo)
        first["construct"], first["steps"][0]["construct"] = "hindsight", "no_hindsight"
        [run] = read(written(tmp_path / "a.jsonl", first))
        found = [turn.grades[0].construct for turn in run.turns[:2]]
        assert found == ["no_hindsight", "hindsight"]

    def test_not_stated(self, demo):
        """A file that says nothing states nothing."""
        assert {g.construct for run in read(demo) for turn in run.turns for g in turn.grades} == {
            None
        }

    def test_another_word_is_told(self, demo, tmp_path):
        """A construct that there is not is told by its place; the grades are kept."""
        [first, *_] = records(demo)
        first["construct"], first["steps"][2]["construct"] = "hunch", 7
        problems = []
        [run] = READER.read(written(tmp_path / "a.jsonl", first), problems.append)
        assert [problem.record for problem in problems] == ["1.construct", "1.steps[2].construct"]
        assert "wanted construct hindsight or no_hindsight, got 'hunch'" in problems[0].reason
        assert run.turns[1].grades[0].validity == "fail"
        assert run.turns[1].grades[0].construct is None


class TestRun:
    def test_identity_and_outcome(self, demo):
        """Id, scenario, model, success and exit are the record's; the line is its place."""
        first, second, third = read(demo)
        assert (first.id, first.scenario, first.model, first.record) == (
            "demo-trace-1",
            "demo__sum-1",
            "lab/model-a",
            1,
        )
        assert [run.success for run in (first, second, third)] == [False, True, None]
        assert [(run.exit_type, run.exit_text) for run in (first, second, third)] == [
            (ExitType.BUDGET, "submitted (exit_context)"),
            (ExitType.SUCCESS_FINISH, "submitted"),
            (ExitType.UNKNOWN, None),
        ]

    def test_trace_without_steps_is_kept_and_marked(self, demo):
        """A trace without a graded step is a run of no turns, with a note."""
        third = read(demo)[2]
        assert third.turns == ()
        assert any("no turn" in note for note in third.notes)

    def test_content_is_absent_with_reasons(self, demo):
        """What grades do not tell is absent with a reason: tools, tokens, times, compactions."""
        absent = read(demo)[0].absent
        assert {
            "quality",
            "n_tool_calls",
            "n_tool_errors",
            "context_tokens",
            "output_tokens",
            "cost_usd",
            "seconds",
            "compaction",
        } <= set(absent)
        assert "error" not in absent


class TestFaults:
    def test_bad_lines_lose_no_other(self, demo, tmp_path):
        """A broken line, and a record of another shape, are told by line; the rest is read."""
        first, second, _ = records(demo)
        path, problems = tmp_path / "a.jsonl", []
        lines = [json.dumps(first), "{oops", json.dumps({"steps": 3}), json.dumps(second)]
        path.write_text("\n".join(lines))
        runs = list(READER.read(path, problems.append))
        assert [run.id for run in runs] == ["demo-trace-1", "demo-trace-2"]
        assert [problem.record for problem in problems] == [2, 3]

    def test_truncated_last_line(self, demo, tmp_path):
        """A last line that breaks off is told; the lines before it are read."""
        path, problems = tmp_path / "a.jsonl", []
        text = demo.read_text()
        path.write_text(text[: text.index("demo__sum-3")])
        assert len(list(READER.read(path, problems.append))) == 2
        assert [problem.record for problem in problems] == [3]

    def test_step_without_an_index_is_left_out(self, demo, tmp_path):
        """A step of a wrong type, or with an index below 0, is told; the others keep theirs."""
        [first, *_] = records(demo)
        first["steps"][1] = "fail"
        first["steps"][2]["step_index"] = -1
        problems = []
        [run] = READER.read(written(tmp_path / "a.jsonl", first), problems.append)
        assert [turn.index for turn in run.turns] == [1, 4]
        assert [(p.record, p.kept) for p in problems] == [
            ("1.steps[1]", True),
            ("1.steps[2]", True),
        ]

    def test_second_grade_by_one_grader_is_left_out(self, demo, tmp_path):
        """A step graded twice by the same grader keeps its first grade and tells of the second."""
        [first, *_] = records(demo)
        first["steps"].append({**first["steps"][0], "validity": "fail"})
        problems = []
        [run] = READER.read(written(tmp_path / "a.jsonl", first), problems.append)
        assert [grade.validity for grade in run.turns[0].grades] == ["neutral"]
        assert "second time" in problems[0].reason

    def test_unknown_validity_is_missing_and_told(self, demo, tmp_path):
        """A validity outside the scale is missing and told, and so is a null one."""
        [first, *_] = records(demo)
        first["steps"][0]["validity"], first["steps"][1]["validity"] = "maybe", None
        problems = []
        [run] = READER.read(written(tmp_path / "a.jsonl", first), problems.append)
        assert [turn.grades[0].validity for turn in run.turns] == [None, None, None, "pass"]
        assert [problem.kept for problem in problems] == [True, True]

    def test_steps_out_of_order_are_sorted(self, demo, tmp_path):
        """Turns rise whatever the order of the steps."""
        [first, *_] = records(demo)
        first["steps"].reverse()
        [run] = read(written(tmp_path / "a.jsonl", first))
        assert [turn.index for turn in run.turns] == [1, 2, 3, 4]

    def test_stops_at_the_first_problem_where_told_to(self, tmp_path):
        """With problems raised, a bad record ends the reading and names file and line."""
        with pytest.raises(ReadError, match=r"a\.jsonl:1: wanted a graded trace"):
            read(written(tmp_path / "a.jsonl", {"steps": None}))


class TestRecognition:
    def test_content_decides(self, demo, tmp_path):
        """Graded traces are recognised under any name, and read from a JSON list too."""
        path = tmp_path / "notes.txt"
        path.write_text(json.dumps(records(demo), indent=1))
        assert READER.looks_like(path.read_bytes(), path)
        assert [run.id for run in read(path)] == [run.id for run in read(demo)]

    @pytest.mark.parametrize(
        "other",
        [
            b'{"schema_version": "ATIF-v1.5", "steps": [{"step_id": 1}]}',
            b'{"text": "\\"steps\\": [{\\"validity\\": 1}]", "trace_id": 1}',
            b'{"run": "a", "turn": 1, "quality": 0.5}',
        ],
    )
    def test_other_records_are_left_alone(self, other):
        """Other files with steps are not taken."""
        assert not READER.looks_like(other, Path("a.jsonl"))


@pytest.mark.corpus
class TestCorpus:
    def test_long_traces(self, corpus):
        """50 real traces: 3,800 turns, 9 missing grades, .28726 of the graded turns fail."""
        runs = read(corpus("graded/nebius-long.jsonl"))
        grades = [grade for run in runs for turn in run.turns for grade in turn.grades]
        had = [grade for grade in grades if grade.validity is not None]
        assert (len(runs), sum(len(run.turns) for run in runs)) == (50, 3800)
        assert (len(grades), len(grades) - len(had)) == (3800, 9)
        rate = sum(grade.validity == "fail" for grade in had) / len(had)
        assert rate == pytest.approx(0.28726, abs=5e-6)
        assert sum(run.exit_type is ExitType.BUDGET for run in runs) == 39

    def test_every_file_is_read_whole(self, corpus):
        """All 12 files of grades are read without a problem, step for step."""
        missing = Counter()
        for path in sorted(corpus("graded").glob("*.jsonl")):
            runs = read(path)
            assert len(runs) == len(records(path))
            assert [len(run.turns) for run in runs] == [len(r["steps"]) for r in records(path)]
            missing[path.name] = sum(
                grade.validity is None
                for run in runs
                for turn in run.turns
                for grade in turn.grades
            )
        assert missing["trail.haiku.jsonl"] == 0
        assert missing["msb-claude35-openhands.jsonl"] == 275
        assert missing.total() == 490
