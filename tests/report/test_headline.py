"""The sentence on top."""

from __future__ import annotations

import pytest

from table_factory import make_table
from turncurve import build_report
from turncurve.analysis.settings import Settings
from turncurve.report.headline import curve_ends, headline


def said(runs, *, name="quality", bucket=10, threshold=None, **more):
    table = make_table({run: {name: values} for run, values in runs.items()}, **more)
    return words_of(build_report(table, settings=Settings(bucket=bucket, threshold=threshold)))


def words_of(report):
    """The headline and its details, as they stand one after the other."""
    top = headline(report)
    return " ".join([top.sentence, *top.details])


def line(n, start, slope, wobble=0.0):
    """Values on a line, with every other one moved up or down."""
    return [start + slope * t + (wobble if t % 2 else -wobble) for t in range(n)]


def test_one_run_gets_no_interval():
    """One run's change is told with n = 1 and the word that there is no interval."""
    words = said({"r": line(20, 0.9, -0.02)}, threshold=0.6)
    assert words == (
        "Quality goes from 0.81 (turns 1-10, n = 1 run) to 0.61 (turns 11-20). One run gives no "
        "interval, and so no verdict. The rolling mean is first below 0.6 at turn 19."
    )


def test_flat_runs_are_no_clear_change():
    """Where the slope within runs may be 0, nothing is said to fall or rise."""
    runs = {f"r{i}": line(20, 0.8, 0.001 * (-1) ** i, 0.05) for i in range(6)}
    assert said(runs, threshold=0.1).startswith("No clear change: quality goes from 0.80 [")


def test_falling_runs_fall():
    """Where the slope's interval lies below 0, quality falls, with intervals and n at both ends."""
    runs = {f"r{i}": line(20, 0.9, -0.02 - 0.001 * i) for i in range(6)}
    words = said(runs, threshold=0.1)
    assert words.startswith("Quality falls from 0.80 [0.79, 0.81] (turns 1-10, n = 6 runs) to 0.57")
    assert "Within runs it changes by -0.022 a turn [-0.024, -0.021], n = 6 runs" in words


def test_drop_out_is_not_taken_for_a_rise():
    """Each run falls but the weak ones end early: the mean rises, and the headline says falls."""
    strong = {f"s{i}": line(40, 0.95, -0.004 - 0.0001 * i) for i in range(6)}
    weak = {f"w{i}": line(12, 0.4, -0.004 - 0.0001 * i) for i in range(12)}
    words = said(strong | weak, threshold=0.01)
    assert words.startswith("Quality falls within runs, by -0.0")
    assert "The mean over the runs still going goes from 0.5" in words
    assert words.rstrip(".").endswith(
        "as other runs drop out. In 0 of 18 runs the rolling mean is below 0.01 at some turn"
    )


def test_grades_count_failures():
    """With grades the sentence is about failing turns, which rise."""
    runs = {f"r{i}": [0.0] * 10 + [1.0, 0.0] * (5 - i % 2) for i in range(6)}
    assert said(runs, name="error").startswith("The share of failing turns rises from 0.00 [")


def test_tool_success_has_the_sign_of_success():
    """Tool success falls where the tool-error rate rises."""
    runs = {f"r{i}": line(20, 0.9, -0.02 - 0.001 * i) for i in range(6)}
    table = make_table(
        {
            run: {"tool_success": values, "tool_error_rate": [1 - v for v in values]}
            for run, values in runs.items()
        }
    )
    words = words_of(build_report(table, settings=Settings(bucket=10)))
    assert words.startswith("The share of tool calls that work falls from 0.80 [0.79, 0.81]")
    assert "Within runs it changes by -0.022 a turn [-0.024, -0.021]" in words


def test_no_quality_signal_says_why():
    """Without grades, scores or tool results the sentence says that, and nothing else."""
    assert said({"r": [1.0, 2.0]}, name="context_tokens") == (
        "No quality signal: there are no grades, no rubric scores and no tool results whose "
        "outcome is known."
    )


@pytest.mark.parametrize(("runs", "n"), [({}, "0 runs"), ({"r": []}, "1 run")])
def test_nothing_to_report(runs, n):
    """Without a turn there is nothing to report."""
    assert said(runs) == f"Nothing to report: {n}, and not one turn."


def test_a_likely_false_alarm_is_said_to_be_one():
    """Where noise alone would fire the rule, the chance stands beside the turn."""
    runs = {f"r{i}": [0.9, 0.5] * 20 for i in range(4)}
    words = said(runs, threshold=0.68)
    assert "a run in which nothing changes would do so with a chance of " in words


def test_thin_buckets_do_not_speak():
    """The last bucket told of has five runs, or half of few, and a fifth of the most."""
    many = {f"r{i}": [0.5] * (20 if i else 60) for i in range(12)}
    few = {f"r{i}": [0.5] * (20 + 20 * i) for i in range(3)}
    for runs, last in ((many, 20), (few, 40)):
        table = make_table({run: {"quality": values} for run, values in runs.items()})
        curve = build_report(table, settings=Settings(bucket=10)).curves[0]
        assert curve_ends(curve)[1].end == last


def test_events_are_counted_and_the_median_is_called_one():
    """A median past most runs' ends is not told as half of the runs: events stand in its place."""
    short = {f"s{i}": [0.9] * 10 for i in range(30)}
    long = {f"l{i}": [0.9] * 20 + [0.1] * 10 for i in range(4)}
    words = said(short | long, threshold=0.5)
    assert "In 4 of 34 runs the rolling mean is below 0.5 at some turn; counting the" in words
    assert "others for as long as they lasted, the median is turn 2" in words
    assert "half" not in words


def test_runs_that_start_low_are_not_said_to_drop():
    """Quality that rises from below the threshold is below it, and drops nowhere."""
    words = said({f"r{i}": line(20, 0.3, 0.03 + 0.001 * i) for i in range(6)}, threshold=0.7)
    assert words.startswith("Quality rises from")
    assert "is below 0.7 at some turn" in words
    assert "drop" not in words
