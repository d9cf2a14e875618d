"""ATIF trajectories to runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import ExitType, Run
from turncurve.readers.atif import READER
from turncurve.readers.base import raise_problem
from turncurve.readers.stream import head

TRAJECTORY = pytest.importorskip("atif", reason="the second opinion is not installed").Trajectory


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def totals(runs: list[Run]) -> tuple[int, int, float]:
    """Prompt tokens, completion tokens and cost of all turns."""
    turns = [turn for run in runs for turn in run.turns]
    usages = [turn.usage for turn in turns if turn.usage]
    return (
        sum(usage.context_tokens or 0 for usage in usages),
        sum(usage.output or 0 for usage in usages),
        sum(turn.cost_usd or 0 for turn in turns),
    )


def test_a_step_of_the_agent_is_a_turn(data: Path) -> None:
    """Steps of the system and the user stand before the turn that follows."""
    (run,) = read(data / "atif/main.json")
    assert [turn.text for turn in run.turns] == ["I look.", "I read.", "Done."]
    assert [m.role for m in run.turns[0].before] == ["system", "user"]


def test_prompt_tokens_include_the_cache(data: Path) -> None:
    """150 prompt tokens of which 90 cached and 30 written to the cache leave 30 fresh ones."""
    first, second, _ = (turn.usage for turn in read(data / "atif/main.json")[0].turns)
    assert second
    assert (second.input_uncached, second.cache_read, second.cache_write) == (30, 90, 30)
    assert first
    assert first.reasoning == 5


def test_a_continuation_is_read_once(data: Path) -> None:
    """The file that goes on belongs to the run; copied steps and repeated totals do not count."""
    (run,) = read(data / "atif/main.json")
    assert totals([run]) == (290, 38, pytest.approx(0.035))
    assert "2 step(s) are copies of what an earlier trajectory holds" in run.notes
    following = data / "atif/main.cont-1.json"
    assert not READER.looks_like(head(following), following)
    ingested = read_table([data / "atif"])
    assert [i.path for i in ingested.inputs if "cont" in i.path] == []
    assert ingested.unread == ()


def test_a_continuation_alone_says_that_it_is_one(data: Path, tmp_path: Path) -> None:
    """Without the file before it, a continuation is a run of what is not copied."""
    path = tmp_path / "main.cont-1.json"
    path.write_bytes((data / "atif/main.cont-1.json").read_bytes())
    assert READER.looks_like(head(path), path)
    (run,) = read(path)
    assert [turn.text for turn in run.turns] == ["Done."]


def test_a_trajectory_whose_continuation_is_missing_says_so(data: Path, tmp_path: Path) -> None:
    """The turns that are there are read, and a note tells that more follow elsewhere."""
    path = tmp_path / "main.json"
    path.write_bytes((data / "atif/main.json").read_bytes())
    (run,) = read(path)
    assert len(run.turns) == 2
    assert any("goes on in a file" in note for note in run.notes)


def test_a_trajectory_that_continues_itself_ends(data: Path, tmp_path: Path) -> None:
    """A reference back to a file that was read is not followed."""
    for name, onward in (("a.json", "a.cont-1.json"), ("a.cont-1.json", "a.json")):
        document = json.loads((data / "atif/main.json").read_text())
        (tmp_path / name).write_text(json.dumps({**document, "continued_trajectory_ref": onward}))
    (run,) = read(tmp_path / "a.json")
    assert len(run.turns) == 4


@pytest.mark.parametrize("onward", ["9" * 5_000, "a\x00b.json", "../../main.json"])
def test_a_reference_that_can_name_no_file_here(onward: str, data: Path, tmp_path: Path) -> None:
    """A name that no file system takes, or of another folder, is a continuation that is missing."""
    document = json.loads((data / "atif/main.json").read_text())
    path = tmp_path / "here" / "deep" / "main.json"
    path.parent.mkdir(parents=True)
    (tmp_path / "main.json").write_text(json.dumps(document))
    path.write_text(json.dumps({**document, "continued_trajectory_ref": onward}))
    (run,) = read(path)
    assert len(run.turns) == 2
    assert any("goes on in a file" in note for note in run.notes)


def test_compactions(data: Path) -> None:
    """A summarization, a continuation and a context_management boundary are compactions."""
    (run,) = read(data / "atif/main.json")
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 3)]
    embedded = read(data / "atif/embedded.json")[0]
    assert [(e.kind, e.turn) for e in embedded.events] == [("compaction", 2)]


def test_a_sub_agent_in_a_file_of_its_own(data: Path) -> None:
    """A file that the trajectory beside it names is a sub-agent's."""
    (run,) = read(data / "atif/main.summarization-1-summary.json")
    assert (run.parent, run.agent, len(run.turns)) == ("s-1", "main/summary", 1)


def test_embedded_sub_agents(data: Path) -> None:
    """Trajectories within a trajectory are runs with it as parent, and no part of its tokens."""
    run, inner = read(data / "atif/embedded.json")
    assert (inner.parent, inner.agent, inner.id) == ("t-9", "main/helper", "t-9-sub")
    assert totals([run])[0] == 40


def test_a_step_without_a_model_call_is_no_turn(data: Path) -> None:
    """llm_call_count 0 is a dispatch; above 1 the step's sums are said to be sums."""
    run = read(data / "atif/embedded.json")[0]
    assert [turn.text for turn in run.turns] == ["I ask a helper.", "All set."]
    assert "1 step(s) hold the sums of several model calls" in run.notes


def test_errors_by_text_or_by_a_writers_flag(data: Path) -> None:
    """A result fails by how its text starts, unless a flag stands beside it."""
    results = [r for t in read(data / "atif/main.json")[0].turns for r in t.tool_results]
    assert [(r.error, r.detector) for r in results] == [(False, "text"), (True, "text")]
    flagged = read(data / "atif/embedded.json")[0].turns[0].tool_results[0]
    assert (flagged.error, flagged.detector) == (False, "flag")


def test_several_trajectories_in_a_file(data: Path) -> None:
    """One trajectory a line gives a run each."""
    assert [(run.id, run.record) for run in read(data / "atif/two.jsonl")] == [
        ("l-1", 1),
        ("l-2", 2),
    ]


def test_the_trials_result_is_the_outcome(data: Path) -> None:
    """Reward, task and totals of a trial whose steps count nothing."""
    (run,) = read(data / "atif/trial/agent/trajectory.json")
    assert (run.success, run.score, run.scenario) == (True, 1.0, "build-it")
    assert run.exit_type is ExitType.SUCCESS_FINISH
    assert run.totals
    assert (run.totals.input_tokens, run.totals.cost_usd) == (50, 0.02)


@pytest.mark.parametrize(
    ("failure", "exit_type"),
    [("AgentTimeoutError", ExitType.BUDGET), ("RuntimeError", ExitType.CRASH)],
)
def test_a_failed_trial(data: Path, tmp_path: Path, failure: str, exit_type: ExitType) -> None:
    """A time-out is the budget's end, any other exception a crash."""
    trajectory = (data / "atif/trial/agent/trajectory.json").read_bytes()
    (tmp_path / "trajectory.json").write_bytes(trajectory)
    result = {"task_name": "t", "exception_info": {"exception_type": failure}}
    (tmp_path / "result.json").write_text(json.dumps(result))
    (run,) = read(tmp_path / "trajectory.json")
    assert (run.exit_type, run.exit_text, run.success) == (exit_type, failure, None)


def test_a_damaged_result_loses_no_run(data: Path, tmp_path: Path) -> None:
    """A result.json that does not decode is told, and the run read without an outcome."""
    trajectory = (data / "atif/trial/agent/trajectory.json").read_bytes()
    (tmp_path / "trajectory.json").write_bytes(trajectory)
    (tmp_path / "result.json").write_text("{")
    told: list[ReadError] = []
    (run,) = READER.read(tmp_path / "trajectory.json", told.append)
    assert (run.success, [problem.kept for problem in told]) == (None, [True])


@pytest.mark.parametrize("name", ["main.json", "main.summarization-1-summary.json", "two.jsonl"])
def test_fixtures_are_valid(data: Path, name: str) -> None:
    """The format's own models accept the fixtures, and count the same steps and tokens."""
    path = data / "atif" / name
    texts = path.read_text().splitlines() if name.endswith("l") else [path.read_text()]
    theirs = [TRAJECTORY.model_validate_json(text) for text in texts]
    steps = [s for t in theirs for s in t.steps if s.source == "agent" and not s.is_copied_context]
    runs = read(path)
    ours = [t for run in runs for t in run.turns if "cont-1" not in str(t.record)]
    assert len(ours) == len(steps)
    assert [t.usage.context_tokens for t in ours if t.usage] == [
        s.metrics.prompt_tokens for s in steps if s.metrics
    ]


@pytest.mark.corpus
def test_real_goldens(corpus) -> None:
    """All goldens are read; the two ways to keep a summarized history have the same 7 turns."""
    folder = corpus("atif")
    whole = read(next(folder.glob("*context-summarization.trajectory.json")))
    linear = read(next(folder.glob("*linear-history.trajectory.json")))
    assert totals(whole) == totals(linear) == (6502, 690, pytest.approx(0.023155))
    assert [len(run.turns) for run in (*whole, *linear)] == [7, 7]
    parts = [
        read(path)[0]
        for path in folder.glob("*summarization-1-*.json")
        if "traces" not in path.name
    ]
    assert totals(parts)[0] + totals(whole)[0] == 7802


@pytest.mark.corpus
def test_real_goldens_are_counted_as_their_models_do(corpus) -> None:
    """Steps, tokens and cost of each golden are those that the format's own models hold."""
    for path in sorted(corpus("atif").glob("*.trajectory*.json")):
        theirs = TRAJECTORY.model_validate_json(path.read_text())
        steps = [s for s in theirs.steps if s.source == "agent" and not s.is_copied_context]
        turns = [t for run in READER.read(path, raise_problem) for t in run.turns]
        own = [t for t in turns if "cont-1.json" not in str(t.record)]
        assert len(own) == len(steps)
        assert sum(t.usage.context_tokens for t in own if t.usage) == sum(
            s.metrics.prompt_tokens or 0 for s in steps if s.metrics
        )
