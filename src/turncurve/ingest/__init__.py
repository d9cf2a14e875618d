"""Paths to a turn table: readers and observed signals put together."""

from turncurve.ingest.discover import Explanation, explain
from turncurve.ingest.options import Progress, ReadOptions
from turncurve.ingest.reading import (
    Ingested,
    Input,
    fetch_runs,
    iter_runs,
    read,
    read_table,
    table_from_runs,
)

__all__ = [
    "Explanation",
    "Ingested",
    "Input",
    "Progress",
    "ReadOptions",
    "explain",
    "fetch_runs",
    "iter_runs",
    "read",
    "read_table",
    "table_from_runs",
]
