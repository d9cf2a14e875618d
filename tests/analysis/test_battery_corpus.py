"""The battery on the ten files of a published study: its figures, missing grades out and in."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import turncurve
from turncurve.analysis.battery import Battery, BatterySettings, battery
from turncurve.stats.false_discovery import benjamini_hochberg

pytestmark = pytest.mark.corpus
STUDY = Path(__file__).resolve().parents[3] / "shared/methods/reference_study.csv"
ROWS = list(csv.DictReader(STUDY.read_text().splitlines())) if STUDY.exists() else []
COMPUTED: dict[tuple[str, str], Battery] = {}


@pytest.fixture(params=ROWS or [None], ids=lambda row: row and f"{row['cache']}-{row['variant']}")
def published(request, corpus) -> tuple[dict[str, str], Battery]:
    """A row of the published study, and the battery on its file."""
    row = request.param
    if row is None:
        pytest.skip("the shared table of published figures is not here")
    key = (row["cache"], row["variant"])
    if key not in COMPUTED:
        missing = "neutral" if row["variant"] == "incl" else "excluded"
        table = turncurve.read([corpus(f"graded/{row['cache']}.jsonl")])
        COMPUTED[key] = battery(table, BatterySettings(missing=missing, resamples=19))
    return row, COMPUTED[key]


def exactly(figure: str) -> object:
    return pytest.approx(float(figure), rel=1e-12, abs=1e-12)


def test_counts(published) -> None:
    """Traces, tasks, graded steps and missing grades."""
    row, found = published
    assert found.n_runs == int(row["n_traces"])
    assert found.n_turns == int(row["n_steps"])
    assert len({run.task for run in found.runs}) == int(row["n_tasks"])
    assert found.missing.n_missing == int(row["n_parse_error"])


def test_rates(published) -> None:
    """Pooled shares, Wilson's limits of the failing one, and its mean over traces."""
    row, found = published
    rates = {rate.name: rate for rate in found.rates}
    error = rates["error_rate"]
    assert error.wilson is not None
    assert error.wilson.value == exactly(row["err_pooled"])
    # The study rounds the normal quantile to 1.959964.
    assert error.wilson.low == pytest.approx(float(row["err_wilson_lo"]), abs=1e-9)
    assert error.wilson.high == pytest.approx(float(row["err_wilson_hi"]), abs=1e-9)
    assert error.by_run.value == exactly(row["err_trace_mean"])
    for name in ("neutral", "productive", "loop"):
        assert rates[f"{name}_rate"].pooled.value == exactly(row[f"{name}_pooled"])


def test_cascades_and_loops(published) -> None:
    """How many there are, and their mean length."""
    row, found = published
    cascades, _, loops = found.stretches
    assert cascades.n == float(row["cascade_n"])
    assert cascades.mean_length.value == exactly(row["cascade_mean"])
    assert loops.n == float(row["loop_chain_n"])
    if row["loop_chain_mean"]:
        assert loops.mean_length.value == exactly(row["loop_chain_mean"])


def test_first_error(published) -> None:
    """Kaplan-Meier's events, median and quartiles; the study counts steps from 0."""
    row, found = published
    assert found.first_error.n_events == int(row["km_events"])
    quantiles = {q.p: q.turn for q in found.first_error.quantiles}
    for p, name in ((0.25, "km_q25"), (0.5, "km_median"), (0.75, "km_q75")):
        step = float(row[name] or "inf")
        assert quantiles[p] == (None if step == float("inf") else step + 1)


def test_ljung_box(published) -> None:
    """Traces tested at lag 5, shares rejected at lags 5 and 3, mean correlation of neighbours."""
    row, found = published
    three, five = found.serial[:2]
    assert five.n_tested == int(row["lb5_tested"])
    assert five.rejected.value == exactly(row["lb5_reject"])
    assert three.rejected.value == exactly(row["lb3_reject"])
    assert three.mean_correlation == exactly(row["acf1"])


def test_mean_slope(published) -> None:
    """The mean of the traces' own slopes, and its p where no task repeats."""
    row, found = published
    slope = next(one for one in found.slopes if one.name == "mean_of_slopes")
    assert slope.estimate.value == pytest.approx(float(row["mean_ols_slope"]), rel=1e-9, abs=1e-12)
    if found.unit == "run":
        assert slope.p == pytest.approx(float(row["ols_t_p"]), rel=1e-6)


def test_what_stands_is_what_the_page_says(corpus) -> None:
    """Slope, limits, degrees of freedom, p and q of the page on the study, file by file."""
    page = Path(__file__).resolve().parents[2] / "docs/methods/published-study.md"
    rows = [line.split("|")[1:-1] for line in page.read_text("utf-8").splitlines() if "[" in line]
    shown = {row[0].strip(): [cell.strip() for cell in row[4:8]] for row in rows if len(row) == 9}
    assert len(shown) == 10
    found = {}
    for name in shown:
        table = turncurve.read([corpus(f"graded/{name}.jsonl")])
        result = battery(table, BatterySettings(resamples=19))
        found[name] = next(s for s in result.slopes if s.name == "within_cr2_controlled")
    p = [np.nan if slope.p is None else slope.p for slope in found.values()]
    for (name, slope), q in zip(found.items(), benjamini_hochberg(p).q, strict=True):
        one = slope.estimate
        limits = f"{10 * one.value:+.3f} [{10 * one.low:+.3f}, {10 * one.high:+.3f}]"
        assert shown[name] == [limits, f"{one.df:.1f}", p_cell(slope.p), p_cell(float(q))], name


def p_cell(p: float | None) -> str:
    if p is None or np.isnan(p):
        return "–"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def test_mixed_models(published) -> None:
    """The published model within .001 of its error of lme4's, and the one with random slopes.

    In one fit lme4 stops on its bound, where its deviance is higher than ours (the tests of the
    solver show it).
    """
    row, found = published
    slopes = {one.name: one.estimate for one in found.slopes}
    pairs = [("published_s4", "lme4"), ("random_slope", "rs")]
    if (row["cache"], row["variant"]) == ("autoswe", "incl"):
        pairs.pop()
    for name, column in pairs:
        value, error = float(row[f"{column}_lpm"]), float(row[f"{column}_se"])
        one = slopes[name]
        assert one.value is not None
        assert one.value == pytest.approx(value, abs=1e-3 * error)
        assert one.std_error == pytest.approx(error, rel=2e-3)
