"""Composing the report."""

from __future__ import annotations

import pytest

from table_factory import make_table
from turncurve import TurncurveError, analyze_run, build_report, read_table
from turncurve.analysis.settings import Settings


def falling(n_runs=4, n_turns=20):
    """Runs whose quality falls a little each turn, each run at its own rate."""
    return {
        f"r{r}": {
            "quality": [1 - (0.02 + 0.002 * r) * t for t in range(n_turns)],
            "tool_error_rate": [0.0] * n_turns,
            "context_tokens": [1000.0 * (t + 1) for t in range(n_turns)],
        }
        for r in range(n_runs)
    }


def test_quality_comes_first_whatever_is_asked_for():
    """The quality signal is always drawn, then those asked for in their order, each once."""
    table = make_table(falling())
    names = list(build_report(table, signals=["context_tokens", "quality"]).signals)
    assert names == ["quality", "context_tokens"]


def test_without_a_wish_every_signal_with_a_value_is_drawn():
    """All signals that have a value somewhere get a curve, a panel and a series; others none."""
    runs = falling()
    runs["r0"]["output_tokens"] = [None] * 20
    report = build_report(make_table(runs))
    names = ["quality", "context_tokens", "tool_error_rate"]
    assert sorted(report.signals) == sorted(names)
    for parts in (report.curves, report.panels, report.by_turn):
        assert [part.signal for part in parts] == list(report.signals)


def test_unknown_signal_says_what_is_there():
    """Asking for a signal that the table lacks names those that it has."""
    with pytest.raises(TurncurveError, match="unknown signal 'speed'; known: context_tokens"):
        build_report(make_table(falling()), signals=["speed"])


@pytest.mark.parametrize(
    ("columns", "source"),
    [
        ({"error": [0.0, 1.0], "quality": [1.0, 0.5], "tool_success": [1.0, 1.0]}, "grades"),
        ({"quality": [1.0, 0.5], "tool_success": [1.0, 1.0]}, "rubric"),
        ({"tool_success": [1.0, 1.0]}, "tool_success"),
        ({"context_tokens": [1.0, 2.0]}, "none"),
    ],
)
def test_default_quality_signal(columns, source):
    """Without any option grades go before rubric scores, and those before tool success."""
    assert build_report(make_table({"r": columns})).quality.source == source


def test_nothing_at_all_is_an_empty_report():
    """No run gives a report with counts of 0 and no curve, not an error."""
    report = build_report(make_table({}))
    assert report.summary.n_runs == report.summary.n_turns == 0
    assert report.curves == report.by_turn == report.first_errors == ()
    assert report.first_bad_turn is None
    assert report.context.start_tokens is None


def test_events_are_counted_by_run():
    """An event counts the runs that have it at a turn, however often it stands there."""
    table = make_table(falling(), compaction_turns={"r0": [5, 5], "r1": [5], "r2": [9]})
    events = [(e.kind, e.turn, e.n_runs) for e in build_report(table).events]
    assert events == [("compaction", 5, 2), ("compaction", 9, 1)]


def test_compaction_gives_segments_of_the_quality_curve():
    """Where a run was compacted, the quality curve comes apart before and after it too."""
    table = make_table(falling(), compaction_turns={"r0": [11]})
    segments = build_report(table, settings=Settings(bucket=10)).segments
    assert {curve.segment for curve in segments} == {"with_compaction", "without_compaction"}
    assert {curve.signal for curve in segments} == {"quality"}
    assert build_report(make_table(falling())).segments == ()


def test_conditions_count_runs_and_trials():
    """Runs are counted by condition, and the trials of its most repeated scenario with them."""
    table = make_table(
        falling(),
        scenario={"r0": "a", "r1": "a", "r2": "b", "r3": "b"},
        condition={"r0": "x", "r1": "x", "r2": "x", "r3": "y"},
    )
    conditions = [(c.condition, c.n_runs, c.n_trials) for c in build_report(table).conditions]
    assert conditions == [("x", 3, 2), ("y", 1, 1)]


def test_runs_of_sub_agents_are_no_runs_of_a_condition():
    """A sub-agent's run, whose parent is there, is not counted."""
    table = make_table(falling(n_runs=2), parent={"r1": "r0"})
    (condition,) = build_report(table).conditions
    assert condition.n_runs == 1


def test_regrounding_takes_adherence_before_quality():
    """The target is one of adherence where rules were checked, else of quality; else nothing."""
    runs = falling()
    assert build_report(make_table(runs)).regrounding is None
    assert build_report(make_table(runs), target=0.8).regrounding.signal == "quality"
    for columns in runs.values():
        columns["adherence"] = [1.0] * 20
    assert build_report(make_table(runs), target=0.8).regrounding.signal == "adherence"


def test_coverage_only_with_production():
    """Coverage is there exactly where runs from production are given."""
    evals, production = make_table(falling()), make_table(falling(n_turns=30))
    assert build_report(evals).coverage is None
    found = build_report(evals, production=production).coverage
    assert (found.longest_eval, found.production_p90, found.covered) == (20, 30, False)


def test_level_reaches_every_interval():
    """A lower level narrows the curve, the slopes, the rates and the time to first error alike."""
    runs = falling()
    for number, columns in enumerate(runs.values()):
        columns["quality"] = [q + 0.01 * number for q in columns["quality"]]
        columns["context_tokens"] = [t + 500.0 * number * t for t in range(20)]
    table = make_table(runs, actions={name: ["a", "b", name] * 6 for name in runs})
    wide, narrow = (build_report(table, settings=Settings(level=level)) for level in (0.99, 0.8))
    for pick in (
        lambda r: r.curves[0].points[3],
        lambda r: r.by_turn[0],
        lambda r: r.trends[0].slope,
        lambda r: r.context.slope,
    ):
        assert getattr(pick(wide), "level", 0.99) in (0.99, None)
        low, high = pick(wide).low, pick(narrow).low
        first = (low[3], high[3]) if isinstance(low, tuple) else (low, high)
        assert first[0] is None or first[0] < first[1]


def test_same_figures_as_analyze_run(tmp_path):
    """The report and `analyze_run` agree on records with turns, scores and actions."""
    records = [
        {"turn": t, "quality": 1 - t / 40, "context_tokens": 10 * t, "action": f"a{t % 3}"}
        for t in range(1, 31)
    ]
    path = tmp_path / "r.csv"
    header = "turn,quality,context_tokens,action\n"
    path.write_text(header + "".join(",".join(map(str, r.values())) + "\n" for r in records))
    settings = Settings(bucket=10, window=5, threshold=0.7)
    report = build_report(read_table([path]), settings=settings)
    founding = analyze_run(records, bucket_size=10, window=5, threshold=0.7)
    means = [round(point.value, 3) for point in report.curves[0].points]
    assert means == [row["mean_quality"] for row in founding["curve"]]
    assert report.first_bad_turn == founding["first_bad_turn"]
    assert report.context.tokens_per_turn == founding["context_growth"]["tokens_per_turn"]
    assert report.repetition.rate.value == founding["repeated_action_rate"]
    assert [source.path for source in report.origin.inputs] == [str(path)]


def test_target_on_grades_is_of_the_turns_that_pass():
    """Where quality is read from grades, the target is of the share of turns that pass."""
    failing = {f"r{r}": {"error": [0.0] * 10 + [1.0] * 10} for r in range(12)}
    result = build_report(make_table(failing), settings=Settings(bucket=5), target=0.5).regrounding
    assert (result.signal, result.turn) == ("passing_turns", 10)
    assert [point.value for point in result.band] == [1, 1, 0, 0]
