"""The files that a study depends on, and digests of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turncurve.errors import StudyError
from turncurve.experiments.stage_study import PARTS, StageStudy

IGNORED = frozenset({"__pycache__", ".git"})
"""Folders that are no part of a state."""
HERE = "{study}/"
"""How a word of a command names a file beside the study."""


def study_files(path: Path, study: StageStudy) -> dict[str, str]:
    """Digest of each file that the study depends on, by its path from the study's folder.

    Args:
        path: The study's file.
        study: What it says.

    Raises:
        StudyError: A file that it names is not there.
    """
    found: dict[str, str] = {path.name: file_digest(path)}
    for one in _named(study):
        for file in sorted(_within(one)):
            found[_from(study.folder, file)] = file_digest(file)
    return dict(sorted(found.items()))


def conditions(study: StageStudy) -> dict[str, str]:
    """Digest of each part of the agent's configuration, as it is now; and of the agent itself.

    Raises:
        StudyError: A file that it names is not there.
    """
    agent = study.agent
    words = [agent.kind, *agent.command, agent.target, agent.model, *agent.compress]
    parts = {part: agent.configuration[part] for part in PARTS} | {"agent": words}
    files = {_from(study.folder, file): file_digest(file) for file in _own_files(study)}
    return {
        part: _digest([_resolved(value, study.folder), files if part == "agent" else None])
        for part, value in parts.items()
    }


def file_digest(path: Path) -> str:
    """SHA-256 of a file.

    Raises:
        StudyError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise StudyError(f"{path}: cannot be read: {problem.strerror}") from problem


def target_file(target: str, folder: Path) -> tuple[Path, str]:
    """File and name of a target `FILE.py@NAME`.

    Raises:
        StudyError: It is written in another way, or there is no such file.
    """
    file, at, name = target.rpartition("@")
    path = folder / file
    if not at or not name.isidentifier() or not path.is_file():
        raise StudyError(f"{target!r}: wanted FILE.py@NAME with a file from {folder}")
    return path, name


def _named(study: StageStudy) -> Iterator[Path]:
    yield from _agent_files(study)
    for task in study.tasks:
        if task.workspace is not None:
            yield task.workspace
        for stage in task.stages:
            yield from _of_words(stage.accept.command, study.folder)
            if stage.accept.target is not None:
                yield target_file(stage.accept.target, study.folder)[0]
            if stage.accept.schema is not None:
                yield stage.accept.schema
            if stage.reference is not None:
                yield from filter(None, (stage.reference.folder, stage.reference.history))


def _own_files(study: StageStudy) -> Iterator[Path]:
    agent = study.agent
    yield from _of_words((*agent.command, *agent.compress), study.folder)
    if agent.target is not None:
        yield target_file(agent.target, study.folder)[0]


def _agent_files(study: StageStudy) -> Iterator[Path]:
    yield from _own_files(study)
    for value in study.agent.configuration.values():
        if _is_file(value):
            yield study.folder / value["file"]


def _of_words(words: tuple[str, ...], folder: Path) -> Iterator[Path]:
    for word in words:
        if word.startswith(HERE):
            yield folder / word.removeprefix(HERE)


def _within(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = sorted(set(names) - IGNORED)
        yield from (Path(folder, name) for name in files)


def _from(folder: Path, file: Path) -> str:
    try:
        return file.relative_to(folder).as_posix()
    except ValueError:
        return file.as_posix()


def _is_file(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) == {"file"} and isinstance(value["file"], str)


def _resolved(value: Any, folder: Path) -> Any:
    return {"file": file_digest(folder / value["file"])} if _is_file(value) else value


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
