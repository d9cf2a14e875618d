"""Every call of inspect_ai, which alone knows how a log is laid out.

The calls are made on a thread of their own: Inspect reads within an event loop, which can't be
entered where one runs already (a notebook), and which on the main thread formats all that was read
into the text of an error that Python's signal module raises and swallows (half of the time).
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from turncurve.errors import MissingExtraError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary

    from turncurve.readers._inspect.archive import SampleMember

T = TypeVar("T")


def require_inspect() -> None:
    """Import Inspect, which takes seconds.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        with _quiet():
            import inspect_ai.log  # noqa: F401, PLC0415 - seconds to import, and an extra
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != "inspect_ai":
            raise
        raise MissingExtraError("reading Inspect logs", "inspect") from problem


def archive_header(archive: Path) -> EvalLog:
    """An archive's log without its samples; from the journal where there is no header."""
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 - as above

    return _called(lambda: read_eval_log(str(archive), header_only=True, format="eval"))


def archive_summaries(archive: Path) -> list[EvalSampleSummary]:
    """The summaries of an archive's samples, with their scores."""
    from inspect_ai.log import read_eval_log_sample_summaries  # noqa: PLC0415 - as above

    return _called(lambda: read_eval_log_sample_summaries(str(archive), format="eval"))


def archive_samples(archive: Path, members: list[SampleMember]) -> list[EvalSample]:
    """Some samples of an archive, in order, with their attachments in place."""
    from inspect_ai.log import read_eval_log_samples_by_id  # noqa: PLC0415 - as above

    return _called(
        lambda: read_eval_log_samples_by_id(
            str(archive),
            [(member.sample_id, member.epoch) for member in members],
            concurrency=1,
            resolve_attachments="core",
            format="eval",
        )
    )


def document(content: bytes) -> EvalLog:
    """A whole log that is one JSON document."""
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 - as above

    return _called(
        lambda: read_eval_log(io.BytesIO(content), resolve_attachments="core", format="json")
    )


def _called(call: Callable[[], T]) -> T:
    with _quiet(), ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(call).result()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Inspect's log records and its libraries' deprecations from the terminal."""
    logger = logging.getLogger("inspect_ai")
    was = logger.disabled
    logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = was
