"""Whether a store holds a file already, as it is now."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.ingest.discover import Found, is_companion
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
    """Compares found files with a store; a file is hashed only where size or time differ."""

    def __init__(self, store: Store) -> None:
        self._held = store.files
        self._readers = [READERS[name] for name in READERS]
        self._beside: dict[Path, str] = {}

    def look(self, found: Found) -> Look:
        """Compare one file.

        Raises:
            ReadError: It is no longer there.
        """
        resolved = found.path.resolve()
        try:
            now = resolved.stat()
        except OSError as problem:
            raise ReadError(found.path, f"cannot be opened: {problem.strerror}") from problem
        beside = self._around(resolved.parent)
        _, held = self._held.get(str(resolved), (0, None))
        as_it_was = held is not None and held.beside == beside
        if held is not None and as_it_was:
            same_time = (held.size, held.modified_ns) == (now.st_size, now.st_mtime_ns)
            as_it_was = same_time or _has_content(resolved, held, now.st_size)
        return Look(
            found=found,
            resolved=str(resolved),
            beside=beside,
            is_known=held is not None,
            is_held=as_it_was,
            size=now.st_size,
        )

    def _around(self, folder: Path) -> str:
        """Hash of the companions in a folder and the two above it, where outcomes may stand."""
        parts = [self._companions(f) for f in (folder, *list(folder.parents)[:2])]
        return hashlib.blake2b("".join(parts).encode(), digest_size=16).hexdigest()

    def _companions(self, folder: Path) -> str:
        if folder not in self._beside:
            whole = hashlib.blake2b(digest_size=16)
            for path in _listed(folder):
                if is_companion(path, self._readers) and path.is_file():
                    whole.update(f"{path.name}\0{digest_of(path)}\0".encode())
            self._beside[folder] = whole.hexdigest()
        return self._beside[folder]


def _has_content(path: Path, held: StoredFile, size: int) -> bool:
    return held.size == size and digest_of(path) == held.digest


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
