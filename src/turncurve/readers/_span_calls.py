"""What a span says of a model call or a tool call, in the words of several conventions.

GenAI semantic conventions of OpenTelemetry, old and new, OpenInference, and OpenLLMetry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from turncurve.model import Message, ToolCall, ToolResult, Usage, usage_with_cache_inside
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._spans import Span
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_name,
    as_text,
    is_transient,
)

Kind = Literal["call", "tool", "agent", "other"]

_OPERATIONS: Mapping[str, Kind] = {
    "chat": "call",
    "text_completion": "call",
    "generate_content": "call",
    "execute_tool": "tool",
    "invoke_agent": "agent",
}
_OPENINFERENCE: Mapping[str, Kind] = {"LLM": "call", "TOOL": "tool", "AGENT": "agent"}
_TRACELOOP: Mapping[str, Kind] = {"tool": "tool", "agent": "agent"}
_INPUT = (
    *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "llm.usage.prompt_tokens",
)
_OUTPUT = (
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    *("llm.token_count.completion", "llm.usage.completion_tokens"),
)
_CACHED = (
    *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    *("gen_ai.usage.details.cache_read_tokens", "llm.token_count.prompt_details.cache_read"),
)
_CACHE_WRITE = (
    *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
    *("gen_ai.usage.details.cache_write_tokens", "llm.token_count.prompt_details.cache_write"),
)
_REASONING = (
    *("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
    *("gen_ai.usage.details.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
)
_COST = ("llm.cost.total", "gen_ai.usage.cost", "operation.cost", "gen_ai.usage.total_cost")
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_RUN = ("gen_ai.conversation.id", "session.id")
COMPACTED = "gen_ai.conversation.compacted"

_MESSAGE = re.compile(r"(?:llm\.)?(\w+)_messages\.(\d{1,6})\.message\.(.+)")
_OLD_MESSAGE = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(.+)")
_TOOL_CALL = re.compile(r"tool_calls\.(\d{1,6})\.(?:tool_call\.)?(?:function\.)?(\w+)")
_PART = re.compile(r"contents\.(\d{1,6})\.message_content\.text")


def kind_of(span: Span) -> Kind:
    """What a span stands for; a wrapper, a chain or a workflow is `other`."""
    attributes = span.attributes
    operation = as_name(attributes.get("gen_ai.operation.name"))
    if operation is not None:
        return _OPERATIONS.get(operation, "other")
    named = as_name(attributes.get("openinference.span.kind"))
    if named is not None:
        return _OPENINFERENCE.get(named.upper(), "other")
    traced = as_name(attributes.get("traceloop.span.kind"))
    if traced is not None:
        return _TRACELOOP.get(traced, "other")
    requested = attributes.get("llm.request.type") in ("chat", "completion")
    return "call" if requested or any(name in attributes for name in _OUTPUT) else "other"


def conversation_of(span: Span) -> str | None:
    """The conversation or session that a span names."""
    return next((name for key in _RUN if (name := as_name(span.attributes.get(key)))), None)


def agent_name(span: Span) -> str:
    """The name of the agent that an agent's span is of."""
    return as_name(span.attributes.get("gen_ai.agent.name")) or span.name or "agent"


def model_of(span: Span) -> str | None:
    """The model that answered, else the one that was asked."""
    return next((name for key in _MODEL if (name := as_name(span.attributes.get(key)))), None)


def usage_of(span: Span) -> Usage | None:
    """Tokens of a call. By the conventions input includes cached tokens.

    Where the cached tokens are more than the input, the writer left them out of it.
    """
    given, output = _count(span, _INPUT), _count(span, _OUTPUT)
    if given is None and output is None:
        return None
    cached, written = _count(span, _CACHED), _count(span, _CACHE_WRITE)
    reasoning = _count(span, _REASONING)
    if given is not None and (cached or 0) + (written or 0) > given:
        return Usage(
            input_uncached=given,
            cache_read=cached,
            cache_write=written,
            output=output,
            reasoning=reasoning,
        )
    return usage_with_cache_inside(
        input_tokens=given,
        cached=cached,
        cache_write=written,
        output=output,
        reasoning=reasoning,
    )


def cost_of(span: Span) -> float | None:
    """US dollars of a call, where its writer worked them out."""
    for key in _COST:
        cost = _number(span.attributes.get(key))
        if cost is not None and cost >= 0:
            return cost
    return None


def compacted(span: Span) -> bool | None:
    """Whether the conversation was compacted before this call; None where it is not said."""
    given = span.attributes.get(COMPACTED)
    if isinstance(given, str) and given.lower() in ("true", "false"):
        given = given.lower() == "true"
    return given if isinstance(given, bool) else None


def tool_call_of(span: Span) -> ToolCall:
    """The call that a tool's span ran."""
    attributes = span.attributes
    given = attributes.get("gen_ai.tool.call.arguments")
    for key in ("tool.parameters", "input.value", "traceloop.entity.input"):
        given = attributes.get(key) if given is None else given
    name = as_name(attributes.get("gen_ai.tool.name")) or as_name(attributes.get("tool.name"))
    return ToolCall(id=call_id_of(span), name=name or span.name, arguments=as_arguments(given))


def call_id_of(span: Span) -> str | None:
    """The id of the call that a tool's span ran."""
    attributes = span.attributes
    keys = ("gen_ai.tool.call.id", "tool_call.id", "tool.call.id")
    return next((name for key in keys if (name := as_name(attributes.get(key)))), None)


def result_of(span: Span, call_id: str | None) -> ToolResult:
    """What a tool gave back; its span's status says whether it failed."""
    attributes = span.attributes
    given = attributes.get("gen_ai.tool.call.result")
    for key in ("output.value", "traceloop.entity.output"):
        given = attributes.get(key) if given is None else given
    failed = span.failed or "error.type" in attributes
    text = as_text(given) or (span.message if failed else "")
    return ToolResult(
        call_id=call_id,
        text=text,
        error=failed,
        detector="status",
        transient=failed and is_transient(f"{text} {attributes.get('error.type', '')}"),
    )


def answer_of(span: Span) -> tuple[str, list[ToolCall]]:
    """The text of an answer and the calls in it; nothing where content was not recorded."""
    texts, calls = list[str](), list[ToolCall]()
    for message in _messages(span, "output"):
        text, own = _read_message(message)
        if text:
            texts.append(text)
        calls += own
    if not texts and not calls:
        texts = [as_text(span.attributes.get("output.value"))]
    return "\n".join(text for text in texts if text), calls


def heard_by(span: Span) -> list[Message]:
    """What a call was told since the last answer in its input; tools' results are not in it."""
    heard = list[Message]()
    for message in _messages(span, "input"):
        role = as_text(message.get("role"))
        if role in ("assistant", "model", "ai"):
            heard = []
        elif role not in ("tool", "function"):
            text = _read_message(message)[0]
            if text:
                heard.append(Message(role="system" if role == "system" else "user", text=text))
    return heard


def _messages(span: Span, side: Literal["input", "output"]) -> list[dict[str, Any]]:
    """The messages of one side of a call, as mappings with a role and content or parts."""
    given = _decoded(span.attributes.get(f"gen_ai.{side}.messages"))
    if isinstance(given, list):
        return [as_mapping(message) for message in given]
    flat = _flattened(span.attributes, side)
    return flat or [*_from_events(span, side)]


def _flattened(attributes: Mapping[str, Any], side: str) -> list[dict[str, Any]]:
    old = {"input": "prompt", "output": "completion"}[side]
    messages: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = _MESSAGE.fullmatch(key)
        if match is None or match[1] != side:
            match = _OLD_MESSAGE.fullmatch(key)
            if match is None or match[1] != old:
                continue
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
    """Messages that older conventions write as events of the span."""
    for name, attributes in span.events:
        content = _decoded(attributes.get("content"))
        if name == "gen_ai.choice" and side == "output":
            message = _decoded(attributes.get("message"))
            yield as_mapping(message) or {"content": content or attributes.get("message")}
        elif name.startswith("gen_ai.") and name.endswith(".message") and side == "input":
            yield {"content": content, "role": name.split(".")[1], **attributes}


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
    if isinstance(given, str) and given[:1] in "[{":
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def _count(span: Span, keys: tuple[str, ...]) -> int | None:
    for key in keys:
        count = as_count(_number(span.attributes.get(key)))
        if count is not None:
            return count
    return None


def _number(given: object) -> float | None:
    """A number, be it written as text."""
    if isinstance(given, str) and re.fullmatch(r"\d{1,18}(?:\.\d{1,18})?", given):
        given = float(given)
    return as_float(given)
