"""States of samples of Inspect that stages start in: the store, and the messages so far."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turncurve.ingest.whole_file import write_whole

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleState:
    """A state of a sample.

    Args:
        messages: The conversation, without what the system says; the agent says that anew.
        store: Values of the store.
        trial: The trial of the whole task that arrived there; None: it was made beforehand.
    """

    messages: Sequence[ChatMessage] = ()
    store: Mapping[str, Any] = field(default_factory=dict)
    trial: int | None = None


def said(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Copies of messages, without those of the system."""
    return [copy.deepcopy(one) for one in messages if one.role != "system"]


def write_state(path: Path, messages: Sequence[ChatMessage], store: Mapping[str, Any]) -> None:
    """Keep a state; it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    dumped = [one.model_dump(mode="json", exclude_none=True) for one in said(messages)]
    text = json.dumps({"messages": dumped, "store": dict(store)})
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_state(path: Path, trial: int) -> SampleState:
    """A state that was kept."""
    from inspect_ai.model import ChatMessage  # noqa: PLC0415 - an extra, and slow
    from pydantic import TypeAdapter  # noqa: PLC0415 - comes with it

    kept = json.loads(path.read_bytes())
    messages = TypeAdapter(list[ChatMessage]).validate_python(kept["messages"])
    return SampleState(messages=messages, store=kept["store"], trial=trial)
