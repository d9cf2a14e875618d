"""Turns from a conversation: what each answer of the model heard before, called and got back."""

from __future__ import annotations

from typing import Any, Literal

from turncurve.model import Message, ToolResult, Turn


class Talk:
    """Collects a run's turns from its messages, in their order.

    An answer opens a turn; results go to the open turn, and any other message to the next one.
    """

    def __init__(self) -> None:
        self._open: dict[str, Any] | None = None
        self._results: list[ToolResult] = []
        self._before: list[Message] = []
        self._done: list[Turn] = []

    @property
    def n_turns(self) -> int:
        """Answers so far."""
        return len(self._done) + (self._open is not None)

    @property
    def has_turn(self) -> bool:
        """Whether there is an answer that a result could belong to."""
        return self._open is not None

    def hear(self, role: Literal["system", "user"], text: str) -> None:
        """Something that reaches the model and is no result."""
        self._before.append(Message(role=role, text=text))

    def answer(self, **fields: Any) -> None:
        """An answer of the model: fields of `Turn`, without its number and what surrounds it."""
        self._close()
        self._open = {**fields, "before": tuple(self._before)}
        self._before = []

    def more(self, **fields: Any) -> None:
        """Fields of the open turn that later messages bring."""
        if self._open is not None:
            self._open.update(fields)

    def result(self, result: ToolResult) -> None:
        """What a call of the open turn got back; before any turn it is something heard."""
        if self._open is None:
            self.hear("user", result.text)
        else:
            self._results.append(result)

    def end(self) -> tuple[tuple[Turn, ...], tuple[Message, ...]]:
        """The turns, and what was said after the last one."""
        self._close()
        return tuple(self._done), tuple(self._before)

    def _close(self) -> None:
        if self._open is not None:
            index = len(self._done) + 1
            turn = Turn(index=index, tool_results=tuple(self._results), **self._open)
            self._done.append(turn)
        self._open, self._results = None, []
