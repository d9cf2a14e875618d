"""What importing costs, what the facade offers, and that the core needs no extra."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import turncurve
from founding_records import founding_records

HEAVY = ("numpy", "scipy", "inspect_ai", "pyarrow", "genai_prices", "rich", "jsonschema")

NO_EXTRAS = """
import sys

EXTRAS = {"inspect_ai", "inspect_scout", "genai_prices", "ibis", "pyspark", "duckdb"}
EXTRAS |= {"prometheus_client", "httpx", "sqlalchemy", "mcp", "pandas", "lifelines", "statsmodels"}


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Refuse())
from turncurve.cli.main import main

sys.argv[0] = "turncurve"
main()
"""


def python(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=check, timeout=120
    )


def loaded(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has imported after some code."""
    tail = f"\nimport sys\nprint('loaded:', *[m for m in {HEAVY!r} if m in sys.modules])"
    return set(python("-c", code + tail).stdout.splitlines()[-1].split()[1:])


def test_import_is_light() -> None:
    """`import turncurve` pulls in no heavy package."""
    assert loaded("import turncurve") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["report", "--help"], ["formats", "--help"]])
def test_help_is_light(arguments: list[str]) -> None:
    """Neither the help of the group nor that of a command pulls in a heavy package."""
    code = (
        "from turncurve.cli.main import cli\n"
        f"try:\n    cli({arguments!r})\nexcept SystemExit as end:\n    assert end.code == 0"
    )
    assert loaded(code) == set()


def test_all_is_what_can_be_imported() -> None:
    """Every name of `__all__` is there, and nothing else public is promised."""
    for name in turncurve.__all__:
        assert getattr(turncurve, name) is not None
    offered = {name for name in dir(turncurve) if not name.startswith("_")}
    submodules = {path.stem for path in Path(turncurve.__file__).parent.iterdir()}
    hidden = submodules | {"TYPE_CHECKING", "annotations", "import_module"}
    assert offered - hidden == set(turncurve.__all__) - hidden
    assert not set(turncurve.__all__) & submodules


def test_unknown_name_is_an_attribute_error() -> None:
    """A name that the facade does not have is refused as by any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        turncurve.nothing  # noqa: B018


def test_core_alone_reports_on_a_table(tmp_path: Path) -> None:
    """With no extra installed, a table of turns gives a report in every form."""
    table = tmp_path / "demo.jsonl"
    table.write_text("".join(json.dumps(record) + "\n" for record in founding_records()))
    html = tmp_path / "report.html"
    done = python("-c", NO_EXTRAS, "report", str(table), "--json", "-", "-o", str(html))
    assert json.loads(done.stdout)["summary"]["n_turns"] == 60
    assert html.stat().st_size > 10_000


def test_core_alone_says_which_extra_it_misses(data: Path) -> None:
    """With no extra installed, an Inspect log ends with status 2 and names the extra."""
    log = next((data / "inspect").glob("*.eval"))
    done = python("-c", NO_EXTRAS, "report", str(log), check=False)
    assert done.returncode == 2
    assert "pip install 'turncurve[inspect]'" in done.stderr
    assert "Traceback" not in done.stderr
