"""Inspect AI logs: `.eval` archives and `.json` documents."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turncurve.errors import InvariantError, ReadError
from turncurve.model import Run
from turncurve.readers._inspect.archive import (
    RECOVER,
    SampleMember,
    batches,
    check_member,
    excerpt,
    opened,
    sample_members,
)
from turncurve.readers._inspect.calls import (
    archive_header,
    archive_samples,
    archive_summaries,
    document,
    require_inspect,
)
from turncurve.readers._inspect.outcome import graduated_scores
from turncurve.readers._inspect.runs import LogContext, runs_of
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.stream import LIMITS, compression, head, json_document, open_trace

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_ZIP = b"PK\x03\x04"
_FEW = 16
"""Samples that are read one by one out of an archive of their own, since reading one opens it."""
_MEMBER = re.compile(rb"_journal/|header\.json|samples/[^\x00]{1,400}_epoch_\d+\.json")


def looks_like(start: bytes, path: Path) -> bool:
    """Whether a file is an Inspect log, by its first bytes."""
    del path
    if start.startswith(_ZIP):
        return _MEMBER.search(start) is not None
    return (
        start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        and re.search(rb'"version"\s*:\s*\d', start[:4096]) is not None
        and re.search(rb'"eval"\s*:\s*\{', start) is not None
        and re.search(rb'"task"\s*:', start) is not None
    )


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the runs of a log: for each sample and epoch its agent's, then its sub-agents'.

    An `.eval` archive is read some samples at a time; a `.json` document is held whole. A file
    that as a whole can't be read is a problem too.

    Raises:
        MissingExtraError: The extra `inspect` is not installed.
    """
    require_inspect()
    told = list[ReadError]()

    def tell(problem: ReadError) -> None:
        told.append(problem)
        on_problem(problem)

    try:
        yield from _read_file(path, tell)
    except ReadError as problem:
        if problem in told:
            raise
        on_problem(problem)


def sample_runs(sample: EvalSample, *, task: str, path: str, record: str | int) -> list[Run]:
    """The runs of one sample that is in memory: its main agent's first, then those beneath.

    They are what `read` gives of the sample's log, but for what all its samples share.

    Args:
        sample: The sample, with its attachments resolved.
        task: Name of its task.
        path: Where it is to be found, for messages.
        record: Where it stands there.
    """
    context = LogContext(path=path, task=task, model=None, eval_id="", status="success")
    return list(runs_of(sample, context, record))


def _read_file(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    if not head(path, 4).startswith(_ZIP):
        yield from _read_document(path, on_problem)
    elif compression(path) is None:
        yield from _read_archive(path, path, on_problem)
    else:
        with tempfile.NamedTemporaryFile(suffix=".eval") as whole:
            with open_trace(path) as packed:
                shutil.copyfileobj(packed, whole)
            whole.flush()
            yield from _read_archive(path, Path(whole.name), on_problem)


def _read_archive(path: Path, archive: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Read an archive; `path` is what the user named, `archive` its unpacked form."""
    with opened(path, archive) as zip_file:
        members = list(sample_members(path, zip_file, on_problem))
        log = _header(path, archive)
        context = _context(path, log, _summarised(path, archive, on_problem))
        order = {str(name): place for place, name in enumerate(log.eval.dataset.sample_ids or [])}
        members.sort(key=lambda member: (order.get(member.sample_id, len(order)), member.epoch))
        for batch in batches(members):
            faults = {member.name: check_member(zip_file, member.name) for member in batch}
            for name, fault in faults.items():
                if fault is not None:
                    on_problem(ReadError(path, fault, record=name))
            whole = [member for member in batch if faults[member.name] is None]
            for member, sample in _samples(path, archive, zip_file, whole, on_problem):
                yield from _runs(sample, context, member.name, on_problem)


def _samples(
    path: Path,
    archive: Path,
    zip_file: zipfile.ZipFile,
    members: list[SampleMember],
    on_problem: OnProblem,
) -> Iterator[tuple[SampleMember, EvalSample]]:
    """Give the samples of some members; where reading them at once fails, one by one."""
    if not members:
        return
    try:
        samples = archive_samples(archive, members)
    except Exception:  # noqa: BLE001 - one sample fails, the others are read
        for first in range(0, len(members), _FEW):
            few = members[first : first + _FEW]
            with excerpt(zip_file, few) as part:
                for member in few:
                    yield from _one_sample(path, part, member, on_problem)
        return
    yield from zip(members, samples, strict=True)


def _one_sample(
    path: Path, archive: Path, member: SampleMember, on_problem: OnProblem
) -> Iterator[tuple[SampleMember, EvalSample]]:
    try:
        (sample,) = archive_samples(archive, [member])
    except Exception as problem:  # noqa: BLE001 - one sample fails, the others are read
        on_problem(ReadError(path, _reason(problem), record=member.name))
        return
    yield member, sample


def _header(path: Path, archive: Path) -> EvalLog:
    try:
        return archive_header(archive)
    except Exception as problem:
        raise ReadError(
            path, f"the log's header cannot be read: {_reason(problem)}", fix=RECOVER
        ) from problem


def _summarised(path: Path, archive: Path, on_problem: OnProblem) -> frozenset[str]:
    """Names of the scores that are no verdicts, by the summaries of all samples."""
    try:
        summaries = archive_summaries(archive)
    except Exception as problem:  # noqa: BLE001 - the samples can be read without
        reason = f"the samples' summaries cannot be read: {_reason(problem)}"
        on_problem(ReadError(path, reason, record="summaries.json", kept=True))
        return frozenset()
    return graduated_scores(summary.scores for summary in summaries)


def _read_document(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    with open_trace(path) as file:
        content = file.read(LIMITS.document + 1)
    if len(content) > LIMITS.document:
        raise ReadError(
            path,
            f"wanted a JSON document of at most {LIMITS.document:,} bytes",
            fix="`inspect log convert --to eval` makes an archive of it, read sample by sample",
        )
    try:
        log = document(content)
    except Exception:  # noqa: BLE001 - one bad sample spoils the whole: read them one by one
        yield from _read_piecewise(path, on_problem)
        return
    del content
    samples, log.samples = log.samples or [], None
    context = _context(path, log, graduated_scores(sample.scores for sample in samples))
    for position in range(len(samples)):
        sample = samples[position]
        yield from _runs(sample, context, _record(sample), on_problem)


def _read_piecewise(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Read each sample of a document as a log of its own, so that the good ones survive."""
    whole: Any = json_document(path, on_problem)
    if not isinstance(whole, dict):
        raise ReadError(path, f"wanted a JSON object, got {type(whole).__name__}")
    samples = whole.pop("samples", None)
    try:
        log = document(json.dumps(whole).encode())
    except Exception as problem:
        raise ReadError(path, f"the log's header cannot be read: {_reason(problem)}") from problem
    context = _context(path, log, frozenset())
    for position, sample in enumerate(samples if isinstance(samples, list) else []):
        record = f"samples[{position}]"
        try:
            parsed = document(json.dumps({**whole, "samples": [sample]}).encode()).samples or []
        except Exception as problem:  # noqa: BLE001 - one sample fails, the others are read
            on_problem(ReadError(path, _reason(problem), record=record))
            continue
        for good in parsed:
            yield from _runs(good, context, _record(good), on_problem)


def _runs(
    sample: EvalSample, context: LogContext, record: str, on_problem: OnProblem
) -> Iterator[Run]:
    try:
        runs = list(runs_of(sample, context, record))
    except InvariantError as problem:
        on_problem(ReadError(context.path, str(problem), record=record))
        return
    yield from runs


def _context(path: Path, log: EvalLog, graduated: frozenset[str]) -> LogContext:
    model = log.eval.model
    return LogContext(
        path=str(path),
        task=log.eval.task,
        model=None if model in ("none", "none/none", "") else model,
        eval_id=(log.eval.eval_id or log.eval.run_id or path.stem)[:8],
        status=log.status,
        graduated=graduated,
    )


def _record(sample: EvalSample) -> str:
    return f"{sample.id}_epoch_{sample.epoch}"


def _reason(problem: Exception) -> str:
    """What went wrong in plain words: of what a log should be like, the first two faults."""
    from pydantic import ValidationError  # noqa: PLC0415 - heavy, and comes with Inspect

    if isinstance(problem, RecursionError):
        return "nested too deep to read safely"
    if isinstance(problem, json.JSONDecodeError):
        return f"is no JSON: {problem.msg.removesuffix(' at')} at character {problem.pos + 1}"
    if isinstance(problem, ValidationError):
        faults = problem.errors(include_url=False, include_context=False, include_input=False)
        words = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults[:2]]
        more = f"; and {len(faults) - 2} more" if len(faults) > 2 else ""
        return f"not as Inspect writes it: {'; '.join(words)}{more}"[:500]
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {'; '.join(lines[:2])}" if lines else repr(problem)


def _near_miss(start: bytes, path: Path) -> str | None:
    del path
    return "a zip archive that is no Inspect log" if start.startswith(_ZIP) else None


READER = Reader(
    name="inspect",
    title="Inspect AI logs, .eval and .json",
    recognised_by="a zip archive with the members of an Inspect log, or a JSON object with "
    '"version" and "eval"',
    looks_like=looks_like,
    read=read,
    near_miss=_near_miss,
    no_run="an Inspect log without samples",
    companions=("logs.json",),
    extra="inspect",
)
