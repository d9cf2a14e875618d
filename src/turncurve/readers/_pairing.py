"""Results of tool calls, brought to the turns that made the calls."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.model import ToolResult
from turncurve.readers.base import OnProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A tool result as it stands in a file: `latest` is the position of the turn before it."""

    result: ToolResult
    record: int
    latest: int


def pair_results(
    call_ids: Sequence[Sequence[str | None]],
    arrived: Iterable[Arrived],
    *,
    path: Path,
    on_problem: OnProblem,
) -> list[list[ToolResult]]:
    """The results of each turn, in file order.

    A result may stand before its call or far after it, so ids decide and order does not. Where an
    id was used twice, the first result goes to the first call. A further result of a call that has
    its own is left out; one whose call is not in the file stays with the turn before it. Both are
    told as problems.

    Args:
        call_ids: For each turn, the ids of its calls.
        arrived: The results, in file order.
        path: The file, for problems.
        on_problem: Told of results without a call of their own.
    """
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for position, ids in enumerate(call_ids):
        for call_id in ids:
            if call_id is not None:
                waiting[call_id].append(position)
    results: list[list[ToolResult]] = [[] for _ in call_ids]
    for item in arrived:
        call_id = item.result.call_id
        positions = waiting.get(call_id) if call_id is not None else None
        if positions:
            results[positions.popleft()].append(item.result)
        elif positions is not None:
            reason = f"a second result of the tool call {call_id!r}; the first one counts"
            on_problem(ReadError(path, reason, record=item.record))
        elif item.latest >= 0:
            reason = f"a result of the tool call {call_id!r}, which is not in the file"
            results[item.latest].append(item.result)
            fix = "it was kept with the turn before it"
            on_problem(ReadError(path, reason, record=item.record, fix=fix, kept=True))
        else:
            reason = f"a result of the tool call {call_id!r} before any turn"
            on_problem(ReadError(path, reason, record=item.record))
    return results
