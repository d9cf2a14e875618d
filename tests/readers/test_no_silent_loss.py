"""No record is lost in silence: one that cannot be read is told, and costs no other run."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from pathlib import Path

import pytest

from readers.test_contract import fixtures
from turncurve.errors import ReadError
from turncurve.readers import READERS

DATA = Path(__file__).resolve().parents[1] / "data"
LINES = [
    pytest.param(name, path, id=f"{name}-{path.name}")
    for name in READERS
    for path in fixtures(name)
    if path.suffix == ".jsonl"
]
SHARED = {
    **dict.fromkeys(("claude_code", "gemini_cli", "openclaw", "claude_managed_agents"), 2),
    **dict.fromkeys(("otel", "langfuse"), 2),
}
"""Runs that one line may bear on, where that is more than one.

It is where one run ends and the next begins, or names the run that another belongs to; a request
of spans may hold several.
"""


@pytest.mark.parametrize(("name", "path"), LINES)
def test_a_spoilt_line_is_told_and_costs_no_other_run(
    name: str, path: Path, tmp_path: Path
) -> None:
    """Each line of each fixture in turn: one that breaks off or is no record is told by number."""
    shutil.copytree(DATA / name, tmp_path / "in")
    target = tmp_path / "in" / path.relative_to(DATA / name)
    lines = path.read_text(encoding="utf-8").splitlines()
    told: list[ReadError] = []
    expected, n_told = turns_by_run(name, target, told), len(told)
    for at, line in enumerate(lines):
        # A first line that is none of the format makes it another file.
        for spoilt in (line[: len(line) // 2 or 1], *(("7", "null") if at else ())):
            target.write_text("\n".join([*lines[:at], spoilt, *lines[at + 1 :], ""]))
            told = []
            found = turns_by_run(name, target, told)
            assert any(problem.record == at + 1 for problem in told) or len(told) > n_told
            changed = [run for run, turns in expected.items() if found.get(run) != turns]
            assert len(changed) <= SHARED.get(name, 1), f"line {at + 1}"


LISTS = {
    "tau_bench": ("bookings.json", None),
    "tau2": ("suite.json", "simulations"),
    "terminal_bench": ("results.json", "results"),
    "opencode": ("session.json", "messages"),
    "swe_agent": ("demo__calc-3.traj", "trajectory"),
    "who_and_when": ("crafted.json", "history"),
    "mini_swe_agent": ("bare_list.traj.json", None),
    "trail": ("trace.json", "spans"),
    "atif": ("written.json", "steps"),
}
"""Formats whose records stand in a list of one document, and where."""


@pytest.mark.parametrize("name", LISTS)
def test_a_spoilt_item_is_told_and_costs_no_other_run(name: str, tmp_path: Path) -> None:
    """Each item of the document's list in turn: one that is no record is told."""
    file, key = LISTS[name]
    shutil.copytree(DATA / name, tmp_path / "in")
    target = tmp_path / "in" / file
    document = json.loads(target.read_text(encoding="utf-8"))
    told: list[ReadError] = []
    expected, n_told = turns_by_run(name, target, told), len(told)
    for at in range(len(document if key is None else document[key])):
        odd = deepcopy(document)
        (odd if key is None else odd[key])[at] = 7
        target.write_text(json.dumps(odd))
        told = []
        found = turns_by_run(name, target, told)
        assert len(told) > n_told, f"item {at}"
        changed = [run for run, turns in expected.items() if found.get(run) != turns]
        assert len(changed) <= SHARED.get(name, 1), f"item {at}"


def turns_by_run(name: str, path: Path, told: list[ReadError]) -> dict[str, list[object]]:
    """What each run's turns hold, by the run's id."""
    return {
        run.id: [(t.index, t.text, t.usage, t.tool_calls, t.tool_results) for t in run.turns]
        for run in READERS[name].read(path, told.append)
    }


@pytest.mark.parametrize(("name", "path"), LINES)
def test_a_long_first_line_is_a_line(name: str, path: Path, tmp_path: Path) -> None:
    """A first record beyond what a look at the file sees makes its lines no single document."""
    shutil.copytree(DATA / name, tmp_path / "in")
    target = tmp_path / "in" / path.relative_to(DATA / name)
    expected = turns_by_run(name, target, [])
    first, newline, rest = target.read_text(encoding="utf-8").rstrip().partition("\n")
    target.write_text(first[:-1] + " " * 70_000 + first[-1:] + newline + rest + "\n")
    assert turns_by_run(name, target, []) == expected
