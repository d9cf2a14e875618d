"""All derived signals over 2,000,000 turns of a store, beside decoding it, DuckDB and polars.

The peers give the same signals but the spiral mark, which takes an exact permutation distribution a
run and has no form in a query; their values are compared with ours before anything is timed. A
second part streams 60,000,000 turns and prints the peak of memory (`--skip-large` leaves it out).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from made_up_turns import made_up_turns
from numpy.typing import NDArray
from timing import cpu_seconds, peak_megabytes, print_ratio, printed_by

from turncurve.signals import SIGNALS, compute_derived
from turncurve.table import TurnTable
from turncurve.table.parquet import FILES, TableReader, TableWriter

GROUPS, RUNS, TURNS = 32, 1250, 50
"""Row groups, runs in each, turns of each run: 2,000,000 turns."""
PASSES = 30
"""Times over the same parts: 60,000,000 turns."""
PEERS_HAVE = tuple(name for name in SIGNALS if SIGNALS[name].derive and name != "spiral")


def write_store(folder: Path) -> None:
    """Row groups as an import writes them, and the same rows numbered through for the peers."""
    first = made_up_turns(RUNS, TURNS, seed=0)
    writer = TableWriter(folder, list(first.columns))
    calls, turns = [], []
    for number in range(GROUPS):
        table = made_up_turns(RUNS, TURNS, seed=number)
        writer.write(table)
        calls.append(_numbered_calls(table, number))
        turns.append(_numbered_turns(table, number))
    writer.close()
    for name, parts in (("peer-calls", calls), ("peer-turns", turns)):
        pq.write_table(
            pa.concat_tables(parts), folder / f"{name}.parquet", compression="zstd",
            compression_level=3, row_group_size=1 << 17,
        )  # fmt: skip


def _numbered_turns(table: TurnTable, number: int) -> pa.Table:
    n = len(table.turn)
    needed = ("n_tool_errors", "n_tool_results_known", "phase_explore")
    return pa.table(
        {"row": np.arange(n) + number * n, **{name: table.columns[name] for name in needed}}
    )


def _numbered_calls(table: TurnTable, number: int) -> pa.Table:
    calls = table.calls
    return pa.table(
        {
            "run": table.run[calls.row] + number * RUNS,
            "row": calls.row + number * len(table.turn),
            "turn": table.turn[calls.row],
            "pos": np.arange(len(calls.row)) + number * 10_000_000,
            "key": calls.key,
            "result_key": calls.result_key,
            "transient": calls.transient,
        }
    )


def reader(folder: Path) -> TableReader:
    """The store's row groups."""
    info = {name: SIGNALS[name].info for name in SIGNALS if SIGNALS[name].observe}
    return TableReader(folder, info)


def decode(folder: Path) -> int:
    """The least that any pass must do: decode every column of every row group."""
    n = 0
    for name in FILES:
        file = pq.ParquetFile(folder / f"{name}.parquet", memory_map=True)
        n += sum(file.read_row_group(i).num_rows for i in range(file.num_row_groups))
    return n


def ours(folder: Path) -> Iterator[TurnTable]:
    """Every signal of every turn, one row group at a time."""
    return (compute_derived(table) for table in reader(folder).tables())


def count(tables: Iterator[TurnTable]) -> int:
    """Turns, with all signals worked out."""
    return sum(len(table.turn) for table in tables)


DUCKDB = """
with a as (
  select *, lag(turn) over same as turn_before, lag(transient) over same as transient_before
  from '{calls}' window same as (partition by run, key order by pos)
), b as (
  select *, coalesce(transient_before and turn - turn_before <= 2, false) as retried from a
), c as (
  select *, row_number() over (partition by run order by pos) as n,
    row_number() over (partition by run, key order by pos) > 1 as seen,
    lag(key) over (partition by run order by pos) = key as in_a_row,
    result_key <> 0 and row_number() over (partition by run, result_key order by pos) > 1
      as seen_result,
    count(distinct key) over (
      partition by run order by pos rows between 9 preceding and current row) as kinds
  from b where not retried
), kept as (
  select row, count(*) as n_actions_counted, count(*) filter (result_key <> 0) as n_with,
    count(*) filter (seen) as n_seen, count(*) filter (in_a_row) as n_in_a_row,
    count(*) filter (seen_result) as n_seen_result,
    arg_max((least(n, 10) - kinds) / least(n, 10), pos) as window_share
  from c group by row
), every as (
  select row, count(*) as n_actions, count(*) filter (retried) as n_retried from b group by row
)
select t.row, n_tool_errors / nullif(n_tool_results_known, 0) as tool_error_rate,
  1 - n_tool_errors / nullif(n_tool_results_known, 0) as tool_success,
  case when n_tool_results_known > 0 then (n_tool_errors > 0)::double end as tool_error,
  case when not isnan(phase_explore) then 1.0 end as phase_known,
  n_actions, n_retried / n_actions as retry, n_actions_counted,
  nullif(n_with, 0) as n_actions_with_result, n_seen / n_actions_counted as repeated_action,
  n_in_a_row / n_actions_counted as repeated_action_consecutive,
  n_seen_result / nullif(n_with, 0) as repeated_result, window_share as repeated_action_window
from '{turns}' t left join every using (row) left join kept using (row)
order by t.row
"""


def in_duckdb(folder: Path) -> dict[str, NDArray[np.float64]]:
    """The same signals as one query of window functions."""
    query = DUCKDB.format(calls=folder / "peer-calls.parquet", turns=folder / "peer-turns.parquet")
    found = duckdb.connect().sql(query).to_arrow_table()
    return {name: _floats(found.column(name)) for name in PEERS_HAVE}


def in_polars(folder: Path) -> dict[str, NDArray[np.float64]]:
    """The same signals as one lazy query."""
    col, before = pl.col, pl.col("n").shift(1).over("run", "key")
    calls = pl.scan_parquet(folder / "peer-calls.parquet").with_columns(
        (
            col("transient").shift(1).over("run", "key")
            & (col("turn") - col("turn").shift(1).over("run", "key") <= 2)
        )
        .fill_null(value=False)
        .alias("retried")
    )
    kept = calls.filter(~col("retried")).with_columns(
        pl.int_range(1, pl.len() + 1).over("run").alias("n")
    )
    kept = kept.with_columns(
        before.alias("before"),
        (col("result_key") != 0).alias("told"),
        (pl.int_range(pl.len()).over("run", "result_key") > 0).alias("seen_result"),
    )
    repeats = pl.sum_horizontal(
        (col("before").shift(lag).over("run") >= pl.max_horizontal(col("n") - 9, 1)).fill_null(
            value=False
        )
        for lag in range(10)
    )
    kept = kept.with_columns((repeats / pl.min_horizontal("n", 10)).alias("share"))
    n_with = col("told").sum()
    by_turn = kept.group_by("row").agg(
        pl.len().alias("n_actions_counted"),
        pl.when(n_with > 0).then(n_with).alias("n_actions_with_result"),
        (col("before").is_not_null().sum() / pl.len()).alias("repeated_action"),
        ((col("n") - col("before") == 1).sum() / pl.len()).alias("repeated_action_consecutive"),
        pl.when(n_with > 0)
        .then((col("seen_result") & col("told")).sum() / n_with)
        .alias("repeated_result"),
        col("share").last().alias("repeated_action_window"),
    )
    every = calls.group_by("row").agg(
        pl.len().alias("n_actions"), (col("retried").sum() / pl.len()).alias("retry")
    )
    known = col("n_tool_results_known") > 0
    rate = pl.when(known).then(col("n_tool_errors") / col("n_tool_results_known"))
    turns = pl.scan_parquet(folder / "peer-turns.parquet").select(
        "row",
        rate.alias("tool_error_rate"),
        (1 - rate).alias("tool_success"),
        pl.when(col("phase_explore").is_not_nan()).then(1.0).alias("phase_known"),
        pl.when(known).then((col("n_tool_errors") > 0).cast(pl.Float64)).alias("tool_error"),
    )
    joined = turns.join(every, on="row", how="left").join(by_turn, on="row", how="left")
    found = joined.sort("row").collect()
    return {name: _floats(found[name].to_arrow()) for name in PEERS_HAVE}


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def check(folder: Path) -> None:
    """Stop if a peer's values are not ours."""
    tables = list(ours(folder))
    for peer, query in (("DuckDB", in_duckdb), ("polars", in_polars)):
        theirs = query(folder)
        for name in PEERS_HAVE:
            own = np.concatenate([table.columns[name] for table in tables])
            np.testing.assert_allclose(theirs[name], own, rtol=1e-12, err_msg=f"{peer}: {name}")
    print(f"the peers' {len(PEERS_HAVE)} signals are ours; they lack the spiral mark")


def main() -> None:
    """Print the ratios to decoding and to the peers, then the large pass."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_store(folder)
        check(folder)
        limit = cpu_seconds("decoding the same Parquet", lambda: decode(folder))
        all_signals = cpu_seconds("all signals, 2,000,000 turns", lambda: count(ours(folder)))
        print_ratio(all_signals, limit)
        for title, query in (("DuckDB", in_duckdb), ("polars", in_polars)):
            print_ratio(all_signals, cpu_seconds(title, lambda query=query: query(folder)))
        if "--skip-large" not in sys.argv:
            print(printed_by(__file__, "--large", name), end="")


def large(folder: Path) -> None:
    """60,000,000 turns with every signal, in a process that held nothing of the peers."""
    before = peak_megabytes()
    n = sum(count(ours(folder)) for _ in range(PASSES))
    after = peak_megabytes()
    print(f"{n:,} turns with every signal: peak {after:.0f} MB (before it: {before:.0f} MB)")


if __name__ == "__main__":
    if "--large" in sys.argv:
        large(Path(sys.argv[-1]))
    else:
        main()
