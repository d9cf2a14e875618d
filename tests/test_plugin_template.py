"""The template for a plugin, installed as a third party would have it, and ways to break it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).resolve().parents[1] / "examples" / "plugin"
LOG = {
    "my_agent_version": 1,
    "id": "r1",
    "steps": [
        {"reply": "Sorry.", "tool": "ls", "exit": 0, "tokens_in": 9, "tokens_out": 1},
        {"reply": "Done.", "tool": "cat", "exit": 1, "tokens_in": 12, "tokens_out": 1},
    ],
}


@dataclass(frozen=True)
class Installed:
    """The template beside the entry points of its pyproject, and commands that see it."""

    folder: Path

    def python(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def turncurve(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "turncurve", *arguments)

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.folder / "turncurve_my_agent" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def log(self, *records: object) -> Path:
        path = self.folder / "in" / "one.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records or [LOG]))
        return path


def package(folder: Path, name: str) -> None:
    """Write what an installer would: the package's metadata with the template's entry points."""
    project = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["project"]
    info = folder / f"{name.replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    folder = tmp_path / "site"
    shutil.copytree(TEMPLATE / "src", folder)
    package(folder, "turncurve-my-agent")
    return Installed(folder)


def test_its_own_tests_pass(installed: Installed) -> None:
    """What the template ships as tests is green once it is installed."""
    shutil.copytree(TEMPLATE / "tests", installed.folder / "tests")
    done = installed.python("-m", "pytest", "-q", "-p", "no:xdist", "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_formats_names_the_package(installed: Installed) -> None:
    """The reader is listed with the package that adds it; built-ins have none."""
    done = installed.turncurve("formats")
    assert "my_agent: my-agent logs" in done.stdout
    assert "added by the package turncurve-my-agent" in done.stdout
    rows = json.loads(installed.turncurve("formats", "--json", "-").stdout)["formats"]
    packages = {row["name"]: row["package"] for row in rows}
    assert packages.pop("my_agent") == "turncurve-my-agent"
    assert set(packages.values()) == {None}


def test_a_report_has_the_runs_and_the_signal(installed: Installed) -> None:
    """From files and from a store: two turns, one failed call, one apology at turn 1."""
    path = installed.log()
    report = json.loads(installed.turncurve("report", path, "--json", "-").stdout)
    assert (report["summary"]["n_runs"], report["summary"]["n_turns"]) == (1, 2)
    assert report["signals"]["apologies"]["title"] == "Apologies"
    curve = [c for c in report["curves"] if (c["signal"], c["axis"]) == ("apologies", "turn")]
    assert [bucket["value"] for bucket in curve] == [1, 0]
    store = installed.folder / "store"
    assert installed.turncurve("import", path, "--store", store).returncode == 0
    stored = json.loads(installed.turncurve("report", store, "--json", "-").stdout)
    assert stored["curves"] == report["curves"]


Break = Callable[[Installed], None]

FATAL: dict[str, tuple[Break, str]] = {
    "reader does not import": (
        lambda at: at.edit("reader.py", "from turncurve.errors", "from turncurve.nowhere"),
        "the reader plugin 'my_agent' from turncurve-my-agent failed: ModuleNotFoundError",
    ),
    "reader of another type": (
        lambda at: at.edit("reader.py", "READER = Reader(", "READER = dict("),
        "'my_agent' from turncurve-my-agent failed: wanted a Reader, got dict",
    ),
    "reader of another name": (
        lambda at: at.edit("reader.py", 'name="my_agent"', 'name="mine"'),
        "'my_agent' from turncurve-my-agent failed: it calls itself 'mine'",
    ),
    "reader without the attribute": (
        lambda at: at.edit("reader.py", "READER = Reader(", "READERS = Reader("),
        "the reader plugin 'my_agent' from turncurve-my-agent failed: AttributeError",
    ),
    "two packages": (
        lambda at: package(at.folder, "another"),
        "the reader plugin 'my_agent' from another and turncurve-my-agent failed: both claim",
    ),
    "signal does not import": (
        lambda at: at.edit("apologies.py", "import numpy as np", "import numpie as np"),
        "the signal plugin 'apologies' from turncurve-my-agent failed: ModuleNotFoundError",
    ),
    "derive raises": (
        lambda at: at.edit("apologies.py", "observe=apologies", "derive=lambda table: 1 / 0"),
        "'apologies' from turncurve-my-agent failed: ZeroDivisionError",
    ),
    "derive of another length": (
        lambda at: at.edit("apologies.py", "observe=apologies", "derive=lambda _: np.zeros(7)"),
        "'apologies' from turncurve-my-agent failed: InvariantError",
    ),
}


@pytest.mark.parametrize("way", FATAL)
def test_a_plugin_that_cannot_work_ends_the_command(way: str, installed: Installed) -> None:
    """Status 2, one line, the plugin and its package named, and what to do."""
    spoil, said = FATAL[way]
    path = installed.log()
    spoil(installed)
    done = installed.turncurve("report", path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("turncurve: ")
    assert done.stderr.endswith("mend it or uninstall its package\n")
    assert done.stderr.count("\n") == 1


PARTIAL: dict[str, tuple[Break, str, int]] = {
    "looks_like raises": (
        lambda at: at.edit("reader.py", "return head.lstrip()", "return 1 / 0 or head.lstrip()"),
        "the reader 'my_agent' failed to look at it: ZeroDivisionError",
        1,
    ),
    "read raises at the second run": (
        lambda at: at.edit("reader.py", 'success = record.get("ok")', "success = 1 / (2 - number)"),
        "the reader 'my_agent' failed: ZeroDivisionError",
        2,
    ),
    "observe raises": (
        lambda at: at.edit("apologies.py", ".lower()", ".lowest()"),
        "'apologies' failed: AttributeError",
        3,
    ),
}


@pytest.mark.parametrize("way", PARTIAL)
def test_a_plugin_that_fails_on_a_file_loses_no_other(way: str, installed: Installed) -> None:
    """What it fails at is a problem that names it; runs read before, and other files, are kept."""
    spoil, said, n_runs = PARTIAL[way]
    path = installed.log(LOG, {**LOG, "id": "r2"})
    (path.parent / "table.jsonl").write_text('{"run": "t", "turn": 1, "quality": 1}\n')
    spoil(installed)
    done = installed.turncurve("report", path.parent, "--json", "-")
    report = json.loads(done.stdout)
    assert report["summary"]["n_runs"] == n_runs
    assert any(said in problem["reason"] for problem in report["problems"])
