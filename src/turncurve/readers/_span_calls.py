"""What a span says of a model call or a tool call, in the words of several conventions.

GenAI semantic conventions of OpenTelemetry, old and new, OpenInference, and OpenLLMetry; names and
shapes are those of their published attribute registries and message schemas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from turncurve.model import Message, ToolCall, ToolResult, Usage
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._span_usage import OUTPUT, cost_of, usage_of
from turncurve.readers._spans import Span
from turncurve.readers.fields import as_arguments, as_float, as_name, as_text, is_transient

Kind = Literal["call", "tool", "agent", "step", "other"]

_OPERATIONS: Mapping[str, Kind] = {
    "chat": "call",
    "text_completion": "call",
    "generate_content": "call",
    "execute_tool": "tool",
    "invoke_agent": "agent",
}
_OPENINFERENCE: Mapping[str, Kind] = {"LLM": "call", "TOOL": "tool", "AGENT": "agent"}
_TRACELOOP: Mapping[str, Kind] = {"tool": "tool", "agent": "agent"}
_STEP = re.compile(r"Step \d{1,9}")
"""A chain of smolagents: one model call and the code that its answer had run."""
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_NAMES: Mapping[Kind, tuple[str, ...]] = {
    "agent": ("gen_ai.agent.name", "agent.name"),
    "tool": ("gen_ai.tool.name", "tool.name"),
}
RUN = ("gen_ai.conversation.id", "session.id")
"""Attributes that name the conversation, the one that counts first."""
_ANSWERING = ("assistant", "model", "ai")
_NULL = msgspec.Raw(b"null")
_COMPACTED = "gen_ai.conversation.compacted"

_MESSAGE = re.compile(r"(?:llm\.)?(\w+)_messages\.(\d{1,6})\.message\.(.+)")
_OLD_MESSAGE = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(.+)")
_TOOL_CALL = re.compile(r"tool_calls\.(\d{1,6})\.(?:tool_call\.)?(?:function\.)?(\w+)")
_OLD_SIDE = {"input": "prompt", "output": "completion"}
_PART = re.compile(r"contents\.(\d{1,6})\.message_content\.text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a run needs to know of a span; the history that a call was sent again is left out."""

    id: str
    trace: str
    parent: str | None
    start: float | None
    end: float | None
    failed: bool
    message: str
    kind: Kind
    name: str
    """Of the agent or the tool."""
    weight: tuple[bool, int, float]
    """Of two copies of one span the heavier one says more."""
    text: str = ""
    """The answer of a model, or what came of a step."""
    calls: tuple[ToolCall, ...] = ()
    heard: tuple[Message, ...] = ()
    instructions: str = ""
    usage: Usage | None = None
    is_cache_apart: bool = False
    cost_usd: float | None = None
    model: str | None = None
    compacted: bool | None = None
    """Whether the call was sent a compacted view of what came before; None if it is not said."""
    compacts: bool = False
    """Whether the context was compacted in this very call."""
    call: ToolCall | None = None
    """The call that a tool's span ran."""
    result: ToolResult | None = None

    @property
    def has_totals(self) -> bool:
        """Whether tokens or a cost are counted."""
        return self.usage is not None or self.cost_usd is not None


def facts_of(span: Span) -> Facts:
    """What a run needs to know of a span."""
    kind, attributes = kind_of(span), span.attributes
    given: dict[str, Any] = {}
    if kind in ("call", "agent"):
        given["usage"], given["is_cache_apart"] = usage_of(attributes)
        given["cost_usd"] = cost_of(attributes)
    if kind == "call":
        given.update(_call_facts(span))
    elif kind == "tool":
        given["call"] = call = _tool_call_of(span)
        given["result"] = _result_of(span, call.id)
    elif kind == "step":
        given["text"] = as_text(attributes.get("output.value")) or _failure(span)
    return Facts(
        id=span.id,
        trace=span.trace,
        parent=span.parent,
        start=span.start,
        end=span.end,
        failed=span.failed,
        message=span.message,
        kind=kind,
        name=_name_of(span, kind),
        weight=(span.end is not None, len(attributes), span.end or 0.0),
        **given,
    )


def _call_facts(span: Span) -> dict[str, Any]:
    answered = _messages(span, "output")
    text, calls = _answer_of(span, answered)
    compacts = any(_holds_compaction(message) for message in answered)
    compacted = compacts or _flag(span.attributes.get(_COMPACTED))
    sent = _last_sent(span.attributes.get("gen_ai.input.messages"))
    if sent is None:
        sent = _messages(span, "input")
        if any(_holds_compaction(message) for message in sent):
            compacted = True
    return {
        "text": text,
        "calls": tuple(calls),
        "heard": tuple(_heard(sent)),
        "instructions": as_text(_decoded(span.attributes.get("gen_ai.system_instructions"))),
        "model": next((n for key in _MODEL if (n := as_name(span.attributes.get(key)))), None),
        "compacted": compacted,
        "compacts": compacts,
    }


def evaluations_of(span: Span) -> Iterator[tuple[str, str, float]]:
    """Scores that events of the span give it: a key, the name and the value of each."""
    for number, (name, attributes) in enumerate(span.events):
        if name == "gen_ai.evaluation.result":
            given = as_name(attributes.get("gen_ai.evaluation.name"))
            value = as_float(attributes.get("gen_ai.evaluation.score.value"))
            if given is not None and value is not None:
                yield f"{span.id}/{number}", given, value


def kind_of(span: Span) -> Kind:
    """What a span stands for; a wrapper, a chain or a workflow is `other`."""
    attributes = span.attributes
    operation = as_name(attributes.get("gen_ai.operation.name"))
    if operation is not None:
        return _OPERATIONS.get(operation, "other")
    named = as_name(attributes.get("openinference.span.kind"))
    if named is not None:
        is_step = named.upper() == "CHAIN" and _STEP.fullmatch(span.name)
        return "step" if is_step else _OPENINFERENCE.get(named.upper(), "other")
    traced = as_name(attributes.get("traceloop.span.kind"))
    if traced is not None:
        return _TRACELOOP.get(traced, "other")
    requested = attributes.get("llm.request.type") in ("chat", "completion")
    return "call" if requested or any(name in attributes for name in OUTPUT) else "other"


def _name_of(span: Span, kind: Kind) -> str:
    for key in _NAMES.get(kind, ()):
        name = as_name(span.attributes.get(key))
        if name is not None:
            return name
    return span.name or kind


def conversation_of(span: Span) -> str | None:
    """The conversation or session that a span names."""
    return next((name for key in RUN if (name := as_name(span.attributes.get(key)))), None)


class _Sent(msgspec.Struct):
    """A message of which all but the role is decoded where it is wanted."""

    role: Any = None
    parts: msgspec.Raw = _NULL
    content: msgspec.Raw = _NULL


_SENT = msgspec.json.Decoder(list[_Sent])


def _last_sent(given: object) -> list[dict[str, Any]] | None:
    """The messages since the last answer, of a JSON text; None for what must be read as a whole.

    A call is sent all that was said before, so the history of a long run is most of its file.
    """
    if not isinstance(given, str) or '"compaction"' in given:
        return None
    try:
        messages = _SENT.decode(given)
    except (msgspec.DecodeError, RecursionError):
        return None
    sent = list[dict[str, Any]]()
    for message in reversed(messages):
        if message.role in _ANSWERING:
            break
        parts, content = (msgspec.json.decode(part) for part in (message.parts, message.content))
        sent.append({"role": message.role, "parts": parts, "content": content})
    return sent[::-1]


def _flag(given: object) -> bool | None:
    """True, False, or None where neither is said; be they written as text."""
    if isinstance(given, str) and given.lower() in ("true", "false"):
        return given.lower() == "true"
    return given if isinstance(given, bool) else None


def _holds_compaction(message: dict[str, Any]) -> bool:
    parts = as_list(message.get("parts"))
    return any(isinstance(part, dict) and part.get("type") == "compaction" for part in parts)


def _tool_call_of(span: Span) -> ToolCall:
    """The call that a tool's span ran."""
    attributes = span.attributes
    given = attributes.get("gen_ai.tool.call.arguments")
    for key in ("tool.parameters", "input.value", "traceloop.entity.input"):
        given = attributes.get(key) if given is None else given
    name = as_name(attributes.get("gen_ai.tool.name")) or as_name(attributes.get("tool.name"))
    return ToolCall(id=_call_id_of(span), name=name or span.name, arguments=as_arguments(given))


def _call_id_of(span: Span) -> str | None:
    """The id of the call that a tool's span ran."""
    attributes = span.attributes
    keys = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "tool.call.id")
    return next((name for key in keys if (name := as_name(attributes.get(key)))), None)


def _result_of(span: Span, call_id: str | None) -> ToolResult:
    """What a tool gave back; its span's status says whether it failed."""
    attributes = span.attributes
    given = attributes.get("gen_ai.tool.call.result")
    for key in ("output.value", "traceloop.entity.output"):
        given = attributes.get(key) if given is None else given
    cause = as_name(attributes.get("error.type"))
    failed = span.failed or cause is not None
    text = as_text(given) or (_failure(span) if failed else "")
    return ToolResult(
        call_id=call_id,
        text=text,
        error=failed,
        detector="status",
        transient=failed and is_transient(f"{text} {cause or ''}"),
    )


def _failure(span: Span) -> str:
    """What a failed span says of its failure."""
    if span.message:
        return span.message
    told = (given.get("exception.message") for name, given in span.events if name == "exception")
    return next((text for text in map(as_text, told) if text), "")


def _answer_of(span: Span, messages: list[dict[str, Any]]) -> tuple[str, list[ToolCall]]:
    """The text of an answer and the calls in it; nothing where content was not recorded."""
    texts, calls = list[str](), list[ToolCall]()
    for message in messages:
        text, own = _read_message(message)
        if text:
            texts.append(text)
        calls += own
    if not texts and not calls:
        texts = [as_text(span.attributes.get("output.value"))]
    return "\n".join(text for text in texts if text), calls


def _heard(messages: list[dict[str, Any]]) -> list[Message]:
    """What a call was told since the last answer in its input; tools' results are not in it."""
    heard = list[Message]()
    for message in reversed(messages):
        role = as_text(message.get("role"))
        if role in _ANSWERING:
            break
        if role not in ("tool", "function"):
            text = _read_message(message)[0]
            if text:
                heard.append(Message(role="system" if role == "system" else "user", text=text))
    return heard[::-1]


def _messages(span: Span, side: Literal["input", "output"]) -> list[dict[str, Any]]:
    """The messages of one side of a call, as mappings with a role and content or parts."""
    given = _decoded(span.attributes.get(f"gen_ai.{side}.messages"))
    if isinstance(given, list):
        return [as_mapping(message) for message in given]
    flat = _flattened(span.attributes, side)
    return flat or [*_from_events(span, side)]


def _flattened(attributes: Mapping[str, Any], side: str) -> list[dict[str, Any]]:
    new, old = f"{side}_messages.", f"gen_ai.{_OLD_SIDE[side]}."
    messages: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if new in key:
            match = _MESSAGE.fullmatch(key)
        elif key.startswith(old):
            match = _OLD_MESSAGE.fullmatch(key)
        else:
            continue
        if match is not None and match[1] in (side, _OLD_SIDE[side]):
            _set(messages.setdefault(int(match[2]), {}), match[3], value)
    return [messages[number] for number in sorted(messages)]


def _set(message: dict[str, Any], name: str, value: Any) -> None:
    call, part = _TOOL_CALL.fullmatch(name), _PART.fullmatch(name)
    if call is not None:
        calls = message.setdefault("tool_calls", {})
        calls.setdefault(int(call[1]), {})[call[2]] = value
    elif part is not None:
        message["content"] = f"{message.get('content', '')}{as_text(value)}"
    else:
        message[name] = value


def _from_events(span: Span, side: str) -> Iterator[dict[str, Any]]:
    """Messages that older conventions write as events of the span, or as a list of such."""
    events: list[tuple[str, Mapping[str, Any]]] = [*span.events]
    for given in map(as_mapping, as_list(_decoded(span.attributes.get("events")))):
        events.append((as_text(given.get("event.name")), given))
    old = _OLD_SIDE[side]
    for name, attributes in events:
        content = _decoded(attributes.get("content"))
        if name == "gen_ai.choice" and side == "output":
            message = _decoded(attributes.get("message"))
            yield as_mapping(message) or {"content": content or attributes.get("message")}
        elif name.startswith("gen_ai.") and name.endswith(".message") and side == "input":
            yield {"content": content, "role": name.split(".")[1], **attributes}
        elif name == f"gen_ai.content.{old}":
            said = _decoded(attributes.get(f"gen_ai.{old}"))
            yield from map(as_mapping, said if isinstance(said, list) else [{"content": said}])
        elif name == "gen_ai.client.inference.operation.details":
            said = _decoded(attributes.get(f"gen_ai.{side}.messages"))
            yield from map(as_mapping, as_list(said))


def _read_message(message: dict[str, Any]) -> tuple[str, list[ToolCall]]:
    texts, calls = list[str](), list[ToolCall]()
    for part in map(as_mapping, as_list(message.get("parts"))):
        if part.get("type") == "tool_call":
            calls.append(_call(part))
        elif part.get("type") == "text":
            texts.append(as_text(part.get("content", part.get("text"))))
    given = message.get("tool_calls")
    listed = list(given.values()) if isinstance(given, dict) else as_list(_decoded(given))
    for call in map(as_mapping, listed):
        calls.append(_call({**call, **as_mapping(call.get("function"))}))
    texts.append(as_text(_decoded(message.get("content"))))
    return "\n".join(text for text in texts if text), calls


def _call(given: dict[str, Any]) -> ToolCall:
    return ToolCall(
        id=as_name(given.get("id")),
        name=as_text(given.get("name")),
        arguments=as_arguments(given.get("arguments")),
    )


def _decoded(given: object) -> Any:
    """A value, or what the JSON text of a list or an object holds."""
    if isinstance(given, str) and given[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(given)
        except (ValueError, RecursionError):
            return given
    return given
