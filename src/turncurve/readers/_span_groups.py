"""Spans of one file to runs, conversation by conversation, held no longer than they are open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run
from turncurve.readers._outcomes import exit_events
from turncurve.readers._span_runs import Conversation
from turncurve.readers._span_scores import Scores
from turncurve.readers._spans import Span
from turncurve.readers.base import OnProblem

Named: TypeAlias = tuple[str | None, Span]
"""The conversation that a span's trace is of, where the span says so, and the span."""

_LONGEST_WORDS = 200


def runs_by_conversation(
    spans: Callable[[OnProblem], Iterator[Named]],
    scores: Scores,
    *,
    format_: str,
    path: Path,
    on_problem: OnProblem,
    absent: Mapping[str, str],
) -> Iterator[Run]:
    """The runs of a file's conversations, each once its last span has come.

    Args:
        spans: Reads the file; it is read twice, to count and to hold what is not complete. One
            span that names the conversation names it for its whole trace.
        scores: What the first reading finds of scores.
        format_: The format's name.
        path: The file.
        on_problem: Told of each bad record, by the second reading.
        absent: Signals that the format may lack, with the reasons.
    """
    n_of_trace: Counter[str] = Counter()
    names: dict[str, str] = {}
    for name, span in spans(_told_later):
        n_of_trace[span.trace] += 1
        if name is not None:
            names.setdefault(span.trace, name)
    waiting: Counter[str] = Counter()
    for trace, n_spans in n_of_trace.items():
        waiting[names.get(trace, trace)] += n_spans
    held: dict[str, list[Span]] = defaultdict(list)
    for _, span in spans(on_problem):
        name = names.get(span.trace, span.trace)
        held[name].append(span)
        waiting[name] -= 1
        if waiting[name]:
            continue
        complete = held.pop(name)
        conversation = Conversation(name, complete)
        if conversation.has_calls:
            for run in conversation.runs(format_=format_, path=path, absent=absent):
                ended = _ended(run, complete) if run.parent is None else run
                yield scores.given_to(ended)


def _told_later(_: ReadError) -> None:
    """The second reading tells."""


def _ended(run: Run, spans: Sequence[Span]) -> Run:
    """The run as a crash, if the last of the spans that nothing holds has failed."""
    roots = (span for span in spans if span.parent is None)
    last = max(roots, key=lambda span: span.start or 0.0, default=None)
    if last is None or not last.failed:
        return run
    words, after = last.message[:_LONGEST_WORDS] or None, len(run.turns) + 1
    told = any(event.kind == "error" and event.turn == after for event in run.events)
    ends = () if told else exit_events(ExitType.CRASH, words, len(run.turns))
    return replace(run, exit_type=ExitType.CRASH, exit_text=words, events=(*run.events, *ends))
