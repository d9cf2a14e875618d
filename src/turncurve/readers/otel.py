"""OpenTelemetry traces: OTLP requests as JSON, or what Python's console exporter prints.

Attributes are read as the GenAI semantic conventions, OpenInference's and OpenLLMetry's name them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._otel_folder import folder_of
from turncurve.readers._otel_records import looks_like, spans
from turncurve.readers._span_calls import evaluations_of, kind_of
from turncurve.readers._span_runs import Conversation
from turncurve.readers._span_scores import Scores
from turncurve.readers._spans import Span
from turncurve.readers.base import OnProblem, Reader

_NOT_SAID = "no span of this conversation says so"
_ABSENT = {
    "quality": "no evaluation of a model call has that name",
    "error": "OpenTelemetry traces hold no grades",
    "context_tokens": "no model call of this conversation has token counts",
    "cached_input_tokens": "no model call of this conversation says how much was cached",
    "output_tokens": "no model call of this conversation has token counts",
    "reasoning_tokens": "no model call of this conversation counts its reasoning tokens",
    "cost_usd": "no model call of this conversation has a cost",
    "started_at": _NOT_SAID,
    "seconds": _NOT_SAID,
    "format_error": "spans do not say whether an answer could be read as an action",
    "compaction": "no span says whether the conversation was compacted",
}


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the runs of the conversations that begin in this file.

    The spans of one trace may stand in any order, and in several files of one folder: the first of
    these, by name, gives its runs. A first pass counts each conversation's spans, so that a second
    one holds those that are not complete yet, and no others.
    """
    plan = folder_of(path.parent, path.suffix).plan(path)
    held: dict[str, Conversation] = {}
    scores: dict[str, Scores] = {}
    for source in (path, *plan.others):
        is_own = source == path
        if not is_own and not +plan.waiting:
            break
        for span in spans(source, on_problem if is_own else _told_there):
            if is_own and span.trace in plan.elsewhere:
                continue
            # A span that came since the first pass is read as one of its trace.
            name = plan.groups.get(span.trace, span.trace if is_own else None)
            if name is None:
                continue
            if name not in held:
                held[name] = Conversation(name)
            held[name].add(span)
            for score in evaluations_of(span):
                _take_score(scores.setdefault(name, Scores()), span, score)
            plan.waiting[name] -= 1
            if not plan.waiting[name]:
                yield from _runs(held.pop(name), scores.pop(name, None), path, on_problem)
    for name, conversation in held.items():
        yield from _runs(conversation, scores.get(name), path, on_problem)


def _take_score(scores: Scores, span: Span, score: tuple[str, str, float]) -> None:
    if kind_of(span) == "call":
        scores.add_to_turn(f"{span.trace}/{span.id}", score)
    else:
        scores.add_to_run(span.trace, score)


def _runs(
    conversation: Conversation, scores: Scores | None, path: Path, on_problem: OnProblem
) -> Iterator[Run]:
    if conversation.has_calls or conversation.has_agents:
        for run in conversation.runs(
            format_="otel", path=path, absent=_ABSENT, on_problem=on_problem
        ):
            yield run if scores is None else scores.given_to(run)
    elif conversation.unplaced:
        span = conversation.unplaced[0]
        reason = "tools' spans of a trace without a model call or an agent"
        on_problem(ReadError(path, reason, record=f"{span.trace}/{span.id}"))


def _told_there(_: ReadError) -> None:
    """The reading of that file tells."""


READER = Reader(
    name="otel",
    title="OpenTelemetry traces: OTLP as JSON, or a console exporter's spans",
    recognised_by="JSON objects with resourceSpans, or spans with a context and attributes",
    looks_like=looks_like,
    read=read,
    joins_files=True,
    no_run="a file in which no conversation begins: no model call, or an earlier file has it",
)
