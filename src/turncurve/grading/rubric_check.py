"""Whether grades were made with a rubric as it reads now."""

from __future__ import annotations

from pathlib import Path

from turncurve.errors import ReadError
from turncurve.grading.journal import Held, held
from turncurve.grading.rubric import Rubric
from turncurve.readers.grades import looks_like
from turncurve.readers.stream import head


def why_not_of(path: Path, rubric: Rubric) -> str | None:
    """How a grade file's rubric differs from this one; None where it does not.

    Raises:
        ReadError: The file is no grade file.
    """
    if not looks_like(head(path), path):
        raise ReadError(path, "the file is no grade file", fix="name one of turncurve grade")
    session = held(path, Held()).session
    assert session is not None
    was = session.rubric
    if (was.name, was.version) != (rubric.name, rubric.version):
        return f"was graded with {was.name}@{was.version}, not {rubric.id}"
    if was.digest != rubric.digest:
        return f"was graded with another text of {rubric.id}; raise the version of this one"
    return None
