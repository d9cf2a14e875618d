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
    (run,) = read(layout / "simulations/d1.json")
    assert run.model == "acorn-7b"
    results = layout / "results.json"
    assert not READER.looks_like(head(results), results)
    ingested = read_table([layout])
    assert (ingested.table.n_runs, ingested.unread, ingested.problems) == (1, (), ())


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
def test_real_figures(corpus) -> None:
    """The telecom suite holds 40 runs of 620 turns, 207 agent calls and 482 calls by the user."""
    runs = read(corpus("tau2_bench/tau2__results__gpt-4.1_telecom_default_gpt-4.1_1trials.json"))
    assert (len(runs), sum(len(run.turns) for run in runs)) == (40, 620)
    assert sum(len(t.tool_calls) for run in runs for t in run.turns) == 207
    assert Counter(run.success for run in runs) == {True: 18, False: 22}
