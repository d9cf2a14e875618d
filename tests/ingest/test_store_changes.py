"""A store beside trace files that change, move, join each other or are read by killed processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from table.same_table import assert_same
from turncurve.errors import ReadError, TextGoneError
from turncurve.ingest import Importing, fetch_runs, import_files, iter_runs, read_table
from turncurve.ingest.file_state import is_as_it_was, times_of
from turncurve.ingest.store_state import check_store
from turncurve.table.store import Store, StoredFile

DATA = Path(__file__).resolve().parents[1] / "data"
LONG_AGO = 1_700_000_000


def one_run(path: Path, run: str, quality: float = 0.5) -> None:
    rows = [{"run": run, "turn": t, "quality": quality} for t in range(1, 5)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def stored(path: Path) -> StoredFile:
    (file,) = (file for _, file in Store(path).files.values())
    return file


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    """A file changed right after its import, to the same size and time, is read again."""
    trace, store = tmp_path / "a.jsonl", tmp_path / "store"
    one_run(trace, "a", 0.5)
    import_files([trace], store)
    then = trace.stat()
    one_run(trace, "a", 0.7)
    os.utime(trace, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert trace.stat().st_size == then.st_size
    assert import_files([trace], store).n_replaced == 1
    assert read_table([store]).table.columns["quality"].tolist() == [0.7] * 4


def test_times_spare_hashing_only_where_they_are_old_enough(tmp_path: Path) -> None:
    """A file just written has no times to go by; one whose times are known is not hashed."""
    trace = tmp_path / "a.jsonl"
    one_run(trace, "a")
    now = trace.stat()
    assert times_of(now) is None
    known = {"path": str(trace), "resolved": str(trace), "root": "", "folder": "", "beside": ""}
    times = (now.st_mtime_ns, now.st_ctime_ns)
    for given, expected in ((times, True), ((times[0], 0), False), (None, False)):
        file = StoredFile(
            **known, size=now.st_size, times_ns=given, digest="of another", format=None
        )
        assert is_as_it_was(file, trace) is expected


def test_a_touched_file_has_not_changed(tmp_path: Path) -> None:
    """Where only its time differs, a file's text is still found."""
    trace, store = tmp_path / "a.jsonl", tmp_path / "store"
    one_run(trace, "a")
    import_files([trace], store)
    os.utime(trace, (LONG_AGO, LONG_AGO))
    table = read_table([store]).table
    assert [run.id for _, run in fetch_runs(table, [0], stores=[store])] == ["a"]
    assert check_store(store).n_unchanged == 1


def test_chosen_texts_of_changed_files_are_told(tmp_path: Path) -> None:
    """Of the chosen runs those in sound files come; a gone or changed file of theirs is told."""
    for name in "abcd":
        one_run(tmp_path / f"{name}.jsonl", name)
    files, store = [tmp_path / f"{name}.jsonl" for name in "abcd"], tmp_path / "store"
    import_files(files, store)
    table = read_table([store]).table
    one_run(files[0], "a", 0.75)
    files[1].unlink()
    files[3].unlink()
    told: list[ReadError] = []
    found = fetch_runs(table, [0, 1, 2], stores=[store], on_problem=told.append)
    assert [run.id for _, run in found] == ["c"]
    assert [(p.path, p.reason) for p in told] == [
        (str(files[0]), "has changed since it was imported"),
        (str(files[1]), "is no longer there"),
    ]
    assert all(isinstance(p, TextGoneError) for p in told)


def test_text_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path given relative to one folder is found from another, and named as it was given."""
    (tmp_path / "elsewhere").mkdir()
    one_run(tmp_path / "a.jsonl", "a")
    monkeypatch.chdir(tmp_path)
    import_files(["a.jsonl"], "store")
    monkeypatch.chdir(tmp_path / "elsewhere")
    one_run(Path("a.jsonl"), "another")
    (run,) = iter_runs(["../store"])
    assert (run.id, run.path) == ("a", "a.jsonl")
    assert check_store("../store").n_unchanged == 1


def test_an_outcome_beside_a_link_counts(tmp_path: Path) -> None:
    """A reader looks beside the link, so a change there has the trace read again."""
    (tmp_path / "t").mkdir()
    (tmp_path / "blobs").mkdir()
    shutil.copy(DATA / "mini_swe_agent" / "native_calls.traj.json", tmp_path / "blobs" / "x")
    (tmp_path / "t" / "a.traj.json").symlink_to(tmp_path / "blobs" / "x")
    import_files([tmp_path / "t" / "a.traj.json"], tmp_path / "store")
    (tmp_path / "t" / "report.json").write_text("{}", encoding="utf-8")
    assert import_files([tmp_path / "t" / "a.traj.json"], tmp_path / "store").n_replaced == 1


def deal_spans(folder: Path) -> list[Path]:
    """The spans of every trace, dealt to three files."""
    folder.mkdir()
    lines = (DATA / "otel" / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    spans = []
    for line in lines:
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                spans += [
                    {"resourceSpans": [{**resource, "scopeSpans": [{**scope, "spans": [span]}]}]}
                    for span in scope["spans"]
                ]
    paths = [folder / f"{number}.jsonl" for number in range(3)]
    for number, path in enumerate(paths):
        text = "".join(json.dumps(one) + "\n" for one in spans[number::3])
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_files_that_come_later_join_the_runs_of_earlier_ones(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    """Spans of a trace in files that arrive one by one give the runs of all files at once."""
    files = deal_spans(tmp_path / "all")
    (tmp_path / "t").mkdir()
    for number in order:
        shutil.copy(files[number], tmp_path / "t")
        import_files([tmp_path / "t"], tmp_path / "store")
    whole = read_table([tmp_path / "t"])
    assert whole.table.n_runs
    assert_same(read_table([tmp_path / "store"]).table, whole.table)
    again = import_files([tmp_path / "t"], tmp_path / "store")
    assert (again.n_read, again.n_unchanged) == (0, 3)


def test_a_joined_file_that_is_gone_is_no_reason_to_read_again(tmp_path: Path) -> None:
    """A file that was rotated away leaves what was read together with it as it is."""
    files = deal_spans(tmp_path / "t")
    import_files([tmp_path / "t"], tmp_path / "store")
    before = read_table([tmp_path / "store"]).table
    files[2].unlink()
    assert import_files([tmp_path / "t"], tmp_path / "store").n_read == 0
    assert_same(read_table([tmp_path / "store"]).table, before)


def test_a_trajectory_whose_start_comes_later_is_counted_once(tmp_path: Path) -> None:
    """A continuation that was imported alone is read again, with the file that it continues."""
    traces, store = tmp_path / "t", tmp_path / "store"
    traces.mkdir()
    shutil.copy(DATA / "atif" / "main.cont-1.json", traces)
    import_files([traces], store)
    shutil.copy(DATA / "atif" / "main.json", traces)
    import_files([traces], store)
    assert_same(read_table([store]).table, read_table([traces]).table)


IMPORT = """
import sys
from turncurve.ingest import Importing, import_files
if __name__ == "__main__":
    import_files([sys.argv[1]], sys.argv[2], importing=Importing(jobs=2, part_files=20))
"""


def children_of(process: int) -> set[int]:
    """Processes whose parent is, or was, the given one."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return {int(word) for word in listed.split()}


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_processes_end_with_a_killed_import(tmp_path: Path) -> None:
    """Those that read for an import go when it is killed, and the next import is undisturbed."""
    traces, store, script = tmp_path / "t", tmp_path / "store", tmp_path / "one_import.py"
    traces.mkdir()
    for number in range(400):
        one_run(traces / f"{number:03d}.jsonl", f"run-{number}")
    script.write_text(IMPORT, encoding="utf-8")
    process = subprocess.Popen([sys.executable, script, traces, store])
    deadline = time.monotonic() + 60
    while not [*(store / "parts").glob(".*")] and time.monotonic() < deadline:
        time.sleep(0.01)
    children = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert children
    while any(map(is_running, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, children))
    import_files([traces], store, importing=Importing(part_files=20))
    assert_same(read_table([store]).table, read_table([traces]).table)
    assert not [*(store / "parts").glob(".*")]
