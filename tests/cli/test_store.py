"""`turncurve import` and `turncurve store`, as a shell runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    rows = [{"run": "a", "turn": t, "quality": 0.5 + t / 100} for t in range(1, 21)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turncurve", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_import_says_what_it_did(trace: Path) -> None:
    """The first import reads the file, the second says that there is nothing to do."""
    first = run(trace.parent, "import", "a.jsonl", "--store", "s")
    assert first.stdout == "1 file read, 0 unchanged\ns holds 1 run\n"
    again = run(trace.parent, "import", "a.jsonl", "--store", "s", "--json", "-")
    done = json.loads(again.stdout)
    assert (done["n_read"], done["n_unchanged"], done["n_runs"]) == (0, 1, 1)
    assert run(trace.parent, "import", "a.jsonl", "--store", "s", "-q").stdout == ""


def test_a_report_on_the_store_equals_one_on_the_files(trace: Path) -> None:
    """Text and JSON are the same to the byte, warnings and all."""
    with trace.open("a", encoding="utf-8") as file:
        file.write("this is no JSON\n")
    run(trace.parent, "import", "a.jsonl", "--store", "s")
    for form in (["--json", "-"], []):
        of_files = run(trace.parent, "report", "a.jsonl", *form)
        of_store = run(trace.parent, "report", "s", *form)
        assert of_store.stdout == of_files.stdout
        assert of_store.stderr == of_files.stderr
        assert of_files.stderr


def test_strict_import_fails_on_a_bad_record(trace: Path) -> None:
    """With --strict an unreadable record makes it 2; the good ones are kept."""
    with trace.open("a", encoding="utf-8") as file:
        file.write("this is no JSON\n")
    done = run(trace.parent, "import", "a.jsonl", "--store", "s", "--strict")
    assert done.returncode == 2
    assert "line" in done.stderr or "21" in done.stderr
    assert run(trace.parent, "report", "s").returncode == 0


def test_verify_fails_on_damage_only(trace: Path) -> None:
    """A sound store is 0 though its trace is gone, a damaged one 1, and no store 2."""
    run(trace.parent, "import", "a.jsonl", "--store", "s")
    trace.unlink()
    sound = run(trace.parent, "store", "verify", "s")
    assert (sound.returncode, "no longer there: a.jsonl" in sound.stdout) == (0, True)
    part = trace.parent / "s" / "parts" / "00000001" / "0000" / "turns.parquet"
    part.write_bytes(part.read_bytes()[:-3])
    damaged = run(trace.parent, "store", "verify", "s", "--json", "-")
    assert damaged.returncode == 1
    assert json.loads(damaged.stdout)["sound"] is False
    nothing = run(trace.parent, "store", "verify", ".")
    assert nothing.returncode == 2
    assert "turncurve import" in nothing.stderr


def test_text_that_is_gone_is_told(trace: Path) -> None:
    """A page and a conversion of a store name the trace that is gone; the numbers are there."""
    run(trace.parent, "import", "a.jsonl", "--store", "s")
    trace.unlink()
    for words in (["report", "s", "-o", "page.html"], ["convert", "s", "--to", "atif", "-o", "x"]):
        done = run(trace.parent, *words)
        assert done.returncode == 0
        assert "a.jsonl: is no longer there" in done.stderr
    assert (trace.parent / "page.html").exists()


def test_info_counts(trace: Path) -> None:
    """Runs, turns and formats are told."""
    run(trace.parent, "import", "a.jsonl", "--store", "s")
    info = json.loads(run(trace.parent, "store", "info", "s", "--json", "-").stdout)
    assert (info["n_runs"], info["n_turns"]) == (1, 20)
    assert info["runs_by_format"] == {"turns": 1}
    assert "1 run, 20 turns" in run(trace.parent, "store", "info", "s").stdout


def test_the_help_of_import_is_light() -> None:
    """Asking for help imports neither numpy nor pyarrow."""
    code = (
        "import sys; from turncurve.cli.main import cli\n"
        "try: cli(['import', '--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
