"""Importing: how memory grows with the number of files, and what a second process is worth.

Run with `python benchmarks/bench_store.py`. Each import runs in a process of its own, whose peak of
memory is read at its end. Targets: the peak with 1,000 files at most 1.1 times that with 100 (ten
such files do not fill the buffers of a part), and two processes are faster than one, by the wall
clock, where two cores are free. Last, what an import is worth: a report's table from the store
beside the same table from the files.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from bench_ingest import write_turns
from timing import cpu_seconds, print_ratio, printed_by

from turncurve import import_files, read

RUNS, TURNS = 50, 50
"""Runs and turns in each file: 2,500 turns, some 400 kB."""
TIMES = 5
IMPORT = """
import sys, time
from timing import peak_megabytes
from turncurve.ingest import import_files
from turncurve.ingest.importing import Importing
if __name__ == "__main__":
    start = time.perf_counter()
    import_files([sys.argv[1]], sys.argv[2], importing=Importing(jobs=int(sys.argv[3])))
    wall = time.perf_counter() - start
    print(wall, peak_megabytes())
"""


def imported(folder: Path, *, jobs: int) -> tuple[float, float]:
    """Seconds and peak memory in MB of one import into a new store."""
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "one_import.py"
        script.write_text(IMPORT)
        printed = printed_by(script, folder, Path(place) / "store", str(jobs))
    wall, peak = map(float, printed.split())
    return wall, peak


def write_files(folder: Path, n_files: int) -> Path:
    """Files of different content, since equal ones would be known by their hash."""
    folder.mkdir()
    write_turns(folder / "0000.jsonl", runs=RUNS, turns=TURNS)
    text = (folder / "0000.jsonl").read_text()
    for number in range(1, n_files):
        (folder / f"{number:04d}.jsonl").write_text(text.replace("run-", f"run-{number}-"))
    return folder


def main() -> None:
    """Measure, and print ratios."""
    with tempfile.TemporaryDirectory() as place:
        folders = {n: write_files(Path(place) / str(n), n) for n in (10, 100, 1000)}
        peaks = {n: imported(folder, jobs=1)[1] for n, folder in folders.items()}
        words = ", ".join(f"{n:,} files {peak:.0f} MB" for n, peak in peaks.items())
        print(
            f"peak memory of an import: {words}; ratios to 10 files {peaks[1000] / peaks[10]:.2f}, "
            f"to 100, which fill a part's buffers, {peaks[1000] / peaks[100]:.2f}"
        )
        walls = {
            jobs: statistics.median(imported(folders[1000], jobs=jobs)[0] for _ in range(TIMES))
            for jobs in (1, 2)
        }
        print(
            f"import of 1,000 files: one process {walls[1]:.2f} s, two {walls[2]:.2f} s wall on "
            f"{os.cpu_count()} cores; ratio {walls[2] / walls[1]:.2f} (medians of {TIMES})"
        )
        store = Path(place) / "store"
        import_files([folders[100]], store)
        stored = cpu_seconds("table of 250,000 turns from a store", lambda: read([store]))
        files = cpu_seconds("from the files", lambda: read([folders[100]]))
        print_ratio(stored, files)


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"({time.perf_counter() - start:.0f} s in all)")
