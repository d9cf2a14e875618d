"""Session files of one record a line, taken apart and written anew for a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The records of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_lines(path: Path, lines: list[Any]) -> Path:
    """Write records to a file, one a line."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
