"""The documentation keeps its word: its code runs, its links lead somewhere, nothing is missing."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from turncurve.readers import READERS
from turncurve.signals import SIGNALS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of the blocks that run, in the page's order."""
    found = BLOCK.findall(page.read_text("utf-8"))
    return [(language, text) for language, text in found if language in ("python", "console")]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds a copy of the examples, as a reader of the docs would have."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=name_of)
def test_blocks_run(page: Path, workplace: Path) -> None:
    """Python and console blocks run, top to bottom, in one place and one namespace a page."""
    namespace: dict[str, object] = {"__name__": "docs"}
    for number, (language, block) in enumerate(blocks(page), start=1):
        if language == "python":
            exec(compile(block, f"{name_of(page)} block {number}", "exec"), namespace)
        else:
            run_commands(block, workplace)


def run_commands(block: str, workplace: Path) -> None:
    """Every `$ turncurve` command succeeds and prints the lines shown."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        words = shlex.split(command)
        if words[0] != "turncurve":
            continue
        done = subprocess.run(
            [sys.executable, "-m", "turncurve", *words[1:]],
            cwd=workplace,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        printed = {line.strip() for line in (done.stdout + done.stderr).splitlines()}
        missing = [
            line
            for line in map(str.strip, shown.splitlines())
            if line and line != "..." and line not in printed
        ]
        assert not missing, f"{command} no longer prints {missing}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the project."""
    for target in LINK.findall(page.read_text("utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


def test_readme_is_short() -> None:
    """The README has at most 120 lines."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


@pytest.mark.parametrize("name", READERS.names())
def test_every_reader_is_documented(name: str) -> None:
    """Each format has a page of its own in the reference."""
    page = ROOT / "docs" / "reference" / "formats" / f"{name}.md"
    assert page.is_file(), f"write {name_of(page)}"


@pytest.mark.parametrize("name", SIGNALS.names())
def test_every_signal_is_defined(name: str) -> None:
    """Each signal is defined by name on a page of docs/methods."""
    pages = (ROOT / "docs" / "methods").glob("*.md")
    assert any(f"`{name}`" in page.read_text("utf-8") for page in pages), f"define `{name}`"
