"""Inspect logs: whose turn a model call is, what it cost, how it ended, what judged it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from readers.inspect_logs import call, event, log, read_all, runs_of, sample, span, tool_event
from readers.inspect_logs import write_json as write
from turncurve.model import ExitType, Run
from turncurve.readers.inspect_log import READER, looks_like
from turncurve.readers.stream import head


def test_each_agent_has_a_run_of_its_own(data: Path) -> None:
    """A sub-agent's calls count from 1 in a run beneath the main one, a second visit in another."""
    runs, problems = read_all(data / "inspect" / "agents.eval")
    assert problems == []
    first = [run for run in runs if run.scenario == "agents/first/one" and run.trial == 1]
    assert [(run.agent, len(run.turns)) for run in first] == [
        ("boss", 7),
        ("boss/researcher", 3),
        ("boss/researcher", 3),
        ("boss/helper", 3),
    ]
    assert [run.parent for run in first] == [None, *[first[0].id] * 3]
    assert len({run.id for run in runs}) == len(runs) == 16
    assert [turn.index for turn in first[1].turns] == [1, 2, 3]


def test_samples_and_epochs_are_scenarios_and_trials(data: Path) -> None:
    """A sample is a scenario named with its task, an epoch a trial, in the log's order."""
    runs, _ = read_all(data / "inspect" / "agents.eval")
    main = [(run.scenario, run.trial) for run in runs if run.parent is None]
    assert main == [
        ("agents/first/one", 1),
        ("agents/first/one", 2),
        ("agents/2", 1),
        ("agents/2", 2),
    ]


def test_tools_tell_their_errors(data: Path) -> None:
    """The log's flag tells an error, and a time-out is transient."""
    main = read_all(data / "inspect" / "agents.eval")[0][0]
    results = [result for turn in main.turns[:4] for result in turn.tool_results]
    assert [(r.error, r.detector, r.transient) for r in results] == [
        (False, "flag", False),
        (False, "flag", False),
        (True, "flag", False),
        (True, "flag", True),
    ]
    assert results[2].text == "no record 'bad'"


def test_the_grader_is_no_turn(data: Path) -> None:
    """A grader's call within a scorer counts as the run's grader usage, not as a turn."""
    main = read_all(data / "inspect" / "agents.eval")[0][0]
    assert main.grader_usage is not None
    assert (main.grader_usage.context_tokens, main.grader_usage.output) == (700, 5)
    assert {turn.model for turn in main.turns} == {"mockllm/model"}


def test_a_visit_that_goes_on_with_the_conversation_is_the_same_run(tmp_path: Path) -> None:
    """An agent called again with its earlier answers before it goes on with its turns."""
    given = {"role": "assistant", "content": "ok", "id": "h1"}
    runs = runs_of(
        tmp_path,
        sample(
            span("boss", "agent"),
            span("one", "agent", "boss") | {"name": "helper"},
            span("two", "agent", "boss") | {"name": "helper"},
            span("three", "agent", "boss") | {"name": "helper"},
            call(span_id="boss"),
            call(span_id="one", message_id="h1"),
            call(span_id="two", input=[given]),
            call(span_id="three"),
        ),
    )
    assert [(run.agent, len(run.turns)) for run in runs] == [
        ("boss", 1),
        ("boss/helper", 2),
        ("boss/helper", 1),
    ]


@pytest.mark.parametrize(
    "fields",
    [{"role": "grader"}, {"span_id": "score"}, {"span_id": "agent", "role": "judge"}],
    ids=["role", "scorer span", "judge within the agent"],
)
def test_grading_calls_by_role_or_span(tmp_path: Path, fields: dict[str, Any]) -> None:
    """A role that judges, or a scorer's span, makes a model call the grader's."""
    usage = {"input_tokens": 70, "output_tokens": 7, "total_tokens": 77}
    (run,) = runs_of(
        tmp_path,
        sample(
            span("agent", "agent"),
            span("score", "scorer"),
            call(span_id="agent"),
            call(usage=usage, **fields),
        ),
    )
    assert len(run.turns) == 1
    assert run.grader_usage is not None
    assert run.grader_usage.context_tokens == 70


def test_grading_calls_in_logs_older_than_spans(tmp_path: Path) -> None:
    """A model call between the beginning and the end of a scorer's step is the grader's."""
    (run,) = runs_of(
        tmp_path,
        sample(
            call(),
            event("step", action="begin", type="scorer", name="fact"),
            call(),
            event("step", action="end", type="scorer", name="fact"),
        ),
    )
    assert len(run.turns) == 1


def test_an_event_told_twice_counts_once(tmp_path: Path) -> None:
    """Of model events with one uuid the last counts, and a call still pending does not."""
    (run,) = runs_of(
        tmp_path,
        sample(
            call("draft", uuid="u1"),
            call("whole", uuid="u1"),
            call("lost", uuid="u2", pending=True),
        ),
    )
    assert [turn.text for turn in run.turns] == ["whole"]
    assert any("never came back" in note for note in run.notes)


def test_a_failed_call_is_an_event(tmp_path: Path) -> None:
    """A model call that gave an error and no answer is no turn but an error before the next."""
    failed = call() | {"error": "overloaded", "output": {"model": "m", "choices": []}}
    (run,) = runs_of(tmp_path, sample(call(), failed, call()))
    assert len(run.turns) == 2
    assert [(e.kind, e.turn, dict(e.detail)) for e in run.events] == [
        ("error", 2, {"message": "overloaded"})
    ]


def test_a_summary_is_no_turn_and_the_compaction_comes_before_the_next(tmp_path: Path) -> None:
    """The call that writes a compaction's summary is left out; the event is at the turn after."""
    (run,) = runs_of(
        tmp_path,
        sample(
            call(),
            call(),
            call("summary") | {"tools": []},
            event("compaction", type="summary", tokens_before=900, tokens_after=90),
            call(),
        ),
    )
    assert len(run.turns) == 3
    (found,) = run.events
    assert (found.kind, found.turn) == ("compaction", 3)
    assert (found.detail["tokens_before"], found.detail["tokens_after"]) == (900, 90)


def test_results_come_from_messages_where_no_tool_event_stands(tmp_path: Path) -> None:
    """An agent bridged from outside has results in the next call's input; an event outranks it."""
    answer = {"role": "assistant", "content": "", "tool_calls": []}
    results = [
        {"role": "tool", "content": "from the message", "tool_call_id": "c-bash", "id": "1"},
        {"role": "tool", "content": "poisoned", "tool_call_id": "c-read", "id": "2"},
    ]
    later = call(input=[{"role": "user", "content": "go", "id": "0"}, answer, *results])
    (run,) = runs_of(
        tmp_path, sample(call(tools=["bash", "read"]), tool_event("read", "as it was"), later)
    )
    assert [result.text for result in run.turns[0].tool_results] == [
        "from the message",
        "as it was",
    ]
    assert [message.text for message in run.turns[1].before] == ["go"]


@pytest.mark.parametrize(
    ("tool", "text", "error", "expected"),
    [
        ("bash", "bash: grpe: command not found", None, (True, "text", False)),
        ("lookup", "bash: grpe: command not found", None, (False, "flag", False)),
        ("bash", "", {"type": "permission", "message": "no"}, (True, "flag", False)),
        ("bash", "", {"type": "parsing", "message": "no"}, (None, None, False)),
        ("bash", "", {"type": "cancelled", "message": "no"}, (None, None, False)),
    ],
)
def test_what_tells_a_tool_error(
    tmp_path: Path, tool: str, text: str, error: dict[str, str] | None, expected: tuple[Any, ...]
) -> None:
    """Text counts for tools that run commands; a malformed or cancelled call is no tool error."""
    (run,) = runs_of(tmp_path, sample(call(tools=[tool]), tool_event(tool, text, error=error)))
    (result,) = run.turns[0].tool_results
    assert (result.error, result.detector, result.transient) == expected
    assert run.turns[0].format_error is (error is not None and error["type"] == "parsing")


@pytest.mark.parametrize(
    ("fields", "status", "exit_type", "exit_text"),
    [
        ({"scores": {"match": {"value": "C"}}}, "success", "success_finish", "completed"),
        ({"scores": {"match": {"value": "I"}}}, "cancelled", "fail_finish", "completed"),
        ({"limit": {"type": "turn", "limit": 9}}, "success", "budget", "turn limit"),
        ({"limit": {"type": "operator", "limit": 1}}, "success", "user_abort", "operator limit"),
        ({}, "success", "unknown", "completed"),
        ({"completed_at": None}, "cancelled", "user_abort", "cancelled"),
        ({"completed_at": None}, "started", "still_running", "started"),
        (
            {"error": {"message": "Boom\nmore", "traceback": "", "traceback_ansi": ""}},
            "error",
            "crash",
            "Boom",
        ),
    ],
)
def test_how_a_run_ended(
    tmp_path: Path, fields: dict[str, Any], status: str, exit_type: str, exit_text: str
) -> None:
    """Limit, error, cancellation and verdict each give their exit, with the log's own words."""
    (run,) = runs_of(tmp_path, sample(call(), **fields), status=status)
    assert (run.exit_type, run.exit_text) == (ExitType(exit_type), exit_text)


@pytest.mark.parametrize(
    ("scores", "success", "score"),
    [
        ({"a": 1}, True, 1.0),
        ({"a": False}, False, 0.0),
        ({"a": "N"}, False, 0.0),
        ({"a": "P"}, None, 0.5),
        ({"a": 0.7}, None, 0.7),
        ({"a": float("nan")}, None, None),
        ({"a": {"passed": "C", "hacked": "I"}}, None, None),
        ({"a": "C", "b": 0.3}, True, 1.0),
        ({"a": "C", "b": "I"}, None, None),
        ({}, None, None),
    ],
)
def test_success_and_score(
    tmp_path: Path, scores: dict[str, Any], success: object, score: object
) -> None:
    """Exactly one verdict among the scores is the success; else it is unknown."""
    named = {name: {"value": value} for name, value in scores.items()}
    (run,) = runs_of(tmp_path, sample(call(), scores=named))
    assert (run.success, run.score) == (success, score)


def test_ones_of_a_graduated_score_are_no_verdicts(tmp_path: Path) -> None:
    """A scorer that somewhere in the log gives 0.5 gives no success where it gives 1."""
    runs = runs_of(
        tmp_path,
        sample(call(), scores={"share": {"value": 1.0}}),
        sample(call(), id="s2", scores={"share": {"value": 0.5}}),
    )
    assert [(run.success, run.score) for run in runs] == [(None, 1.0), (None, 0.5)]


def test_an_agent_outside_inspect_is_kept_without_turns(tmp_path: Path) -> None:
    """A sample without a model call is a run without turns, and says so."""
    (run,) = runs_of(tmp_path, sample(span("a", "solver"), scores={"match": {"value": "C"}}))
    assert run.turns == ()
    assert run.exit_type is ExitType.SUCCESS_FINISH
    assert "outside Inspect" in run.notes[0]
    assert run.absent["context_tokens"] == "the log has no model call of the agent"


def test_a_log_without_events_is_read_from_its_messages(tmp_path: Path) -> None:
    """Where the log kept no events, the assistant messages are the turns, with their results."""
    messages = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "a",
            "tool_calls": [{"id": "1", "function": "f", "arguments": {}, "type": "function"}],
        },
        {"role": "tool", "content": "r", "tool_call_id": "1"},
        {"role": "assistant", "content": "b"},
    ]
    (run,) = runs_of(tmp_path, sample(messages=messages))
    assert [turn.text for turn in run.turns] == ["a", "b"]
    assert [result.text for result in run.turns[0].tool_results] == ["r"]
    assert "compaction" in run.absent


def test_cost_and_time_come_from_the_event(tmp_path: Path) -> None:
    """A call's cost is the log's own, and its time that of the event."""
    usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11, "total_cost": 0.25}
    (run,) = runs_of(tmp_path, sample(call(usage=usage, working_time=1.5), call()))
    assert [turn.cost_usd for turn in run.turns] == [0.25, None]
    assert run.turns[0].seconds == 1.5
    assert run.turns[0].started_at == 1747081656


def test_recognised_by_content(tmp_path: Path, data: Path) -> None:
    """The members of an archive, or the keys of a document, tell a log; a name doesn't."""
    named_wrong = tmp_path / "notes.txt"
    named_wrong.write_bytes((data / "inspect" / "agents.eval").read_bytes())
    assert looks_like(head(named_wrong), named_wrong)
    assert looks_like(
        b'\xef\xbb\xbf {"version": 2, "status": "x", "eval": {"task": "t"}}', tmp_path
    )
    for other in (
        b'{"version": 2, "trajectory": []}',
        b"PK\x03\x04" + b"\x00" * 26 + b"word/document.xml",
        b'[{"eval": {}}]',
        b"",
    ):
        assert not looks_like(other, Path("run.eval"))


def test_without_the_extra() -> None:
    """Without inspect-ai a log is still recognised, and reading names what to install."""
    script = (
        "import sys; sys.modules['inspect_ai'] = None\n"
        "from pathlib import Path\n"
        "from turncurve.readers.stream import head\n"
        "from turncurve.readers.inspect_log import looks_like, read\n"
        "path = Path(sys.argv[1])\n"
        "assert looks_like(head(path), path)\n"
        "try: list(read(path, print))\n"
        "except Exception as problem: print(type(problem).__name__, problem)\n"
    )
    path = Path(__file__).parents[1] / "data" / "inspect" / "agents.eval"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert done.stdout == (
        "MissingExtraError reading Inspect logs needs an extra: pip install 'turncurve[inspect]'\n"
    )


def test_reading_is_silent(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Inspect's own log records and warnings do not reach the terminal."""
    read_all(data / "inspect" / "agents.eval")
    assert capfd.readouterr() == ("", "")


def test_document_and_archive_give_the_same_runs(tmp_path: Path, data: Path) -> None:
    """A log written as `.json` reads as the `.eval` does."""
    from inspect_ai.log import read_eval_log, write_eval_log  # noqa: PLC0415 - an extra

    path = data / "inspect" / "agents.eval"
    write_eval_log(read_eval_log(str(path)), str(tmp_path / "log.json"))

    def facts(run: Run) -> tuple[Any, ...]:
        return run.turns, run.events, run.success, run.parent, run.notes, run.grader_usage

    archive, document = read_all(path)[0], read_all(tmp_path / "log.json")[0]
    assert {run.id: facts(run) for run in archive} == {run.id: facts(run) for run in document}


@pytest.mark.corpus
def test_every_log_of_the_collection_reads(corpus: Callable[[str], Path]) -> None:
    """The 41 real logs are recognised and read without a problem: 729 runs, 641 turns."""
    runs: list[Run] = []
    for path in sorted(corpus("inspect").iterdir()):
        assert READER.looks_like(head(path), path)
        found, problems = read_all(path)
        assert problems == []
        runs += found
    assert (len(runs), sum(len(run.turns) for run in runs)) == (729, 641)
    assert sum(not run.turns for run in runs) == 97


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("*browser.json", (1, 5, 4, 15235, 0, 1)),
        ("*deduplication.eval", (1, 6, 5, 0, 0, 0)),
        ("*theory-of-mind*", (100, 100, 0, 11102, 53390, 83)),
        ("*spf-eval_jtY*", (6, 6, 0, 15289, 7205, 6)),
        ("vhong*", (285, 285, 0, 40623, 0, 223)),
    ],
)
def test_figures_of_real_logs(
    corpus: Callable[[str], Path], name: str, figures: tuple[int, ...]
) -> None:
    """Runs, turns, results, context, grader's context and successes are the raw events' own."""
    (path,) = corpus("inspect").glob(name)
    found, _ = read_all(path)
    turns = [turn for run in found for turn in run.turns]
    graders = [run.grader_usage for run in found if run.grader_usage]
    assert figures == (
        len(found),
        len(turns),
        sum(len(turn.tool_results) for turn in turns),
        sum(turn.usage.context_tokens or 0 for turn in turns if turn.usage),
        sum(usage.context_tokens or 0 for usage in graders),
        sum(run.success is True for run in found),
    )


def test_scenarios_of_two_tasks_never_meet(tmp_path: Path) -> None:
    """The same sample id in two tasks gives two scenarios, and ids of runs hold the log's id."""
    first = log(sample(call()))
    second = log(sample(call()))
    second["eval"] |= {"task": "other", "eval_id": "evalid01"}
    one, two = read_all(write(tmp_path, first))[0], read_all(write(tmp_path, second))[0]
    assert (one[0].scenario, two[0].scenario) == ("desk/s1", "other/s1")
    assert (one[0].id, two[0].id) == ("desk/s1/1@evalid00", "other/s1/1@evalid01")
    assert pytest.approx(one[0].turns[0].started_at) == two[0].turns[0].started_at
