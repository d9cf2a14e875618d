"""The report as plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from table_factory import make_table
from turncurve import build_report
from turncurve.analysis.settings import Settings
from turncurve.errors import ReadError
from turncurve.ingest import Ingested, Input
from turncurve.report.json import to_json
from turncurve.report.text import to_text

HOSTILE = "\x1b[31mred\x1b[0m\r\n\u202eeman\x9b2J"


def full_table(n_runs=6):
    """Runs that have something to say in every section."""
    runs = {
        f"r{r}": {
            "quality": [0.95 - (0.01 + 0.001 * r) * t for t in range(30)],
            "tool_error_rate": [0.0, 1.0, None] * 10,
            "n_tool_errors": [0.0, 1.0, 0.0] * 10,
            "context_tokens": [4000.0 * (t + 1) + 100 * r for t in range(30)],
            "cost_usd": [0.01 * (t + 1 + r) for t in range(30)],
        }
        for r in range(n_runs)
    }
    outcomes = {name: number % 2 == 0 for number, name in enumerate(runs)}
    return make_table(
        runs,
        success=outcomes,
        compaction_turns={"r0": [12]},
        actions={name: ["look", "look", "act"] * 10 for name in runs},
        exit_type={name: "success_finish" if ok else "budget" for name, ok in outcomes.items()},
        exit_text={name: "done" if ok else "limit" for name, ok in outcomes.items()},
    )


def text_of(table, **settings):
    return to_text(build_report(table, settings=Settings(bucket=10, threshold=0.7, **settings)))


def flat(text):
    return " ".join(text.split())


def test_every_section_is_there():
    """A report that has something to say in every section shows every section."""
    text = text_of(full_table())
    for title in (
        "QUALITY BY TURN, HIGH IS GOOD",
        "BEFORE AND AFTER A RUN'S FIRST COMPACTION",
        "OTHER SIGNALS, FIRST BUCKET TO LAST (± 95 % INTERVAL)",
        "TIME TO FIRST ERROR",
        "WITHIN RUNS, EACH AGAINST ITS OWN FIRST TURNS",
        "CONTEXT, COST, ACTIONS, ENDS",
        "MISSING VALUES",
    ):
        assert f"\n{title}\n" in text
    for label in (
        *("context", "reaches", "cost", "cost per success", "late against early"),
        *("repeated actions", "compactions", "turns to completion", "success by length"),
        "runs ended",
    ):
        assert f"\n  {label} " in text


@pytest.mark.parametrize("axis", ["turn", "tokens", "progress", "event"])
@pytest.mark.parametrize("n_runs", [1, 6])
def test_fits_80_columns(axis, n_runs):
    """No line is wider than 80 characters, on any axis."""
    report = build_report(full_table(n_runs), settings=Settings(axis=axis))
    assert max(map(len, to_text(report).splitlines())) <= 80


def test_curve_shows_what_the_json_holds():
    """Each row of the curve has the bucket's mean, interval, runs and turns, as in the JSON."""
    report = build_report(full_table(), settings=Settings(bucket=10))
    document, text = to_json(report), flat(to_text(report))
    rows = [row for row in document["curves"] if row["signal"] == "quality"]
    assert len(rows) == 3
    for row in rows:
        low, high = f"{row['low']:.3f}", f"{row['high']:.3f}"
        label = f"{row['from']}-{row['to']}"
        shown = f"{label} {row['value']:.3f} [{low}, {high}] {row['n_runs']} {row['n_turns']} "
        assert shown in text
    assert "the same 6" in text


def test_one_run_has_no_panel_and_no_interval():
    """With one run there is no column of the same runs, and a dash in place of an interval."""
    text = text_of(full_table(n_runs=1))
    assert "the same 1" not in text
    assert "   –     1     10  " in text


def test_first_error_is_a_quantile_never_a_mean():
    """Time to first error gives the median with its interval, events and censored runs."""
    words = flat(text_of(full_table()))
    assert "low rolling mean median turn " in words
    assert "seen in 6 of 6 runs" in words
    section = words.partition("TIME TO FIRST ERROR")[2].partition("WITHIN RUNS")[0]
    assert "average" not in section


def test_unreached_median_says_at_least():
    """Where fewer than half of the runs went wrong the median is not reached, and has a bound."""
    runs = {f"r{i}": {"quality": [0.9] * 19 + [0.2 if i == 0 else 0.9]} for i in range(8)}
    text = flat(text_of(make_table(runs)))
    assert "low quality median not reached" in text
    assert "seen in 1 of 8 runs, the other 7 ended first" in text


def test_absence_has_its_reason():
    """What is not known says why: no cost, no context, no outcome, no actions."""
    words = flat(text_of(make_table({"r": {"quality": [0.5] * 4}})))
    for label in ("context", "cost", "repeated actions", "compactions", "turns to completion"):
        assert f" {label} not known: " in words


def test_missing_values_have_counts_and_reasons():
    """A signal with gaps says how many of how many turns, and why."""
    words = flat(text_of(full_table()))
    report = build_report(full_table())
    gap = next(gap for gap in report.missing if gap.signal == "tool_error_rate")
    assert f"60 of 180 turns: {next(iter(gap.reasons))}." in words


def test_problems_are_capped_with_a_count():
    """The first problems are listed, with how many more there are."""
    runs = Ingested(
        table=full_table(),
        inputs=(Input(path="a.jsonl", format="turns", n_runs=6),),
        unread=tuple(f"u{i}" for i in range(7)),
        problems=tuple(ReadError("a.jsonl", f"fault {i}", record=i) for i in range(9)),
    )
    text = to_text(build_report(runs))
    assert "9 PROBLEMS IN READING" in text
    assert "  a.jsonl:4: fault 4\n  and 4 more problems; --json counts them by file." in text
    assert "fault 5" not in text
    assert "7 FILES THAT NO READER KNOWS\n  u0, u1, u2, u3, u4 and 2 more" in text


def test_hostile_text_of_a_trace_prints_harmless():
    """Control characters in ids, exits, paths, reasons and signal names come out as their codes."""
    table = make_table(
        {HOSTILE: {"quality": [0.9, 0.1] * 10, f"s{HOSTILE}": [1.0, None] * 10}},
        exit_text={HOSTILE: HOSTILE},
        condition={HOSTILE: HOSTILE},
        absent={HOSTILE: {"quality": HOSTILE}},
        actions={HOSTILE: ["same"] * 20},
    )
    runs = Ingested(
        table=table,
        inputs=(Input(path=HOSTILE, format="turns", n_runs=1),),
        unread=(HOSTILE,),
        problems=(ReadError(HOSTILE, HOSTILE, record=HOSTILE, fix=HOSTILE),),
    )
    text = to_text(build_report(runs))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "\\x1b[31mred" in text


def test_signals_have_titles_and_facts_that_agree_stand_together():
    """Signals are named by their titles, folded where long; equal facts are told once."""
    names = ("quality", "tool_error_rate", "output_tokens", "repeated_action_window")
    table = make_table({f"r{r}": dict.fromkeys(names, [0.5, 0.25] * 5) for r in range(3)})
    titles = dict(
        zip(names, ("Quality", "Tools", "Output", "Repeated among the last 10"), strict=True)
    )
    info = {name: replace(info, title=titles.get(name, name)) for name, info in table.info.items()}
    text = text_of(replace(table, info=info))
    assert not [name for name in names if "_" in name and name in text]
    assert "\n  Repeated among the last 10  " in text
    long = {name: replace(each, title=f"Very long {each.title}") for name, each in info.items()}
    assert "\n    the last 10\n" in text_of(replace(table, info=long))
    assert flat(text).count("not watched: no run has 16 turns with a value.") == 1
    assert "Quality, Tools, Output" in flat(text)


def test_a_signal_with_one_bucket_has_no_change():
    """Where only one bucket has enough runs there is no second value beside it."""
    runs = {f"r{r}": {"quality": [0.5] * (60 if r == 0 else 5)} for r in range(12)}
    for name in runs:
        runs[name]["context_tokens"] = [900.0] * len(runs[name]["quality"])
    text = flat(text_of(make_table(runs)))
    assert "no later bucket has enough runs to compare" in text
    assert "turns 1-10 later course context_tokens 900 – " in text
