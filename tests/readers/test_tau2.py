"""τ²-bench results to runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import ExitType, Run
from turncurve.readers.base import raise_problem
from turncurve.readers.stream import head
from turncurve.readers.tau2 import READER


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


@pytest.fixture
def suite(data: Path) -> Path:
    return data / "tau2/suite.json"


def test_the_greeting_is_no_turn(suite: Path) -> None:
    """The harness's own opening calls no model: the turns are the two answers after it."""
    run = read(suite)[0]
    assert [turn.text for turn in run.turns] == ["", "Try again."]
    assert [m.text for m in run.turns[0].before] == ["Hi! How can I help?", "My order is late."]


def test_the_users_calls_are_kept_apart(suite: Path) -> None:
    """What the simulated user calls, gets back and costs is no part of the agent's turns."""
    run = read(suite)[0]
    assert [call.name for turn in run.turns for call in turn.tool_calls] == ["find_order"]
    assert [r.text for turn in run.turns for r in turn.tool_results] == ["Error: no such order"]
    assert [turn.cost_usd for turn in run.turns] == [0.002, 0.003]
    assert any("1 tool call(s) of the simulated user" in note for note in run.notes)


def test_the_error_flag_is_the_detector(suite: Path) -> None:
    """A result says by itself whether it failed."""
    results = [r for run in read(suite) for turn in run.turns for r in turn.tool_results]
    assert [(r.error, r.detector) for r in results] == [(True, "flag")] + [(False, "flag")] * 2


def test_several_results_in_one_message(suite: Path) -> None:
    """A message of several results gives each to the turn that called."""
    turn = read(suite)[1].turns[0]
    assert [c.id for c in turn.tool_calls] == [r.call_id for r in turn.tool_results] == ["b1", "b2"]


def test_how_runs_end(suite: Path) -> None:
    """A stop is judged by the reward, a limit is the budget's end, and a crash has no outcome."""
    runs = read(suite)
    assert [run.exit_type for run in runs] == [
        ExitType.SUCCESS_FINISH,
        ExitType.BUDGET,
        ExitType.CRASH,
    ]
    assert [run.success for run in runs] == [True, False, None]
    assert [(run.scenario, run.trial) for run in runs] == [("7", 1), ("8", 1), ("7", 2)]
    assert runs[2].turns == ()


def test_usage_has_no_cache(suite: Path) -> None:
    """Prompt tokens are the context; what was cached is not counted."""
    usage = read(suite)[0].turns[0].usage
    assert usage
    assert (usage.context_tokens, usage.cache_read, usage.output) == (300, None, 12)


def test_a_folder_of_simulations_takes_the_model_from_its_results(data: Path) -> None:
    """Each file is one run; results.json is nobody's trace and is not listed as unknown."""
    layout = data / "tau2/layout"
    runs = [run for path in sorted(layout.glob("simulations/*")) for run in read(path)]
    assert [(run.id, run.trial, run.model) for run in runs] == [
        ("d1", 1, "acorn-7b"),
        ("d2", 2, "acorn-7b"),
    ]
    results = layout / "results.json"
    assert not READER.looks_like(head(results), results)
    ingested = read_table([layout])
    assert (ingested.table.n_runs, ingested.unread, ingested.problems) == (2, (), ())


def test_a_folder_whose_results_say_nothing_has_no_model(data: Path, tmp_path: Path) -> None:
    """A results.json that breaks off, or holds no agent, costs the model alone."""
    (tmp_path / "simulations").mkdir()
    path = tmp_path / "simulations/d1.json"
    path.write_bytes((data / "tau2/layout/simulations/d1.json").read_bytes())
    for text in ('{"info": {"agent_info": {"llm": "acorn', '{"info": ', "[]", "{}"):
        (tmp_path / "results.json").write_text(text)
        assert [run.model for run in read(path)] == [None]


def test_a_context_cut_to_a_limit_is_a_compaction(data: Path) -> None:
    """It counts once for calls in a row, at the first that did not see everything."""
    (run,) = read(data / "tau2/layout/simulations/d2.json")
    (cut, end) = run.events
    assert (cut.kind, cut.turn, cut.detail["messages_dropped"]) == ("compaction", 2, 1)
    assert (end.kind, end.turn) == ("limit", 5)
    assert "compaction" not in run.absent


def test_where_cuts_are_not_told_compactions_are_not_known(suite: Path) -> None:
    """Older files say nothing of cuts, so none is not claimed of them."""
    assert all("compaction" in run.absent for run in read(suite))


def test_seconds_of_an_answer(data: Path, suite: Path) -> None:
    """Newer files say how long an answer took; others lack it, with the reason."""
    (run,) = read(data / "tau2/layout/simulations/d2.json")
    assert [turn.seconds for turn in run.turns] == [1.25, 1.5, 1.75, 0.5]
    assert "seconds" in read(suite)[0].absent


def test_what_was_never_judged_has_no_outcome(data: Path, suite: Path, tmp_path: Path) -> None:
    """A context that overflowed is none; an error of the agent is a crash that failed."""
    (run,) = read(data / "tau2/layout/simulations/d2.json")
    assert (run.exit_type, run.success, run.score) == (ExitType.BUDGET, None, None)
    document = json.loads(suite.read_text())
    document["simulations"][1]["termination_reason"] = "agent_error"
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(document))
    failed = read(path)[1]
    assert (failed.exit_type, failed.success, failed.score) == (ExitType.CRASH, False, 0.0)


def test_trials_count_from_one_whatever_a_file_holds(suite: Path, tmp_path: Path) -> None:
    """The second trial alone in a file is the second trial."""
    document = json.loads(suite.read_text())
    document["simulations"] = document["simulations"][2:]
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(document))
    assert [run.trial for run in read(path)] == [2]


def test_judgments_one_a_line_are_not_taken(tmp_path: Path) -> None:
    """A judge's verdicts on conversations, one a line under the name .json, are no simulations."""
    verdict = {"simulation_id": "s", "task_id": "7", "verdict": "fail", "messages_seen": 3}
    text = "".join(json.dumps({**verdict, "judge": n}) + "\n" for n in range(3))
    path = tmp_path / "judge.json"
    path.write_text(text)
    assert not READER.looks_like(text.encode(), path)


def test_the_users_cost_is_a_note(suite: Path) -> None:
    """What the simulated user cost is told, and no turn's."""
    assert any("the simulated user cost another $0.0400" in n for n in read(suite)[0].notes)


def test_a_voice_call_is_kept_without_turns(suite: Path, tmp_path: Path) -> None:
    """A simulation of ticks is a run without turns that says so."""
    simulation = json.loads(suite.read_text())["simulations"][0]
    del simulation["messages"]
    path = tmp_path / "voice.json"
    path.write_text(json.dumps({**simulation, "ticks": [{"tick_id": 0}]}))
    (run,) = read(path)
    assert run.turns == ()
    assert any("voice call" in note for note in run.notes)


def test_a_bad_simulation_costs_only_itself(suite: Path, tmp_path: Path) -> None:
    """One that is no object is told by its place, and the others are read."""
    document = json.loads(suite.read_text())
    document["simulations"][1] = "gone"
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(document))
    told: list[ReadError] = []
    assert len(list(READER.read(path, told.append))) == 2
    assert [problem.record for problem in told] == ["simulations[1]"]


@pytest.mark.corpus
def test_real_suites(corpus) -> None:
    """Simulations, agent answers, agent calls and cost are those counted in the raw files."""
    for name in (
        "tau2__results__gpt-4.1_telecom_default_gpt-4.1_1trials",
        "tau2__trajectories__ironshell_ironforge_o3_wave2",
        "tau2__results__e2e_airline_baseline",
    ):
        path = corpus(f"tau2_bench/{name}.json")
        simulations = json.loads(path.read_text())["simulations"]
        answers = [
            message
            for simulation in simulations
            for message in simulation["messages"]
            if message["role"] == "assistant" and message["usage"]
        ]
        calls = Counter(
            call["requestor"]
            for simulation in simulations
            for message in simulation["messages"]
            for call in message.get("tool_calls") or ()
        )
        turns = [turn for run in read(path) for turn in run.turns]
        assert len(turns) == len(answers)
        assert sum(len(turn.tool_calls) for turn in turns) == calls["assistant"]
        assert sum(t.usage.context_tokens for t in turns) == sum(
            m["usage"]["prompt_tokens"] for m in answers
        )
        assert sum(turn.cost_usd for turn in turns) == pytest.approx(
            sum(simulation["agent_cost"] for simulation in simulations)
        )


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "figures", "succeeded"),
    [
        # runs, messages, turns, calls by the agent and by the simulated user
        ("results__gpt-4.1_telecom_default_gpt-4.1_1trials", (40, 2238, 620, 207, 482), 18),
        ("trajectories__ironshell_ironforge_o3_wave2", (9, 292, 137, 89, 0), 3),
        ("results__e2e_airline_baseline", (1, 10, 4, 1, 0), 1),
    ],
)
def test_real_figures(corpus, name: str, figures: tuple[int, ...], succeeded: int) -> None:
    """Runs, messages, turns and calls of each side in each real file."""
    path = corpus(f"tau2_bench/tau2__{name}.json")
    runs = read(path)
    simulations = json.loads(path.read_text())["simulations"]
    apart = [int(note.split()[0]) for run in runs for note in run.notes if "user are no" in note]
    assert (
        len(runs),
        sum(len(one["messages"]) for one in simulations),
        sum(len(run.turns) for run in runs),
        sum(len(t.tool_calls) for run in runs for t in run.turns),
        sum(apart),
    ) == figures
    assert sum(run.success is True for run in runs) == succeeded


@pytest.mark.corpus
def test_a_real_folder(corpus) -> None:
    """Two voice calls are two runs without turns, under the model that their results name."""
    ingested = read_table([corpus("tau2_bench/directory-layout")])
    assert (ingested.table.n_runs, ingested.unread, ingested.problems) == (2, (), ())
    assert set(ingested.table.runs.model) == {"openai:gpt-realtime-2"}
