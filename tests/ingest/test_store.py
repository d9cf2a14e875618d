"""The store: the same numbers as from files, whole or not at all, and what it says of damage."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from table.same_table import assert_same
from turncurve.errors import ReadError
from turncurve.ingest import (
    Importing,
    ReadOptions,
    fetch_runs,
    import_files,
    iter_named_runs,
    iter_runs,
    read_table,
    stored_signals,
)
from turncurve.ingest.discover import Found
from turncurve.ingest.import_part import Batch, write_part
from turncurve.ingest.look import Looks
from turncurve.ingest.store_state import check_store, store_info
from turncurve.table.concat import concat
from turncurve.table.store import Store

DATA = Path(__file__).resolve().parents[1] / "data"
FEW = Importing(part_files=3)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A copy of the fixtures of every format."""
    folder = tmp_path / "traces"
    shutil.copytree(DATA, folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def one_run(path: Path, run: str, n_turns: int, quality: float = 0.5) -> None:
    rows = [{"run": run, "turn": t, "quality": quality} for t in range(1, n_turns + 1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_store_gives_what_its_files_give(traces: Path, tmp_path: Path, jobs: int) -> None:
    """Table, inputs, unread files and problems are the same in every cell, for each format."""
    import_files([traces], tmp_path / "store", importing=Importing(jobs=jobs, part_files=5))
    files, store = read_table([traces]), read_table([tmp_path / "store"])
    assert_same(store.table, files.table)
    assert store.table.n_runs > 30
    assert store.inputs == files.inputs
    assert store.unread == files.unread
    assert [str(p) for p in store.problems] == [str(p) for p in files.problems]


def test_conditions_by_folder_are_the_same(tmp_path: Path) -> None:
    """Conditions come from the folders below the path that was imported, reruns joined."""
    for folder in ("new", "old", "old_rerun"):
        (tmp_path / "t" / folder).mkdir(parents=True)
        one_run(tmp_path / "t" / folder / "a.jsonl", "a", 3)
    import_files([tmp_path / "t"], tmp_path / "store")
    options = ReadOptions(condition_from="folder")
    store = read_table([tmp_path / "store"], options=options).table
    assert_same(store, read_table([tmp_path / "t"], options=options).table)
    assert store.runs.condition.tolist() == ["new", "old", "old"]


def test_importing_twice_changes_nothing(traces: Path, tmp_path: Path) -> None:
    """A second import reads no file and leaves every byte as it was, also after a touch."""
    store = tmp_path / "store"
    import_files([traces], store)
    before = contents(store)
    for path in traces.rglob("*.jsonl"):
        os.utime(path)
    again = import_files([traces], store)
    assert (again.n_read, again.n_unchanged) == (0, again.n_files)
    assert contents(store) == before


def test_new_and_changed_files_are_read_and_no_other(tmp_path: Path) -> None:
    """A changed file's older rows no longer count; the table is that of the files as they are."""
    traces, store = tmp_path / "t", tmp_path / "store"
    traces.mkdir()
    for name in "bcd":
        one_run(traces / f"{name}.jsonl", name, 4)
    import_files([traces], store, importing=FEW)
    one_run(traces / "c.jsonl", "c", 6, quality=0.9)
    one_run(traces / "a.jsonl", "a", 2)
    done = import_files([traces], store, importing=FEW)
    assert (done.n_read, done.n_replaced, done.n_unchanged) == (2, 1, 2)
    table = read_table([store]).table
    assert_same(table, read_table([traces]).table)
    assert table.runs.id.tolist() == ["a", "b", "c", "d"]
    assert done.n_runs == 4


def test_parts_that_no_longer_count_are_removed(tmp_path: Path) -> None:
    """Once every file of a part was read again, the part is gone from disk."""
    trace, store = tmp_path / "a.jsonl", tmp_path / "store"
    for quality in (0.1, 0.2, 0.3):
        one_run(trace, "a", 5, quality)
        import_files([trace], store)
    assert len(Store(store).parts) == 1
    assert read_table([store]).table.columns["quality"].tolist() == [0.3] * 5


def test_an_outcome_beside_a_trace_counts(tmp_path: Path) -> None:
    """A report that appears beside a trace makes the trace be read again."""
    traces, store = tmp_path / "t", tmp_path / "store"
    traces.mkdir()
    trace = traces / "task-1.traj.json"
    document = {
        "trajectory_format": "mini-swe-agent-1",
        "info": {"mini_version": "1.0", "exit_status": "Submitted"},
        "messages": [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "ok"}],
        "instance_id": "task-1",
    }
    trace.write_text(json.dumps(document), encoding="utf-8")
    import_files([traces], store)
    report = {"task-1": {"resolved": True}}
    (traces / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert import_files([traces], store).n_replaced == 1
    assert_same(read_table([store]).table, read_table([traces]).table)
    assert read_table([store]).table.runs.success.tolist() == [1.0]


def test_a_file_that_is_gone_stays_unless_pruned(tmp_path: Path) -> None:
    """Its runs count until an import with prune; after that they never come back."""
    traces, store = tmp_path / "t", tmp_path / "store"
    traces.mkdir()
    for name in "ab":
        one_run(traces / f"{name}.jsonl", name, 4)
    import_files([traces], store)
    (traces / "a.jsonl").unlink()
    assert import_files([traces], store).n_runs == 2
    done = import_files([traces], store, importing=Importing(prune=True))
    assert (done.n_removed, done.n_runs) == (1, 1)
    assert import_files([traces], store).n_runs == 1
    assert read_table([store]).table.runs.id.tolist() == ["b"]
    one_run(traces / "a.jsonl", "a", 4)
    assert import_files([traces], store).n_runs == 2


def test_pruning_keeps_what_lies_elsewhere(tmp_path: Path) -> None:
    """Files below other paths are kept, though they are gone."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        one_run(tmp_path / folder / "a.jsonl", folder, 2)
    import_files([tmp_path / "x", tmp_path / "y"], tmp_path / "store")
    shutil.rmtree(tmp_path / "x")
    done = import_files([tmp_path / "y"], tmp_path / "store", importing=Importing(prune=True))
    assert (done.n_removed, done.n_runs) == (0, 2)


IMPORT = """
import sys
from turncurve.ingest import Importing, import_files
import_files([sys.argv[1]], sys.argv[2], importing=Importing(part_files=2))
"""


def test_a_killed_import_goes_on_where_it_was(traces: Path, tmp_path: Path) -> None:
    """Killed at ten moments, an import leaves whole parts; the next one ends as if undisturbed."""
    undisturbed = tmp_path / "undisturbed"
    import_files([traces], undisturbed, importing=Importing(part_files=2))
    expected = read_table([undisturbed]).table
    rng, n_killed, store = np.random.default_rng(5), 0, tmp_path / "store"
    for wait in rng.uniform(0.2, 2.0, size=10):
        process = subprocess.Popen([sys.executable, "-c", IMPORT, str(traces), str(store)])
        time.sleep(float(wait))
        process.send_signal(signal.SIGKILL)
        n_killed += process.wait() == -signal.SIGKILL
        if (store / "store.json").exists():
            read_table([store])
            assert check_store(store).damage == ()
    assert n_killed
    import_files([traces], store, importing=Importing(part_files=2))
    assert_same(read_table([store]).table, expected)
    assert not [*(store / "parts").glob(".*")]


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    """While one process imports, another is refused in words; the lock falls with its holder."""
    one_run(tmp_path / "a.jsonl", "a", 3)
    store = tmp_path / "store"
    import_files([tmp_path / "a.jsonl"], store)
    hold = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX);"
        "print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(store / "lock")], stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(ReadError, match="another process writes"):
        import_files([tmp_path / "a.jsonl"], store)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert import_files([tmp_path / "a.jsonl"], store).n_unchanged == 1


def test_other_options_are_refused(tmp_path: Path) -> None:
    """A store's columns are made one way: other options at an import or an analysis are refused."""
    one_run(tmp_path / "a.jsonl", "a", 3)
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n  - id: polite\n    must_match: please\n", encoding="utf-8")
    store = tmp_path / "store"
    import_files([tmp_path / "a.jsonl"], store)
    with pytest.raises(ReadError, match="--prices"):
        import_files([tmp_path / "a.jsonl"], store, options=ReadOptions(prices=False))
    with pytest.raises(ReadError, match="--rules"):
        read_table([store], options=ReadOptions(rules=rules))


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """A folder that is not empty and no store is refused, and nothing is written into it."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.txt").write_text("miau", encoding="utf-8")
    one_run(tmp_path / "a.jsonl", "a", 3)
    with pytest.raises(ReadError, match="not empty"):
        import_files([tmp_path / "a.jsonl"], tmp_path / "photos")
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["cat.txt"]


def test_a_store_inside_the_traces_is_no_trace(tmp_path: Path) -> None:
    """A walk passes over a store, whose Parquet files would read as turns."""
    one_run(tmp_path / "a.jsonl", "a", 3)
    import_files([tmp_path], tmp_path / "store")
    assert import_files([tmp_path], tmp_path / "store").n_files == 1
    assert [i.path for i in read_table([tmp_path]).inputs] == [str(tmp_path / "a.jsonl")]


def test_text_is_found_through_the_store(tmp_path: Path) -> None:
    """Runs are read again for their text, under the table's ids; a changed file is told."""
    for folder in ("x", "y"):
        shutil.copytree(DATA / "tau_bench", tmp_path / "t" / folder)
    import_files([tmp_path / "t"], tmp_path / "store")
    table = read_table([tmp_path / "store"]).table
    runs = list(iter_runs([tmp_path / "t"]))
    assert list(iter_runs([tmp_path / "store"])) == runs
    assert [run for _, run in fetch_runs(table, [1, 3])] == [runs[1], runs[3]]
    named = [[run.id for run in iter_named_runs([tmp_path / where])] for where in ("t", "store")]
    assert named[0] == named[1]
    changed = next((tmp_path / "t" / "x").iterdir())
    changed.write_bytes(changed.read_bytes() + b"\n")
    told: list[ReadError] = []
    left = list(iter_runs([tmp_path / "store"], on_problem=told.append))
    assert [run for run in runs if run.path != str(changed)] == left
    assert [(str(p.path), "changed" in p.reason) for p in told] == [(str(changed), True)]


def test_groups_are_tables_by_themselves(traces: Path, tmp_path: Path) -> None:
    """Written in groups of 5 turns, the runs come in many tables; together they are the table."""
    store = tmp_path / "store"
    import_files([traces], store)
    looks = [
        Looks(Store(store)).look(Found(p, traces, named=False))
        for p in sorted(traces.rglob("*.jsonl"))
    ]
    part = tmp_path / "part"
    manifest = write_part(
        Batch(looks=tuple(looks), folder=part, options=ReadOptions(), group_turns=5)
    )
    assert len(manifest.segments) > 1
    shutil.rmtree(store / "parts" / "00000001")
    part.rename(store / "parts" / "00000001")
    tables = list(Store(store).tables())
    assert len(tables) > 5
    paths = [look.found.path for look in looks]
    assert_same(read_table([store]).table, read_table(paths).table)
    assert check_store(store).damage == ()


def test_signals_stream_from_the_store(traces: Path, tmp_path: Path) -> None:
    """The streamed tables hold every signal, derived ones too, with the values of the whole."""
    import_files([traces], tmp_path / "store", importing=FEW)
    streamed = concat(list(stored_signals(tmp_path / "store")))
    whole = read_table([tmp_path / "store"]).table
    assert set(streamed.columns) == set(whole.columns)
    for name in ("repeated_action", "tool_error_rate", "spiral", "context_tokens"):
        assert np.nansum(streamed.columns[name]) == pytest.approx(np.nansum(whole.columns[name]))


def test_only_wanted_columns_are_read(traces: Path, tmp_path: Path) -> None:
    """With columns named, a store's tables hold those alone."""
    import_files([traces], tmp_path / "store")
    for table in Store(tmp_path / "store").tables(columns=["quality"]):
        assert list(table.columns) == ["quality"]


@pytest.mark.parametrize("name", ["runs", "turns", "calls", "events"])
@pytest.mark.parametrize("harm", ["flip", "cut", "remove"])
def test_damage_is_found(tmp_path: Path, name: str, harm: str) -> None:
    """A flipped byte, a cut or a missing Parquet file is told with its path and what mends it."""
    one_run(tmp_path / "a.jsonl", "a", 50)
    store = tmp_path / "store"
    import_files([tmp_path / "a.jsonl"], store)
    path = store / "parts" / "00000001" / "0000" / f"{name}.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    if harm == "flip":
        path.write_bytes(content)
    elif harm == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.unlink()
    damage = check_store(store).damage
    assert [str(problem.path) for problem in damage] == [str(path)]
    assert damage[0].fix
    assert "import again" in damage[0].fix


def test_removing_a_damaged_part_mends_the_store(tmp_path: Path) -> None:
    """What the check advises works: without the part, the next import reads its files anew."""
    one_run(tmp_path / "a.jsonl", "a", 5)
    store = tmp_path / "store"
    import_files([tmp_path / "a.jsonl"], store)
    shutil.rmtree(store / "parts" / "00000001")
    assert import_files([tmp_path / "a.jsonl"], store).n_read == 1
    assert read_table([store]).table.n_runs == 1


def test_a_manifest_that_lies_is_found(tmp_path: Path) -> None:
    """Rows that are fewer than the manifest says are told, though every hash is right."""
    one_run(tmp_path / "a.jsonl", "a", 5)
    store = tmp_path / "store"
    import_files([tmp_path / "a.jsonl"], store)
    path = store / "parts" / "00000001" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["segments"][0]["n_turns"] = 6
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert ["holds 1 of 5" in p.reason for p in check_store(store).damage] == [True]
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ReadError, match="is damaged"):
        check_store(store)


def test_changed_and_missing_traces_are_named(tmp_path: Path) -> None:
    """The check tells which trace files differ from what was read; a touched one does not."""
    for name in "abc":
        one_run(tmp_path / f"{name}.jsonl", name, 3)
    paths = [tmp_path / f"{name}.jsonl" for name in "abc"]
    import_files(paths, tmp_path / "store")
    one_run(paths[0], "a", 4)
    paths[1].unlink()
    os.utime(paths[2])
    check = check_store(tmp_path / "store")
    assert check.changed == (str(paths[0]),)
    assert check.gone == (str(paths[1]),)
    assert check.n_unchanged == 1


def test_what_a_store_holds(traces: Path, tmp_path: Path) -> None:
    """Runs, turns, formats and problems are those of the files."""
    import_files([traces], tmp_path / "store")
    info, files = store_info(tmp_path / "store"), read_table([traces])
    assert (info.n_runs, info.n_turns) == (files.table.n_runs, len(files.table.turn))
    assert sum(info.runs_by_format.values()) == info.n_runs
    assert info.n_problems == len(files.problems)
    assert info.n_unread == len(files.unread)


def test_a_store_of_a_later_layout_is_refused(tmp_path: Path) -> None:
    """A store that a later version made is not misread."""
    (tmp_path / "store.json").write_text(
        '{"turncurve_store": 99, "turncurve_version": "9.0", "options": {}}', encoding="utf-8"
    )
    with pytest.raises(ReadError, match="layout 99"):
        read_table([tmp_path])
