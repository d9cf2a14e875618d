"""Reading JSON lines, beside decoding the same bytes with the fastest JSON libraries for Python.

Run with `python benchmarks/bench_ingest.py [FOLDER]`. Without a folder the files are made from the
tests' small fixtures with longer texts: many short sessions, of which each costs its own. With a
folder of real traces the JSONL files in it are read, format by format. Two ratios each: the reader
alone, which gives runs, and `read_table`, which computes every signal besides. Target: reading at
most 3 times the CPU of decoding.

Also: does the cost grow linearly with turns, does memory stay flat as a file grows, and how long do
polars and DuckDB take to read the same `turns` file into columns?
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import orjson
import polars
from timing import Timing, cpu_seconds, print_ratio, printed_by

from turncurve import read
from turncurve.ingest import explain, read_table
from turncurve.readers import READERS

FIXTURES = Path(__file__).resolve().parents[1] / "tests/data"
FORMATS = {
    "claude_code": "session.jsonl",
    "codex": "rollout.jsonl",
    "gemini_cli": "stream.jsonl",
    "openclaw": "session.jsonl",
    "claude_managed_agents": "session.jsonl",
    "openhands": "output.jsonl",
    "otel": "requests.jsonl",
    "lost_in_conversation": "sharded.jsonl",
    "graded": "demo.jsonl",
}
COPIES = 40
LEAST_BYTES = 100_000
WORDS = " and then it looked at the next file, found what it wanted there, and wrote it down" * 12


def write_turns(path: Path, *, runs: int, turns: int) -> None:
    """Per-turn records of made-up runs with a quality, tokens and an action."""
    rng = random.Random(7)
    encoder = msgspec.json.Encoder()
    with path.open("wb") as out:
        for run in range(runs):
            for turn in range(1, turns + 1):
                record = {
                    "run": f"run-{run}",
                    "scenario": f"scenario-{run % 20}",
                    "turn": turn,
                    "quality": round(rng.random(), 3),
                    "context_tokens": 3000 + 850 * turn,
                    "output_tokens": rng.randrange(20, 400),
                    "action": f"search:q{rng.randrange(200)}",
                    "tool_error": rng.random() < 0.1,
                }
                out.write(encoder.encode(record) + b"\n")


def lengthened(value: Any) -> Any:
    """The same record with about a kilobyte more in every text of several words."""
    if isinstance(value, dict):
        return {key: lengthened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [lengthened(item) for item in value]
    if isinstance(value, str) and " " in value and not value.startswith(("{", "[")):
        return value + WORDS
    return value


def write_format(name: str, fixture: str, folder: Path) -> list[Path]:
    """Copies of a fixture with long texts, as files of their own folders."""
    lines = (FIXTURES / name / fixture).read_text(encoding="utf-8").splitlines()
    text = "".join(json.dumps(lengthened(json.loads(line))) + "\n" for line in lines)
    paths = []
    for copy in range(COPIES):
        path = folder / name / str(copy) / fixture
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def decode_with(loads: Callable[[bytes], object], paths: Sequence[Path]) -> int:
    """The least that any reader must do: decode every line."""
    n_lines = 0
    for path in paths:
        with path.open("rb") as lines:
            for line in lines:
                loads(line)
                n_lines += 1
    return n_lines


def fastest_decoding(paths: Sequence[Path]) -> Timing:
    """The quicker of two JSON libraries on these files."""
    decoder = msgspec.json.Decoder()
    timings = [
        cpu_seconds("msgspec", lambda: decode_with(decoder.decode, paths)),
        cpu_seconds("orjson", lambda: decode_with(orjson.loads, paths)),
    ]
    return min(timings, key=lambda timing: timing.median)


def drain(name: str, paths: Sequence[Path]) -> int:
    """Read files to runs, and keep none of them."""
    return sum(len(run.turns) for path in paths for run in READERS[name].read(path, lambda _: None))


def peak_of_reading(path: Path) -> float:
    """Peak memory in MB of a process of its own that goes through a file's runs."""
    code = (
        "import sys; from pathlib import Path; from timing import peak_megabytes\n"
        "from turncurve.readers import READERS\n"
        "for run in READERS['claude_code'].read(Path(sys.argv[1]), print): pass\n"
        "print(peak_megabytes())"
    )
    return float(printed_by("-c", code, path))


def bench_turns(folder: Path) -> None:
    """The `turns` format: by columns, with every signal, and how that grows."""
    small, large = folder / "small.jsonl", folder / "large.jsonl"
    write_turns(small, runs=500, turns=100)
    write_turns(large, runs=2_000, turns=100)
    limit = fastest_decoding([large])
    plain = READERS["turns"].read_plain
    assert plain is not None
    ours = cpu_seconds("turns: reading 200,000 turns", lambda: plain(large))
    print_ratio(ours, limit)
    whole = cpu_seconds("turns: read_table with all signals", lambda: read([large]))
    print_ratio(whole, limit)
    print_ratio(whole, cpu_seconds("a quarter of it", lambda: read([small])))
    print_ratio(ours, cpu_seconds("polars", lambda: polars.read_ndjson(large)))
    query = f"select * from read_json('{large}', format='newline_delimited')"
    print_ratio(ours, cpu_seconds("DuckDB", lambda: duckdb.sql(query).fetchnumpy()))


def bench_memory(folder: Path) -> None:
    """Many sessions in one file: four times the file, and the same memory."""
    lines = (FIXTURES / "claude_code/clear.jsonl").read_text(encoding="utf-8")
    sizes = []
    for copies in (5_000, 20_000):
        path = folder / f"{copies}.jsonl"
        with path.open("w", encoding="utf-8") as out:
            for copy in range(copies):
                for line in lines.splitlines():
                    record = lengthened(json.loads(line))
                    record["sessionId"] = f"{record.get('sessionId')}-{copy}"
                    out.write(json.dumps(record) + "\n")
        sizes.append((path.stat().st_size / 1e6, peak_of_reading(path)))
    (small, low), (large, high) = sizes
    print(f"claude_code sessions in a file of {small:.0f} MB: {low:.0f} MB of memory at most")
    print(f"in one of {large:.0f} MB: {high:.0f} MB; ratio {high / low:.2f}")


def bench_format(name: str, paths: Sequence[Path]) -> None:
    """One format: the reader, and the table with every signal, beside decoding."""
    limit = fastest_decoding(paths)
    print_ratio(cpu_seconds(f"{name}: reading", lambda: drain(name, paths)), limit)
    print_ratio(cpu_seconds(f"{name}: read_table", lambda: read_table(paths)), limit)


def holds_a_record_a_line(path: Path) -> bool:
    """Whether the first line decodes by itself, as printed objects do not."""
    with path.open("rb") as lines:
        try:
            msgspec.json.decode(next(lines, b""))
        except msgspec.DecodeError:
            return False
    return True


def bench_folder(folder: Path) -> None:
    """Real traces: the JSONL files of each format that are large enough to time."""
    by_format: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        name = explain(path).reader
        if name is not None and path.stat().st_size > LEAST_BYTES and holds_a_record_a_line(path):
            by_format.setdefault(name, []).append(path)
    for name, paths in by_format.items():
        bench_format(name, paths)


def main() -> None:
    """Print every ratio."""
    if len(sys.argv) > 1:
        bench_folder(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_turns(folder)
        for format_, fixture in FORMATS.items():
            bench_format(format_, write_format(format_, fixture, folder))
        bench_memory(folder)


if __name__ == "__main__":
    main()
