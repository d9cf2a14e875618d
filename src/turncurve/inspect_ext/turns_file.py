"""Files beside a log for what is too long for a score's metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from turncurve.model import Run

HIDDEN = ".turncurve"
"""The folder's name beside a log: hidden, so that no command takes its files for traces."""


class TurnsFolder:
    """A folder that holds one JSON file a run.

    Args:
        path: The folder; None is `.turncurve` beside the log that is being written, if it is known
            and on this machine.
    """

    def __init__(self, path: Path | None) -> None:
        self._given = path

    def put(self, run: Run, record: Mapping[str, Any]) -> dict[str, str]:
        """Write a run's record; gives what to say of it in the score's metadata.

        The file is named after a hash of the run, so that no name in a log becomes a path.
        """
        folder = self._given or beside_log()
        if folder is None:
            return {
                "turns_left_out": "the run is long and its log's folder is not known; name one "
                "with -S turns_dir=FOLDER"
            }
        content = json.dumps({"run": run.id, "record": run.record, **record}, allow_nan=False)
        name = hashlib.sha256(f"{run.id}\0{run.turns[0].started_at}".encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"turns-{name}.json"
        scratch = target.with_suffix(".part")
        scratch.write_text(content, encoding="utf-8")
        scratch.replace(target)
        return {
            "turns_file": f"{folder.name}/{target.name}",
            "turns_sha256": hashlib.sha256(content.encode()).hexdigest(),
        }


def beside_log() -> Path | None:
    """The folder for such files beside the log of the sample that is running; None if unknown."""
    # Inspect has no public way to ask for it.
    from inspect_ai.log._samples import sample_active  # noqa: PLC0415

    active = sample_active()
    if active is None or not active.log_location:
        return None
    place = urlparse(active.log_location)
    if place.scheme not in ("", "file"):
        return None
    return Path(unquote(place.path)).parent / HIDDEN
