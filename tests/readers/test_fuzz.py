"""Readers on spoilt fixtures and made-up documents: what they cannot read is told, not raised."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from readers.inspect_logs import call, event, log, sample, span, tool_event, write_eval, write_json
from readers.spoiling import HungError, at_most, json_records, mutated, places, spoilt_bytes
from readers.test_contract import fixtures
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


class Survivors:
    """Reads files, whose problems must all be told, and lays out their runs in one table."""

    def __init__(self, name: str) -> None:
        self.reader = READERS[name]
        self.runs: list[Run] = []
        self.n_problems = 0

    def read(self, path: Path, number: int) -> None:
        problems: list[ReadError] = []
        try:
            with at_most(SECONDS):
                runs = list(self.reader.read(path, problems.append))
        except (Exception, HungError) as problem:
            content = path.read_bytes()[:3000]
            raise AssertionError(f"input {number} raised {problem!r}: {content!r}") from problem
        assert all(str(problem).startswith(str(path.parent)) for problem in problems)
        self.n_problems += len(problems)
        self.runs += [replace(run, path=f"input {number}") for run in runs]

    def fit_a_table(self) -> None:
        assert self.n_problems > 20
        assert len(self.runs) > 20
        unfit: list[ReadError] = []
        table_from_runs(self.runs, options=ReadOptions(prices=False), on_problem=unfit.append)
        assert unfit == []


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
        try:
            with at_most(SECONDS):
                for run in reader.read(target, told.append):
                    assert run.format == name
        except (Exception, HungError) as problem:
            content = target.read_bytes()[:3000]
            raise AssertionError(f"input {number} raised {problem!r}: {content!r}") from problem
        shutil.copyfile(path, target)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300_000, "kilobytes"


def names_in(value: Any) -> set[str]:
    """Every key of a parsed structure."""
    return {key for container, key in places(value) if isinstance(container, dict)}


def documents(names: list[str]) -> st.SearchStrategy[Any]:
    """Values of JSON whose objects have a format's own keys."""
    leaves = (
        st.none()
        | st.booleans()
        | st.integers(-2, 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=8)
        | st.sampled_from(names)
        | st.sampled_from(["user", "assistant", "agent", "tool", "text", "2026-01-01T00:00:00Z"])
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(names), inner, max_size=6)
        ),
        max_leaves=25,
    )


@pytest.mark.parametrize("name", [name for name in READERS if name != "inspect"])
def test_no_document_of_the_same_keys_breaks_a_reader(name: str, tmp_path: Path) -> None:
    """Whatever stands under a format's keys, in one document or many lines, raises nothing."""
    found = [json_records(path) for path in fixtures(name)]
    names = sorted(set().union(*(names_in(records) for records in found if records)))
    reader, path = READERS[name], tmp_path / "one.json"

    @settings(max_examples=max(INPUTS // 5, 50), deadline=None, database=None)
    @seed(SEED)
    @given(st.lists(documents(names), min_size=1, max_size=4), st.booleans())
    def holds(records: list[Any], as_lines: bool) -> None:  # noqa: FBT001 - drawn
        texts = [json.dumps(record) for record in records]
        path.write_text("\n".join(texts) if as_lines else json.dumps(records))
        told: list[ReadError] = []
        with at_most(SECONDS):
            runs = list(reader.read(path, told.append))
        unfit: list[ReadError] = []
        table_from_runs(runs, options=ReadOptions(prices=False), on_problem=unfit.append)
        assert unfit == []

    holds()


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
