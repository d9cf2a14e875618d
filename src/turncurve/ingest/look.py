"""Whether a store holds a file already, as it is now."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.ingest.discover import Found, is_companion
from turncurve.ingest.file_state import is_as_it_was
from turncurve.readers import READERS
from turncurve.table.store import Store, StoredFile, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A found file beside what a store knows of it."""

    found: Found
    resolved: str
    beside: str
    """Hash of the files that readers may consult beside it."""
    is_known: bool
    """Whether the store has read it before, be it in another state."""
    is_held: bool
    """Whether the store holds it as it is now."""
    size: int


class Looks:
    """Compares found files with a store; a file is hashed only where its times do not tell."""

    def __init__(self, store: Store) -> None:
        self._held = {name: file for name, (_, file) in store.files.items()}
        self._readers = [READERS[name] for name in READERS]
        self._beside: dict[Path, str] = {}
        self._joined = Joined(self._digest)
        self._in_folder: dict[tuple[Path, str], list[StoredFile]] = defaultdict(list)
        for file in self._held.values():
            place = Path(file.resolved)
            self._in_folder[place.parent, place.suffix].append(file)

    def look(self, found: Found) -> Look:
        """Compare one file.

        Raises:
            ReadError: It is no longer there.
        """
        resolved = found.path.resolve()
        held = self._held.get(str(resolved))
        beside = self._around(found.path.parent.resolve())
        try:
            size = resolved.stat().st_size
            is_held = (
                held is not None
                and held.beside == beside
                and is_as_it_was(held, resolved)
                and self._is_joined_as_it_was(held, found.path)
            )
        except OSError as problem:
            raise ReadError(found.path, f"cannot be opened: {problem.strerror}") from problem
        return Look(
            found=found,
            resolved=str(resolved),
            beside=beside,
            is_known=held is not None,
            is_held=is_held,
            size=size,
        )

    def _is_joined_as_it_was(self, held: StoredFile, path: Path) -> bool:
        """Whether the files that the runs may be spread over are the same, save some now gone."""
        if held.joined is None:
            return True
        there = self._joined.digests(path)
        if held.joined == hash_of(there):
            return True
        before = self._in_folder[path.parent.resolve(), path.suffix]
        gone = {Path(f.resolved).name: f.digest for f in before if not Path(f.resolved).exists()}
        return held.joined == hash_of({**gone, **there})

    def _around(self, folder: Path) -> str:
        """Hash of the companions in a folder and the two above it, where outcomes may stand."""
        parts = [self._companions(f) for f in (folder, *list(folder.parents)[:2])]
        return hashlib.blake2b("".join(parts).encode(), digest_size=16).hexdigest()

    def _companions(self, folder: Path) -> str:
        if folder not in self._beside:
            near = [p for p in _listed(folder) if is_companion(p, self._readers) and p.is_file()]
            self._beside[folder] = hash_of({path.name: self._digest(path) for path in near})
        return self._beside[folder]

    def _digest(self, path: Path) -> str:
        """Hash of a file's content, which the store may know."""
        held = self._held.get(str(path.resolve()))
        return held.digest if held is not None and is_as_it_was(held, path) else digest_of(path)


class Joined:
    """Content of the files of one ending in a folder, over which runs may be spread."""

    def __init__(self, digest: Callable[[Path], str] = digest_of) -> None:
        self._digest = digest
        self._known: dict[tuple[Path, str], dict[str, str]] = {}

    def digests(self, path: Path) -> Mapping[str, str]:
        """Name to hash of the files of the same ending in the same folder, its own included."""
        key = path.parent, path.suffix
        if key not in self._known:
            near = [p for p in _listed(path.parent) if p.suffix == path.suffix and p.is_file()]
            self._known[key] = {other.name: self._digest(other) for other in near}
        return self._known[key]


def hash_of(digests: Mapping[str, str]) -> str:
    """One hash of several files' names and hashes."""
    whole = hashlib.blake2b(digest_size=16)
    for name, digest in sorted(digests.items()):
        whole.update(f"{name}\0{digest}\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
