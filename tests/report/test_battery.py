"""The battery in words, drawings and JSON: what stands where, and that names stay text."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.graded_runs import made_up_runs
from table_factory import make_table
from turncurve.analysis.battery import Battery, BatterySettings, battery
from turncurve.report.battery import TITLE, battery_blocks
from turncurve.report.battery_json import battery_json
from turncurve.report.battery_words import sentence
from turncurve.report.blocks import Picture, Table, as_markdown, as_text
from turncurve.report.forest import ForestRow, forest_svg
from turncurve.report.plain import dump
from turncurve.report.result_page import result_page

HOSTILE = '<img src=x onerror="alert(1)">\x1b[31m|**b**'
QUICK = BatterySettings(resamples=19)


@pytest.fixture(scope="module")
def rising() -> Battery:
    """Runs that fail more and more, of two models, one with a hostile name."""
    table = made_up_runs(np.random.default_rng(1), n_runs=24, n_turns=25, slope=0.015)
    model = np.array([HOSTILE if i % 2 else "m" for i in range(24)], dtype=object)
    ids = np.array([f"{HOSTILE}{i}" for i in range(24)], dtype=object)
    return battery(replace(table, runs=replace(table.runs, model=model, id=ids)), QUICK)


def test_the_sentence_says_by_how_much_and_what_it_survives(rising: Battery) -> None:
    """Per 10 turns, with limits, alone and at equal complexity and phase."""
    slope = rising.slopes[0].estimate
    assert slope.value is not None
    said = sentence(rising)
    assert said.startswith(f"Errors rise by {10 * slope.value:.2f} per 10 turns (")
    assert "at equal complexity and phase they rise by" in said
    assert said.count("a finding.") == 1


def test_a_slope_that_its_controls_take_away_is_no_finding() -> None:
    """Acting turns fail more and come late: the raw slope is told, the controlled one is not."""
    rng = np.random.default_rng(2)
    table = made_up_runs(rng, n_runs=40, n_turns=40, phase_drift=0.8, acting=0.4)
    found = battery(table, QUICK)
    assert found.verdict.verdict == "inconclusive"
    assert "does not survive its controls" in sentence(found)


def test_a_finding_says_where_nothing_could_be_held() -> None:
    """Marks of errors alone that rise: a finding, and that it has no controls."""
    table = made_up_runs(np.random.default_rng(5), n_runs=30, n_turns=30, slope=0.015)
    error = table.columns["error"].reshape(30, 30)
    found = battery(make_table({f"r{i}": {"error": error[i]} for i in range(30)}), QUICK)
    assert found.verdict.verdict == "finding"
    assert found.slopes[1].estimate.value is None
    assert "no complexity or phase being known that could be held: a finding" in sentence(found)


def test_nothing_changes_within_the_margin() -> None:
    """60 runs of 10 turns without a change: clean, with what is not ruled out."""
    rng = np.random.default_rng(3)
    found = battery(made_up_runs(rng, n_runs=120, n_turns=10, level=0.3), QUICK)
    assert found.verdict.verdict == "clean"
    assert "surely within 0.1: clean" in sentence(found)


def test_text_is_80_columns_wide_and_safe(rising: Battery) -> None:
    """Names of traces have no control character and break no line."""
    text = as_text(battery_blocks(rising))
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_markdown_and_page_escape_names(rising: Battery) -> None:
    """A name is text in a table, in a note and in a drawing."""
    markdown = as_markdown(TITLE, battery_blocks(rising))
    assert "|**b" not in markdown
    assert "<img" not in markdown.replace("\\<img", "")
    page = result_page(TITLE, battery_blocks(rising))
    assert "<img" not in page
    assert "&lt;img" in page
    assert page.count('class="zero"') == 2  # forests over slopes and over models


def test_json_has_every_slope_flat(rising: Battery) -> None:
    """The names and keys that the list of slopes promises; no NaN anywhere."""
    document = json.loads(dump(battery_json(rising)))
    slopes = {slope["name"]: slope for slope in document["slopes"]}
    assert list(slopes)[:3] == ["within_cr2", "within_cr2_controlled", "mean_of_slopes"]
    keys = ("name", "value", "std_error", "low", "high", "p", "df", "n_runs", "n_clusters")
    for slope in slopes.values():
        assert set(slope) >= {*keys, "controls", "estimand", "method", "sentence", "excluded"}
    assert slopes["within_cr2_controlled"]["controls"] == ["complexity", "phase"]
    assert document["schema_version"] == "1.0"
    assert document["rates"][0]["name"] == "error_rate"
    assert set(document["rates"][0]["wilson"]) >= {"low", "high", "n", "n_successes"}
    assert document["groups"]["each"][0]["slope"]["value"] is not None
    assert len(document["runs"]) == 24


def test_what_is_absent_says_why() -> None:
    """Marks of 0 and 1 without grades: no loops, no phase, no cascades, and no crash."""
    rng = np.random.default_rng(4)
    runs = {f"r{i}": {"error": (rng.random(9) < 0.4).astype(float)} for i in range(9)}
    found = battery(make_table(runs), QUICK)
    text = as_text(battery_blocks(found))
    assert "no grade says which turns loop" in text
    assert "no complexity or phase is known" in text
    document = battery_json(found)
    assert document["phase"]["raw"]["reason"] == "no turn has a known phase"
    assert document["stretches"][0]["why"] == "no grade says which failure follows from which"


def test_tables_are_as_wide_as_their_header(rising: Battery) -> None:
    """Each row has a cell a column, and each column an alignment."""
    for block in battery_blocks(rising):
        if isinstance(block, Table):
            assert len(block.align) == len(block.header)
            assert all(len(row) == len(block.header) for row in block.rows)


def test_a_forest_draws_each_row_on_one_axis() -> None:
    """A dot a value, a line an interval, none for what is not known; larger is further right."""
    rows = [
        ForestRow(label="<a>", value=0.1, low=-0.1, high=0.3, said="p 0.4"),
        ForestRow(label="b", value=0.2, low=None, high=None, said="no p value", second=True),
        ForestRow(label="c", value=None, low=None, high=None, said="not known"),
    ]
    svg = forest_svg(rows, label="slopes", axis="per 10 turns")
    assert svg.count("<circle") == 2
    assert svg.count("<line") == 1
    assert "&lt;a&gt;" in svg
    places = [float(part.split('"')[0]) for part in svg.split('cx="')[1:]]
    assert places[0] < places[1]
    assert forest_svg([], label="none", axis="x").endswith("</svg>")


def test_pictures_stay_out_of_text(rising: Battery) -> None:
    """Their numbers stand in tables."""
    blocks = battery_blocks(rising)
    assert sum(isinstance(block, Picture) for block in blocks) == 2
    assert "<svg" not in as_text(blocks)
