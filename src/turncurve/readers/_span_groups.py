"""Spans of one file to runs, conversation by conversation, held no longer than they are open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers._span_runs import Conversation
from turncurve.readers._spans import Span
from turncurve.readers.base import OnProblem

Named: TypeAlias = tuple[str, Span]
"""The conversation that a span is of, and the span."""


def runs_by_conversation(
    spans: Callable[[OnProblem], Iterator[Named]],
    *,
    format_: str,
    path: Path,
    on_problem: OnProblem,
    absent: Mapping[str, str],
) -> Iterator[Run]:
    """The runs of a file's conversations, each once its last span has come.

    Args:
        spans: Reads the file; it is read twice, to count and to hold what is not complete.
        format_: The format's name.
        path: The file.
        on_problem: Told of each bad record, by the second reading.
        absent: Signals that the format may lack, with the reasons.
    """
    counts: Counter[str] = Counter(name for name, _ in spans(_told_later))
    held: dict[str, list[Span]] = defaultdict(list)
    for name, span in spans(on_problem):
        held[name].append(span)
        counts[name] -= 1
        if not counts[name]:
            conversation = Conversation(name, held.pop(name))
            if conversation.has_calls:
                yield from conversation.runs(format_=format_, path=path, absent=absent)


def _told_later(_: ReadError) -> None:
    """The second reading tells."""
