"""Readers on fixtures whose values were swapped, dropped or blown up: told, never raised."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from readers.inspect_logs import call, event, log, sample, span, tool_event, write_eval, write_json
from turncurve.errors import ReadError
from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Run
from turncurve.readers import READERS

DATA = Path(__file__).resolve().parents[1] / "data"
INPUTS = int(os.environ.get("TURNCURVE_FUZZ", "500"))
"""Inputs a reader: 500, or 10,000 from another seed each day in `make nightly`."""
SEED = int(os.environ.get("TURNCURVE_FUZZ_SEED", "20260301"))
SECONDS = 5
"""More processor time than one mutated fixture may take: each is some kilobytes."""


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


ODD: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.choice([None, True, False, "", " ", "x", "\ud800", "\x00", "2024-13-45"]),
    lambda rng: rng.choice([0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**18, 10**30, 10**400]),
    lambda rng: rng.choice([0.5, -0.0, 1e300, -1e300, 1e18, 5e-324]),
    lambda rng: rng.choice([[], {}, [[]], [None], [1, "a"], {"a": 1}, {"": None}, {"text": 3}]),
    lambda rng: nested(rng.choice([70, 250])),
    lambda rng: "9" * rng.choice([1, 25, 5000]),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a parsed structure."""
    inner = list(enumerate(value)) if isinstance(value, list) else list(value.items())
    for key, one in inner:
        yield value, key
        if isinstance(one, dict | list):
            yield from places(one)


def mutated(rng: random.Random, document: Any) -> Any:
    """A copy with up to three places dropped, doubled, put elsewhere, or made something odd."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2, 3])):
        known = list(places(document))
        if not known:
            break
        container, key = rng.choice(known)
        other, at = rng.choice(known)
        way = rng.random()
        if way < 0.15:
            del container[key]
        elif way < 0.3:
            container[key] = deepcopy(other[at])
        elif way < 0.35 and isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        else:
            container[key] = rng.choice(ODD)(rng)
    return document


class Survivors:
    """Reads files, whose problems must all be told, and lays out their runs in one table."""

    def __init__(self, name: str) -> None:
        self.reader = READERS[name]
        self.runs: list[Run] = []
        self.n_problems = 0

    def read(self, path: Path, number: int) -> None:
        problems: list[ReadError] = []
        started = time.process_time()
        try:
            runs = list(self.reader.read(path, problems.append))
        except Exception as problem:
            content = path.read_bytes()[:3000]
            raise AssertionError(f"input {number} raised {problem!r}: {content!r}") from problem
        assert time.process_time() - started < SECONDS, f"input {number}"
        assert all(str(problem).startswith(str(path.parent)) for problem in problems)
        self.n_problems += len(problems)
        self.runs += [replace(run, path=f"input {number}") for run in runs]

    def fit_a_table(self) -> None:
        assert self.n_problems > 20
        assert len(self.runs) > 20
        unfit: list[ReadError] = []
        table_from_runs(self.runs, options=ReadOptions(prices=False), on_problem=unfit.append)
        assert unfit == []


def json_records(path: Path) -> list[Any] | None:
    """The records of a JSON fixture, one for a document; None for another kind of file."""
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in path.read_text().splitlines()]
        return [json.loads(path.read_text())]
    except ValueError:
        return None


@pytest.mark.parametrize("name", [name for name in READERS if name != "inspect"])
def test_no_json_breaks_a_reader(name: str, tmp_path: Path) -> None:
    """Fixtures with swapped types, lost keys, nulls, huge and nested values raise nothing."""
    rng = random.Random(SEED)
    shutil.copytree(DATA / name, tmp_path / "in")
    files = sorted(path for path in (DATA / name).rglob("*") if path.is_file())
    fixtures = [(p, records) for p in files if (records := json_records(p)) is not None]
    survivors = Survivors(name)
    for number in range(INPUTS):
        path, records = rng.choice(fixtures)
        target = tmp_path / "in" / path.relative_to(DATA / name)
        target.write_text("\n".join(json.dumps(record) for record in mutated(rng, records)))
        survivors.read(target, number)
        shutil.copyfile(path, target)
    survivors.fit_a_table()


BYTES = [
    b"",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"\n",
    b"\r",
    b",",
    b"null",
]


def spoilt_bytes(rng: random.Random, content: bytes) -> bytes:
    """The content cut, with bytes flipped or replaced, or with lines doubled, dropped or moved."""
    way = rng.randrange(5)
    if way == 0:
        return content[: rng.randrange(len(content) + 1)]
    if way == 1:
        spoilt = bytearray(content)
        for _ in range(rng.choice([1, 2, 8])):
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
        return bytes(spoilt)
    if way == 2:
        at, length = rng.randrange(len(content)), rng.choice([0, 1, 40])
        return content[:at] + rng.choice(BYTES) * rng.choice([1, 300]) + content[at + length :]
    lines = content.splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    if way == 3:
        lines[at : at + 1] = [lines[at]] * rng.choice([0, 2])
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return b"".join(lines)


@pytest.mark.parametrize("name", READERS.names())
def test_no_bytes_break_a_reader(name: str, tmp_path: Path) -> None:
    """Fixtures cut, flipped, spliced and shuffled raise nothing and use no memory to speak of."""
    rng = random.Random(SEED + 4)
    shutil.copytree(DATA / name, tmp_path / "in")
    fixtures = sorted(path for path in (DATA / name).rglob("*") if path.is_file())
    reader, told = READERS[name], list[ReadError]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(INPUTS if name != "inspect" else INPUTS // 8):
        path = rng.choice(fixtures)
        target = tmp_path / "in" / path.relative_to(DATA / name)
        target.write_bytes(spoilt_bytes(rng, path.read_bytes()))
        started = time.process_time()
        try:
            for run in reader.read(target, told.append):
                assert run.format == name
        except Exception as problem:
            content = target.read_bytes()[:3000]
            raise AssertionError(f"input {number} raised {problem!r}: {content!r}") from problem
        assert time.process_time() - started < SECONDS, f"input {number}"
        shutil.copyfile(path, target)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300_000, "kilobytes"


INDEPENDENT = {
    "lost_in_conversation": "sharded.jsonl",
    "mt_bench": "judgments.jsonl",
    "atif": "two.jsonl",
    "openhands": "output.jsonl",
    "graded": "demo.jsonl",
    "tau_bench": "bookings.json",
}
"""Formats whose records are runs, or parts of runs that do not need each other."""


@pytest.mark.parametrize("name", INDEPENDENT)
def test_a_spoilt_record_is_told_and_costs_no_other(name: str, tmp_path: Path) -> None:
    """Of independent records, one that is garbled is a problem; every other is read as before."""
    path = DATA / name / INDEPENDENT[name]
    text = path.read_text(encoding="utf-8")
    records = (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else json.loads(text)
    )
    expected = turns_by_run(name, records, tmp_path, [])
    for spoilt in range(len(records)):
        told: list[ReadError] = []
        found = turns_by_run(
            name, [r if i != spoilt else 7 for i, r in enumerate(records)], tmp_path, told
        )
        assert len([problem for problem in told if not problem.kept]) == 1
        lost = sum(len(turns) for turns in expected.values()) - sum(map(len, found.values()))
        assert lost >= 0
        changed = [run for run, turns in expected.items() if found.get(run) != turns]
        assert len(changed) <= 1


def turns_by_run(
    name: str, records: list[Any], folder: Path, told: list[ReadError]
) -> dict[str, list[str]]:
    target = folder / f"records-{name}.jsonl"
    target.write_text("".join(json.dumps(record) + "\n" for record in records))
    return {
        run.id: [f"{turn.index} {turn.text}" for turn in run.turns]
        for run in READERS[name].read(target, told.append)
    }


def test_no_csv_breaks_its_reader(tmp_path: Path) -> None:
    """CSV tables with bytes dropped, doubled and replaced raise nothing."""
    rng = random.Random(SEED + 1)
    content = (DATA / "turns" / "runs.csv").read_bytes()[:1500]
    pieces = [b'"', b",", b"\n", b"\r", b"\x00", b"\xff", b"9" * 400, b"1e999", b";", b"|", b"\t"]
    survivors = Survivors("turns")
    for number in range(INPUTS):
        spoilt = bytearray(content)
        for _ in range(rng.choice([1, 2, 5])):
            at = rng.randrange(len(spoilt))
            spoilt[at : at + rng.choice([0, 1, 1, 30])] = rng.choice(pieces)
        path = tmp_path / "t.csv"
        path.write_bytes(spoilt)
        survivors.read(path, number)
    survivors.fit_a_table()


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COLUMNS: list[Callable[[int], pa.Array]] = [
    lambda n: pa.array([b"\xff\x00"] * n, pa.binary()),
    lambda n: pa.array([b"words"] * n, pa.large_binary()),
    lambda n: pa.array([b"\xff"] * n, pa.binary()).view(pa.string()),
    lambda n: pa.array([2**62] * n, pa.timestamp("ms", tz="UTC")),
    lambda n: pa.array([-(2**62)] * n, pa.timestamp("us")),
    lambda n: pa.array([1_700_000_000_123_456_789] * n, pa.timestamp("ns")),
    lambda n: pa.array([20_000] * n, pa.date32()),
    lambda n: pa.array([1_500] * n, pa.time64("ns")),
    lambda n: pa.array([1_500] * n, pa.duration("ns")),
    lambda n: pa.array([Decimal("1.50")] * n),
    lambda n: pa.array([Decimal(10) ** 60] * n, pa.decimal256(70, 0)),
    lambda n: pa.array(["7", "x", None, "1e999", ""][:n] + ["2"] * (n - 5)),
    lambda n: pa.array([{"a": [b"\xff"], "b": EPOCH + timedelta(days=1)}] * n),
    lambda n: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
    lambda n: pa.array(["a", "b", "a", None, "a"][:n] + ["c"] * (n - 5)).dictionary_encode(),
    lambda n: pa.array([float("nan")] * n, pa.float32()),
    lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    lambda n: pa.nulls(n),
    lambda n: pa.array([True] * n),
]


def test_no_parquet_breaks_its_reader(tmp_path: Path) -> None:
    """Parquet tables with one or two columns of another type raise nothing."""
    rng = random.Random(SEED + 2)
    table = pq.read_table(DATA / "turns" / "runs.parquet").slice(0, 12)
    survivors = Survivors("turns")
    for number in range(INPUTS):
        odd = table
        for _ in range(rng.choice([1, 2])):
            at = rng.randrange(odd.num_columns)
            odd = odd.set_column(at, odd.column_names[at], rng.choice(COLUMNS)(odd.num_rows))
        path = tmp_path / "t.parquet"
        pq.write_table(odd, path)
        survivors.read(path, number)
    survivors.fit_a_table()


def inspect_log() -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    first = sample(
        span("agent", "agent"),
        call("one", tools=["lookup"], usage=usage, span_id="agent"),
        tool_event("lookup", "found", span_id="agent"),
        event("compaction", type="summary", tokens_before=9, tokens_after=3),
        call("two", usage=usage, span_id="agent"),
        event("sample_limit", type="message", message="too long"),
        scores={"match": {"value": 1, "metadata": {"steps": [{"validity": "pass"}]}}},
    )
    return log(first, sample(call("three"), id="s2"))


@pytest.mark.parametrize("write", [write_eval, write_json])
def test_no_log_breaks_the_inspect_reader(
    write: Callable[[Path, dict[str, Any]], Path], tmp_path: Path
) -> None:
    """Logs with mutated samples and headers, as archive and as document, raise nothing."""
    rng = random.Random(SEED + 3)
    document, survivors = inspect_log(), Survivors("inspect")
    for number in range(INPUTS // 8):
        odd = mutated(rng, document)
        samples = odd.get("samples")
        if not isinstance(samples, list):
            samples = []
        if write is write_eval:
            odd["samples"] = [
                {**(one if isinstance(one, dict) else {}), "id": f"s{n}", "epoch": 1}
                for n, one in enumerate(samples)
            ]
            odd.setdefault("eval", None)
        survivors.read(write(tmp_path, odd), number)
    survivors.fit_a_table()
