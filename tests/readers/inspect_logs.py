"""Hand-made Inspect logs: a document with the events that a test is about, and no more."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers.inspect_log import read

TIME = "2025-05-12T20:27:36+00:00"


def call(
    text: str = "ok", *, tools: list[str] | None = None, usage: Any = None, **fields: Any
) -> dict[str, Any]:
    """A model event whose answer calls each of `tools` (id `c-<tool>`)."""
    message = {"role": "assistant", "content": text, "id": fields.pop("message_id", None)}
    if tools:
        message["tool_calls"] = [
            {"id": f"c-{name}", "function": name, "arguments": {}, "type": "function"}
            for name in tools
        ]
    output = {"model": "m", "choices": [{"message": message, "stop_reason": "stop"}]}
    offered = [{"name": "lookup", "description": ""}]
    return {
        "event": "model",
        "timestamp": TIME,
        "model": "openai/gpt-4o",
        "input": [],
        "tools": offered,
        "tool_choice": "auto",
        "config": {},
        "output": {**output, "usage": usage},
        **fields,
    }


def tool_event(name: str, result: str = "", **fields: Any) -> dict[str, Any]:
    """The event of a tool that a `call` asked for."""
    return {
        "event": "tool",
        "timestamp": TIME,
        "id": f"c-{name}",
        "function": name,
        "arguments": {},
        "result": result,
        **fields,
    }


def span(name: str, kind: str, parent: str | None = None) -> dict[str, Any]:
    """The beginning of a span whose id is its name."""
    return {
        "event": "span_begin",
        "timestamp": TIME,
        "id": name,
        "name": name,
        "type": kind,
        "parent_id": parent,
    }


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Any other event."""
    return {"event": kind, "timestamp": TIME, **fields}


def sample(*events: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A sample with some events."""
    return {
        "id": "s1",
        "epoch": 1,
        "input": "w",
        "target": "x",
        "messages": [],
        "events": list(events),
        "completed_at": TIME,
        **fields,
    }


def log(*samples: dict[str, Any], status: str = "success") -> dict[str, Any]:
    """A log with some samples."""
    return {
        "version": 2,
        "status": status,
        "eval": {
            "run_id": "r",
            "eval_id": "evalid00",
            "created": TIME,
            "task": "desk",
            "task_id": "t",
            "dataset": {"sample_ids": [one["id"] for one in samples]},
            "model": "openai/gpt-4o",
            "config": {},
        },
        "samples": list(samples),
    }


def write_json(folder: Path, document: dict[str, Any]) -> Path:
    """Write a log as a `.json` document."""
    path = folder / "log.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_eval(folder: Path, document: dict[str, Any], *, header: bool = True) -> Path:
    """Write a log as an `.eval` archive, or as one whose evaluation was killed."""
    path = folder / "log.eval"
    head = {key: value for key, value in document.items() if key != "samples"}
    start = {"version": 2, "eval": head["eval"], "plan": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(start))
        for one in document["samples"]:
            name = f"samples/{one['id']}_epoch_{one['epoch']}.json"
            archive.writestr(name, json.dumps(one))
        if header:
            archive.writestr("header.json", json.dumps(head))
    return path


def read_all(path: Path) -> tuple[list[Run], list[ReadError]]:
    """All runs of a log, and all problems."""
    problems: list[ReadError] = []
    return list(read(path, problems.append)), problems


def runs_of(folder: Path, *samples: dict[str, Any], status: str = "success") -> list[Run]:
    """The runs of a log that reads without a problem."""
    runs, problems = read_all(write_json(folder, log(*samples, status=status)))
    assert problems == []
    return runs
