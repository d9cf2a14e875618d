"""The `.eval` archive: which of its members may be opened, and by whom they are named."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.readers.base import OnProblem

SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)\.json", re.DOTALL)
RECOVER = "`inspect log recover` may rebuild the log of an evaluation that was killed"
HEADERS = ("header.json", "_journal/start.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """How much an archive may hold, by its own directory, before any of it is unpacked.

    Attributes:
        members: Number of members.
        total: Unpacked bytes of all members together.
        member: Unpacked bytes of one member, which is what is held in memory.
        ratio: Unpacked bytes for each packed byte, in members of `ratio_from` bytes and more.
        ratio_from: Unpacked bytes below which any ratio is let pass.
    """

    members: int = 500_000
    total: int = 1 << 38
    member: int = 1 << 31
    ratio: int = 400
    ratio_from: int = 1 << 26


ARCHIVE_LIMITS = ArchiveLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMember:
    """One sample of one epoch, as a member of the archive; `size` in unpacked bytes."""

    name: str
    sample_id: str
    epoch: int
    size: int


def opened(path: Path, archive: Path) -> zipfile.ZipFile:
    """Open an archive for its directory; none of its members is unpacked.

    Args:
        path: The file that the user named, for errors.
        archive: The archive itself.

    Raises:
        ReadError: It has no directory, as one that broke off while it was written.
    """
    try:
        return zipfile.ZipFile(archive)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
        raise ReadError(path, f"wanted a whole zip archive: {problem}", fix=RECOVER) from problem


def sample_members(
    path: Path,
    archive: zipfile.ZipFile,
    on_problem: OnProblem,
    *,
    limits: ArchiveLimits = ARCHIVE_LIMITS,
) -> Iterator[SampleMember]:
    """Give the samples of an archive, without unpacking any.

    A member that has an unsafe name or passes a limit goes to `on_problem`.

    Raises:
        ReadError: The archive has too many members, too many bytes, or no header.
    """
    infos = _directory(path, archive, limits)
    if not any(name in infos for name in HEADERS):
        raise ReadError(
            path,
            f"wanted an Inspect log with a member {' or '.join(HEADERS)}, got neither",
            fix=RECOVER,
        )
    for name, info in infos.items():
        match = SAMPLE.fullmatch(name)
        unsafe = _unsafe(info, limits)
        if unsafe:
            on_problem(ReadError(path, unsafe, record=name))
            if name in HEADERS:
                raise ReadError(path, "its header must not be opened", record=name)
        elif match:
            sample_id, epoch = match["id"], int(match["epoch"])
            yield SampleMember(name=name, sample_id=sample_id, epoch=epoch, size=info.file_size)


def check_member(archive: zipfile.ZipFile, name: str) -> str | None:
    """Unpack a member to nowhere, to see that it holds what the directory says.

    Returns:
        What is wrong: it is damaged, or longer than the directory says. None if nothing is.
    """
    try:
        with archive.open(name) as member:
            while member.read(1 << 20):
                pass
    except Exception as problem:  # noqa: BLE001 - each compression raises errors of its own
        return f"the member cannot be unpacked: {problem}"
    return None


def batches(members: Iterable[SampleMember], size: int = 1 << 23) -> Iterator[list[SampleMember]]:
    """Members in order, together while they unpack to `size` bytes at most; never none."""
    batch, held = list[SampleMember](), 0
    for member in members:
        if batch and held + member.size > size:
            yield batch
            batch, held = [], 0
        batch.append(member)
        held += member.size
    if batch:
        yield batch


@contextmanager
def excerpt(archive: zipfile.ZipFile, members: Iterable[SampleMember]) -> Iterator[Path]:
    """An archive of some members alone, to be opened often: each time costs its own directory."""
    with tempfile.NamedTemporaryFile(suffix=".eval") as file:
        with zipfile.ZipFile(file, "w") as small:
            for member in members:
                small.writestr(member.name, archive.read(member.name))
        file.flush()
        yield Path(file.name)


def _directory(
    path: Path, archive: zipfile.ZipFile, limits: ArchiveLimits
) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > limits.members:
        raise ReadError(path, f"wanted at most {limits.members:,} members, got {len(infos):,}")
    total = sum(info.file_size for info in infos)
    if total > limits.total:
        raise ReadError(path, f"wanted at most {limits.total:,} unpacked bytes, got {total:,}")
    # Of members under one name the last counts, as for Inspect: a sample that was run again.
    return {info.filename: info for info in infos}


def _unsafe(info: zipfile.ZipInfo, limits: ArchiveLimits) -> str | None:
    """Why a member must not be opened; None if it may be."""
    name = info.orig_filename
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:", name):
        return "the member's path leads out of the archive"
    if info.file_size > limits.member:
        return f"wanted at most {limits.member:,} unpacked bytes, got {info.file_size:,}"
    if info.file_size >= limits.ratio_from and info.file_size > limits.ratio * info.compress_size:
        return (
            f"the member unpacks {info.compress_size:,} bytes to {info.file_size:,}, more than "
            f"{limits.ratio} times as many"
        )
    return None
