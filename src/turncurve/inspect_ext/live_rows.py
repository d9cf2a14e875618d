"""Turns as they happen, as records of the `turns` format, which every command reads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turncurve.readers.inspect_live import LiveTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRun:
    """Which run a turn belongs to; its names are those that the reader of the log gives it."""

    task: str
    sample: str
    epoch: int
    eval_id: str
    attempt: int = 1

    def row(self, turn: LiveTurn) -> dict[str, Any]:
        """The record of one turn."""
        usage = turn.turn.usage
        compactions = [event for event in turn.events if event.kind == "compaction"]
        last = compactions[-1].detail if compactions else {}
        base = f"{self.task}/{self.sample}/{self.epoch}@{self.eval_id[:8]}"
        retried = f"~{self.attempt}" if self.attempt > 1 else ""
        return {
            "run": base + retried + ("" if turn.is_main else f":{turn.agent}"),
            "turn": turn.turn.index,
            "scenario": f"{self.task}/{self.sample}" if turn.is_main else None,
            "trial": self.epoch,
            "agent": turn.agent,
            "model": turn.turn.model,
            "context_tokens": usage and usage.context_tokens,
            "cached_input_tokens": usage and usage.cache_read,
            "output_tokens": usage and usage.output,
            "reasoning_tokens": usage and usage.reasoning,
            "cost_usd": turn.turn.cost_usd,
            "started_at": turn.turn.started_at,
            "seconds": turn.turn.seconds,
            "compaction": bool(compactions),
            "compaction_tokens_before": last.get("tokens_before"),
            "compaction_tokens_after": last.get("tokens_after"),
        }


def append(folder: Path, run: LiveRun, turns: list[LiveTurn]) -> None:
    """Add turns to the file of their evaluation, a line each, complete when this returns."""
    if not turns:
        return
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(run.row(turn)) + "\n" for turn in turns)
    with (folder / f"turns-{run.eval_id}.jsonl").open("a", encoding="utf-8") as file:
        file.write(lines)
