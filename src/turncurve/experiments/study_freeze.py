"""A study is frozen before its first trial: what it says and all that it depends on, by hash."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from turncurve.errors import StudyError
from turncurve.experiments.stage_study import StageStudy
from turncurve.experiments.stage_study_file import load_study
from turncurve.experiments.study_files import study_files

MOST_NAMED = 5
"""Files that have changed, at most, that a message names."""


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """What a study was when it was frozen.

    Attributes:
        name: The study's name.
        version: Its version.
        digest: SHA-256 of all of it; results name it.
        at: When it was frozen, in UTC.
        files: Digest of each file that it depends on, by path from its folder.
    """

    name: str
    version: int
    digest: str
    at: str
    files: dict[str, str]


def frozen_file(path: Path) -> Path:
    """Where it stands what the study of a file was when it was frozen."""
    return path.with_suffix(".frozen.json")


def freeze(path: Path) -> Frozen:
    """Freeze the study of a file; one that is frozen as it stands stays so.

    Raises:
        StudyError: It does not say what it should; or it has changed since it was frozen, and
            its version has not counted up.
    """
    study = load_study(path)
    now = _frozen(path, study)
    before = _read(frozen_file(path))
    if before is not None:
        if before.digest == now.digest:
            return before
        if study.version <= before.version:
            raise StudyError(
                f"{path}: version {before.version} is frozen, and {_changes(before, now)}; count "
                "its version up to freeze it anew"
            )
    text = msgspec.json.format(msgspec.json.encode(now), indent=2)
    frozen_file(path).write_bytes(text + b"\n")
    return now


def frozen_study(path: Path) -> tuple[StageStudy, Frozen]:
    """The study of a file that is as it was when it was frozen.

    Raises:
        StudyError: It does not say what it should, was not frozen, or has changed since.
    """
    study = load_study(path)
    before = _read(frozen_file(path))
    if before is None:
        raise StudyError(f"{path}: not frozen yet; freeze it first: turncurve residual freeze")
    now = _frozen(path, study)
    if now.digest != before.digest:
        raise StudyError(
            f"{path}: {_changes(before, now)} since it was frozen; put it back, or count its "
            "version up and freeze it anew"
        )
    return study, before


def _frozen(path: Path, study: StageStudy) -> Frozen:
    files = study_files(path, study)
    text = json.dumps([study.name, study.version, files], sort_keys=True)
    return Frozen(
        name=study.name,
        version=study.version,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        files=files,
    )


def _read(path: Path) -> Frozen | None:
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Frozen)
    except (OSError, msgspec.DecodeError) as problem:
        raise StudyError(f"{path}: not what turncurve residual freeze writes: {problem}") from (
            problem
        )


def _changes(before: Frozen, now: Frozen) -> str:
    changed = sorted(
        name
        for name in before.files.keys() | now.files.keys()
        if before.files.get(name) != now.files.get(name)
    )
    more = len(changed) - MOST_NAMED
    named = ", ".join(changed[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return f"{named} changed" if changed else "its name or version changed"
