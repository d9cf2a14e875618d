"""Paths to a turn table: readers and observed signals put together."""

from turncurve.ingest.discover import Explanation, explain
from turncurve.ingest.file_reader import Input
from turncurve.ingest.importing import Imported, Importing, import_files
from turncurve.ingest.options import Progress, ReadOptions
from turncurve.ingest.reading import (
    Ingested,
    fetch_runs,
    iter_named_runs,
    iter_runs,
    read,
    read_table,
    table_from_runs,
)
from turncurve.ingest.stored import stored_signals

__all__ = [
    "Explanation",
    "Imported",
    "Importing",
    "Ingested",
    "Input",
    "Progress",
    "ReadOptions",
    "explain",
    "fetch_runs",
    "import_files",
    "iter_named_runs",
    "iter_runs",
    "read",
    "read_table",
    "stored_signals",
    "table_from_runs",
]
