"""Results of Codex's tool calls: their text, and whether the call failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from turncurve.model import Detector, ToolResult
from turncurve.readers.fields import as_name, as_text, is_transient, looks_like_error

_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)\s*$", re.MULTILINE)
_STILL_RUNNING = re.compile(r"^Process running with session ID \d+\s*$", re.MULTILINE)
_REFUSED = re.compile(
    r"(?:exec_command|write_stdin|apply_patch|exec|tool call)[\w ]* failed\b"
    r"|failed to parse function arguments|unsupported (?:custom tool )?call|aborted by user"
    r"|apply_patch verification failed"
)


def tool_result(item: Mapping[str, Any]) -> ToolResult:
    """The result in a `function_call_output` item, plain text or JSON in a text.

    It failed by its exit code, else its success flag, else its text. A process that still runs when
    its output is taken has not failed and not succeeded: None.
    """
    output = item.get("output")
    body = _unwrapped(output)
    text = as_text(body.get("output", body.get("content"))) if body else as_text(output)
    error, detector = _verdict(body, text)
    return ToolResult(
        call_id=as_name(item.get("call_id")),
        text=text,
        error=error,
        detector=detector,
        transient=bool(error) and is_transient(text),
    )


def _unwrapped(output: object) -> Mapping[str, Any] | None:
    """The object that an output is, or is the JSON text of; None for plain text."""
    if isinstance(output, str) and output.startswith('{"'):
        try:
            output = msgspec.json.decode(output)
        except (msgspec.DecodeError, RecursionError):
            return None
    known = ("output", "content", "metadata", "success")
    return output if isinstance(output, dict) and any(key in output for key in known) else None


def _verdict(body: Mapping[str, Any] | None, text: str) -> tuple[bool | None, Detector | None]:
    metadata = body.get("metadata") if body else None
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    if isinstance(code, int):
        return code != 0, "return_code"
    if body and isinstance(body.get("success"), bool):
        return not body["success"], "flag"
    heading = text.partition("\nOutput:")[0][:2000]
    if found := _EXIT_CODE.search(heading):
        return int(found[1]) != 0, "return_code"
    if _STILL_RUNNING.search(heading):
        return None, None
    return looks_like_error(text) or bool(_REFUSED.match(text)), "text"
