"""Spans of one file to runs, conversation by conversation, held no longer than they are open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from turncurve.model import Run
from turncurve.readers._span_runs import Conversation
from turncurve.readers._span_scores import Scores
from turncurve.readers._spans import Span
from turncurve.readers.base import OnProblem

Named: TypeAlias = tuple[str, str | None]
"""A span's trace, and the conversation that the trace is of, where the span says so."""

_LONGEST_WORDS = 200


def runs_by_conversation(
    named: Iterable[Named],
    spans: Callable[[OnProblem], Iterator[Span]],
    scores: Scores,
    *,
    format_: str,
    path: Path,
    on_problem: OnProblem,
    absent: Mapping[str, str],
) -> Iterator[Run]:
    """The runs of a file's conversations, each once its last span has come.

    Args:
        named: A first reading of the same spans, for what belongs together: one span that names
            the conversation names it for its whole trace.
        spans: Reads the file.
        scores: What the first reading finds of scores.
        format_: The format's name.
        path: The file.
        on_problem: Told of each bad record.
        absent: Signals that the format may lack, with the reasons.
    """
    n_of_trace: Counter[str] = Counter()
    names: dict[str, str] = {}
    for trace, name in named:
        n_of_trace[trace] += 1
        if name is not None:
            names.setdefault(trace, name)
    waiting: Counter[str] = Counter()
    for trace, n_spans in n_of_trace.items():
        waiting[names.get(trace, trace)] += n_spans
    held: dict[str, list[Span]] = defaultdict(list)
    for span in spans(on_problem):
        name = names.get(span.trace, span.trace)
        held[name].append(span)
        waiting[name] -= 1
        if waiting[name]:
            continue
        conversation = Conversation(name, held.pop(name))
        if conversation.has_calls:
            for run in conversation.runs(format_=format_, path=path, absent=absent):
                yield scores.given_to(run)
