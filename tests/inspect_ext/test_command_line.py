"""Inspect's own commands find the parts by name, as installed, and evaluations pay nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from inspect_ext.offline import metrics, record
from turncurve.ingest import read_table
from turncurve.report.document import build_report
from turncurve.report.json import to_json

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the examples, and what an installer writes of pyproject's entry points."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site" / "points_of_turncurve-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: points-of-turncurve\nVersion: 1\n")
    points = project["entry-points"]["inspect_ai"].items()
    lines = ["[inspect_ai]", *(f"{name} = {where}" for name, where in points)]
    lines.append("a_grader_for_tests = cli.grader_provider")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def python(place: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    paths = [
        str(place / "site"),
        str(ROOT / "src"),
        str(ROOT / "tests"),
        os.environ.get("PYTHONPATH", ""),
    ]
    env = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_example_task_and_more_scorings(place: Path) -> None:
    """`inspect eval` of the example, the hook on; then `inspect score` by name with arguments.

    60 turns and more with a compaction, offline; the second scoring, the report on the log and the
    rows of the hook have the numbers of the first.
    """
    done = python(
        place,
        *("-m", "inspect_ai", "eval", "examples/long_task.py", "--display", "none"),
        *("-T", "shifts=2", "--log-dir", "logs"),
        TURNCURVE_LIVE="live",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (place / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    found = metrics(log)
    assert found["error_rate_n"] == 2
    assert record(log)["n_turns"] >= 60
    assert sum(record(log)["signals"]["compaction"]) == 1
    assert record(log)["outcome_from"] == "handed_over"

    done = python(
        place,
        *("-m", "inspect_ai", "score", str(path), "--scorer", "turncurve/signals_scorer"),
        *("-S", "outcome=handed_over", "--action", "append", "--output-file", "twice.eval"),
        *("--display", "none"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    twice = read_eval_log(str(place / "twice.eval"))
    assert metrics(twice, "signals_scorer1") == pytest.approx(found)
    assert record(twice, 0, "signals_scorer1")["validity"] == record(log)["validity"]

    done = python(
        place,
        *("-m", "inspect_ai", "score", "twice.eval", "--scorer", "turncurve/degradation_scorer"),
        *(
            "-S",
            "model=turncurvetest/late,turncurvetest/good",
            "-S",
            "turns=10,30",
            "-S",
            "samples=2",
        ),
        *("-S", "outcome=handed_over", "--action", "append", "--output-file", "thrice.eval"),
        *("--display", "none"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    thrice = read_eval_log(str(place / "thrice.eval"))
    graded = record(thrice, 0, "degradation_scorer")
    assert graded["validity"] == "." * 9 + "P" + "." * 19 + "-" + "." * (graded["n_turns"] - 30)
    assert graded["grader"] == "turncurvetest/late*2+turncurvetest/good*2"
    assert graded["missing"] == [{"why": "tie: 2 fail, 2 pass", "turns": [30]}]
    assert metrics(thrice, "degradation_scorer")["missing_rate"] == 0.5
    assert metrics(thrice)["error_rate"] == found["error_rate"]

    table = read_table([path]).table
    told = to_json(build_report(table))
    assert told["summary"]["error_rate"] == pytest.approx(found["error_rate"], rel=1e-12)
    live = read_table([place / "live"]).table
    assert live.runs.n_turns.sum() == table.runs.n_turns.sum()
    assert live.columns["cost_usd"].sum() == pytest.approx(table.columns["cost_usd"].sum())
    assert live.columns["compaction"].sum() == table.columns["compaction"].sum() == 2


LOADED = """
import json, sys
import inspect_ai, inspect_ai.hooks, inspect_ai.log, inspect_ai.scorer, inspect_ai.solver
before = set(sys.modules)
from importlib.metadata import entry_points
for point in entry_points(group="inspect_ai"):
    if point.name == "turncurve":
        point.load()
new = sorted(set(sys.modules) - before)
from inspect_ai._util.registry import registry_find, registry_info
ours = registry_find(lambda info: info.name.startswith("turncurve/"))
print(json.dumps({"new": new, "ours": sorted(registry_info(one).name for one in ours)}))
"""


def loaded(place: Path, **variables: str) -> dict[str, list[str]]:
    done = python(place, "-c", LOADED, **variables)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_loading_it_costs_other_evaluations_nothing(place: Path) -> None:
    """It imports a handful of modules, all its own: no numpy, no reader, no hook, no Scout."""
    found = loaded(place, TURNCURVE_LIVE="", TURNCURVE_STOP_SPIRAL="")
    foreign = [name for name in found["new"] if not name.startswith(("turncurve", "importlib"))]
    assert not {name.partition(".")[0] for name in foreign} & {"numpy", "scipy", "msgspec"}
    assert len([name for name in found["new"] if name.startswith("turncurve")]) <= 8
    assert found["ours"] == [
        *("turncurve/degradation_scorer", "turncurve/error_rate", "turncurve/error_rate_slope"),
        *("turncurve/loop_rate", "turncurve/median_time_to_first_error", "turncurve/missing_rate"),
        *("turncurve/neutral_rate", "turncurve/productive_rate", "turncurve/rubric_mean"),
        *("turncurve/rubric_slope", "turncurve/signals_scorer"),
    ]


def test_a_switch_registers_the_hook(place: Path) -> None:
    """With one of its variables set, and only then, the hook is there under its name."""
    assert "turncurve/live_turns" in loaded(place, TURNCURVE_STOP_SPIRAL="5")["ours"]
