"""Evaluations with the scorer of signals, read back by turncurve with the same numbers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Epochs, Task
from inspect_ai.agent import as_tool, handoff, react
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessage, ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, includes, mean, scorer
from inspect_ai.solver import TaskState

from inspect_ext.offline import calls, lookup, metrics, record, rescore, run, submits, uses, words
from turncurve.ingest import read_table
from turncurve.inspect_ext import signals_scorer
from turncurve.report.document import build_report
from turncurve.report.json import to_json

PLANS = {"7": 'k1 bad k2 k2 k2 k4+k5 "hm k6 k7 !', "b": "k1 k2 k3 k4 k5 k6 bad+k7 k8 k9 !"}
"""By sample: what the agent does turn by turn."""


def desk(*scorers: Scorer, **fields: Any) -> Task:
    """Two samples, one with an integer for its id; the second has another target."""
    return Task(
        name="desk",
        dataset=[Sample(id=7, input="7", target="done"), Sample(id="b", input="b", target="else")],
        solver=react(tools=[lookup()]),
        scorer=list(scorers) or [includes(), signals_scorer()],
        **fields,
    )


def by_sample(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
    name = next(m.text for m in messages if m.role == "user" and m.text in PLANS)
    return words(PLANS[name])(turn, messages)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """Two samples of three epochs, with a reducer that keeps none of the numbers."""
    folder = tmp_path_factory.mktemp("desk")
    return run(desk(epochs=Epochs(3, "mode")), by_sample, folder)


def report(path: str | Path) -> dict[str, Any]:
    return to_json(build_report(read_table([path]).table))


def test_each_turn_has_its_verdict(log: EvalLog) -> None:
    """A failed call fails, a repeat with its result is neutral, a turn of words has none.

    One failed call of two fails the turn. Of k2 three times the second and third repeat.
    """
    assert log.status == "success"
    assert record(log)["validity"] == "PFPNNP-PPP"
    assert record(log)["looping"] == "000110-000"
    (missing,) = record(log)["missing"]
    assert missing["turns"] == [7]
    last = next(n for n, sample in enumerate(log.samples or []) if sample.id == "b")
    assert record(log, last)["validity"] == "PPPPPPFPPP"


def test_the_metrics_count_every_epoch(log: EvalLog) -> None:
    """Six runs: shares pooled over their turns, with intervals; the reducer has no say."""
    found = metrics(log)
    assert found["error_rate"] == pytest.approx(6 / 57)
    assert found["neutral_rate"] == pytest.approx(6 / 57)
    assert found["productive_rate"] == pytest.approx(45 / 57)
    assert found["loop_rate"] == pytest.approx(6 / 57)
    assert found["missing_rate"] == pytest.approx(3 / 60)
    assert found["error_rate_n"] == 6
    assert found["error_rate_low"] < found["error_rate"] < found["error_rate_high"]
    assert found["median_time_to_first_error"] == 2
    assert found["median_time_to_first_error_n"] == 6


def test_the_report_on_the_log_has_the_same_numbers(log: EvalLog) -> None:
    """Error rate, slope with its interval, median time with its limits, and outcomes."""
    found, told = metrics(log), report(log.location)
    assert told["summary"]["error_rate"] == pytest.approx(found["error_rate"], rel=1e-12)
    (slope,) = [trend["slope"] for trend in told["trends"] if trend["signal"] == "error"]
    for name, end in (("", "value"), ("_low", "low"), ("_high", "high"), ("_n", "n_runs")):
        assert slope[end] == pytest.approx(found[f"error_rate_slope{name}"], rel=1e-12)
    assert told["quality_signal"]["source"] == "rule"
    assert "nobody read" in told["quality_signal"]["why"]
    assert told["signals"]["error"]["title"] == "Error rate (by a rule)"
    assert told["headline"].startswith(("The share of turns that fail by", "No clear change"))
    (first,) = [one for one in told["time_to_first"] if one["rule"] == "failing_grade"]
    (median,) = [one for one in first["quantiles"] if one["p"] == 0.5]
    assert median["turn"] == found["median_time_to_first_error"]
    assert median["low"] == found["median_time_to_first_error_low"]
    assert (told["summary"]["n_succeeded"], told["summary"]["n_failed"]) == (3, 3)


def test_the_signals_are_those_of_the_log(log: EvalLog) -> None:
    """Every column in the record is the one that the reader's table has of the run."""
    table = read_table([log.location]).table
    rows = slice(table.offsets[0], table.offsets[1])
    signals = record(log)["signals"]
    assert {"tool_error_rate", "repeated_result", "context_tokens", "compaction"} <= set(signals)
    for name, values in signals.items():
        want = [None if math.isnan(value) else value for value in table.columns[name][rows]]
        assert values == want, name


def test_a_finished_log_is_scored_the_same(log: EvalLog, tmp_path: Path) -> None:
    """Scored live and from the log on disk, every record and metric is the same."""
    plain = run(desk(includes(), epochs=3), by_sample, tmp_path)
    later = rescore(read_eval_log(plain.location), signals_scorer())
    live, then = metrics(log), metrics(later)
    assert {k: v for k, v in live.items() if k != "error_rate_params"} == pytest.approx(then)
    for position in range(6):
        one, two = record(log, position), record(later, position)
        for name in ("started_at", "seconds"):
            one["signals"].pop(name), two["signals"].pop(name)
        assert one == two
    path = tmp_path / "later.eval"
    write_eval_log(later, str(path))
    assert report(path)["summary"]["error_rate"] == pytest.approx(6 / 57)


@scorer(metrics=[mean()])
def style() -> Scorer:
    """Another score that could be the outcome."""

    async def grade(state: TaskState, target: Target) -> Score:
        del state, target
        return Score(value=1)

    return grade


def test_the_outcome_is_that_of_an_earlier_scorer(tmp_path: Path) -> None:
    """The one score that is a verdict; of two, the one that is named; the reader agrees."""
    task = desk(includes(), style(), signals_scorer(outcome="includes"))
    named = run(task, by_sample, tmp_path / "named")
    assert [record(named, n)["success"] for n in (0, 1)] == [True, False]
    assert report(named.location)["summary"]["n_failed"] == 1
    unnamed = run(desk(includes(), style(), signals_scorer()), by_sample, tmp_path / "unnamed")
    assert record(unnamed)["success"] is None
    assert report(unnamed.location)["summary"]["n_failed"] is None


def test_an_outcome_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """The sample's error names the score that was asked for and those that there are."""
    task = desk(includes(), signals_scorer(outcome="tests"))
    done = run(task, by_sample, tmp_path, fail_on_error=False)
    error = (done.samples or [])[0].error
    assert error is not None
    assert "unknown earlier score 'tests'; known: includes" in error.message


def test_sub_agents_are_counted_apart(tmp_path: Path) -> None:
    """The verdicts are the main agent's; its sub-agents' turns are counted under their names."""

    def boss(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        if any(message.text == "dig" for message in messages):
            return calls(f"bad{turn}") if turn < 3 else submits("dug")
        return [uses("digger", input="dig"), calls("k1"), submits()][turn - 1]

    digger = react(name="digger", description="digs", tools=[lookup()])
    task = Task(
        dataset=[Sample(input="w", target="done")],
        solver=react(tools=[lookup(), as_tool(digger)]),
        scorer=[includes(), signals_scorer()],
    )
    done = run(task, boss, tmp_path)
    found = record(done)
    assert (found["agent"], found["validity"], found["success"]) == ("react", "PPP", True)
    (beneath,) = found["subagents"]
    assert (beneath["agent"], beneath["n_turns"], beneath["n_fail"]) == ("react/digger", 3, 2)
    assert report(done.location)["summary"]["error_rate"] == metrics(done)["error_rate"] == 0


def test_a_handoff_works_too(tmp_path: Path) -> None:
    """An agent that hands its conversation over has its own turns judged."""

    def answer(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        del messages
        return [calls("k1"), uses("transfer_to_helper"), calls("bad"), submits()][min(turn, 4) - 1]

    helper = react(name="helper", description="helps", tools=[lookup()])
    task = Task(
        dataset=[Sample(input="w", target="done")],
        solver=react(tools=[lookup(), handoff(helper)]),
        scorer=[includes(), signals_scorer()],
    )
    done = run(task, answer, tmp_path)
    assert done.status == "success", done.error
    assert record(done)["n_turns"] + sum(a["n_turns"] for a in record(done)["subagents"]) >= 4


def test_an_agent_that_does_nothing_is_all_missing(tmp_path: Path) -> None:
    """Turns of words alone have no verdict: rates are absent, the missing rate is 1."""
    task = Task(dataset=[Sample(input="w", target="x")], scorer=signals_scorer())
    done = run(task, words('"hello'), tmp_path)
    found = metrics(done)
    assert record(done)["validity"] == "-"
    assert math.isnan(found["error_rate"])
    assert math.isnan(found["median_time_to_first_error"])
    assert (found["missing_rate"], found["missing_rate_n"]) == (1, 1)
    assert ((done.samples or [])[0].scores or {})["signals_scorer"].value["error_rate"] is None


def test_rules_and_a_schema_judge_too(tmp_path: Path) -> None:
    """With a rule file a turn that breaks one fails, and the record says which rule judged."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n  - {id: polite, must_not_match: hm}\n", encoding="utf-8")
    done = run(desk(includes(), signals_scorer(rules=str(rules))), by_sample, tmp_path)
    assert record(done)["validity"] == "PFPNNPFPPP"
    assert record(done)["rubric"] == "signals-1+rules"


def test_a_long_runs_signals_go_into_a_file(tmp_path: Path) -> None:
    """Over 100 turns the metadata stays small; the file beside the log holds every signal.

    `turncurve` does not take it for a trace.
    """
    plan = " ".join(f"k{n}" for n in range(119)) + " !"
    task = Task(dataset=[Sample(input="w", target="done")], solver=react(tools=[lookup()]))
    task.scorer = [includes(), signals_scorer()]
    done = run(task, words(plan), tmp_path / "a folder")
    found = record(done)
    assert found["validity"] == "P" * 120
    assert len(json.dumps(found)) < 2_500
    path = tmp_path / "a folder" / found["turns_file"]
    content = path.read_bytes()
    assert hashlib.sha256(content).hexdigest() == found["turns_sha256"]
    whole = json.loads(content)
    assert len(whole["signals"]["context_tokens"]) == 120
    assert whole["counts"] == found["counts"]
    ingested = read_table([tmp_path / "a folder"])
    assert ([one.n_runs for one in ingested.inputs], ingested.unread) == ([1], ())
    later = rescore(done, signals_scorer())
    assert "turns_dir" in record(later, scorer="signals_scorer1")["turns_left_out"]
    there = tmp_path / "there"
    later = rescore(done, signals_scorer(turns_dir=str(there)))
    assert record(later, scorer="signals_scorer1")["turns_file"].startswith("there/turns-")
    assert len(list(there.iterdir())) == 1
