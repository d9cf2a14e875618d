"""A grader by Inspect's `get_model`: any provider, gateway or local server that Inspect knows."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from turncurve.errors import GradeError, MissingExtraError
from turncurve.grading.model import GraderMessage, Parameters, ProviderError, Reply
from turncurve.model import Usage

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolInfo

MOST_RETRIES = 6
"""Tries that Inspect adds where a provider is busy; it knows how each says so."""
DEFAULT_MAX_TOKENS = 4_096
"""Of a reply. A model that reasons spends most of them before it answers."""
_MARKUP = re.compile(r"\[/?(?:bold|dim|blue|red|italic)[^\]]*\]")
_OURS = frozenset({"response_schema", "max_connections", "max_retries", "system_message", "cache"})
_NO_SCHEMA = ("response_format", "json_schema", "response_schema", "structured output", "schema")


def inspect_grader(
    name: str,
    *,
    parameters: Parameters | None = None,
    base_url: str | None = None,
    concurrency: int = 8,
) -> InspectModel:
    """A grader by its name in Inspect, as `openai/gpt-5-mini` or `ollama/qwen3`.

    Args:
        name: Provider and model.
        parameters: Fields of Inspect's `GenerateConfig` that change answers: temperature, seed,
            max_tokens, reasoning_effort and the like.
        base_url: Where a gateway or a local server listens.
        concurrency: Calls under way at once.

    Raises:
        MissingExtraError: Inspect is not installed.
        GradeError: There is no such provider, key or parameter.
    """
    try:
        from inspect_ai.model import GenerateConfig, get_model  # noqa: PLC0415 - an extra, and slow
    except ModuleNotFoundError as problem:
        raise MissingExtraError("grading with a model", "inspect") from problem
    known = sorted(set(GenerateConfig.model_fields) - _OURS)
    given: dict[str, Any] = {"max_tokens": DEFAULT_MAX_TOKENS, **(parameters or {})}
    unknown = [one for one in given if one not in known]
    if unknown:
        raise GradeError(f"no parameter {unknown[0]!r}; known: {', '.join(known)}")
    try:
        config = GenerateConfig(
            **given, max_connections=concurrency, max_retries=MOST_RETRIES, cache=False
        )
        with redirect_stdout(sys.stderr):  # Inspect says there which hooks it loads
            model = get_model(name, config=config, base_url=base_url, memoize=False)
    except Exception as problem:
        raise GradeError(f"the grader {name!r} cannot be had: {_words(problem)}") from problem
    return InspectModel(model, name=name, parameters=given, isolated=True)


class InspectModel:
    """One of Inspect's models as a grader.

    Args:
        model: The model.
        name: What its grades are signed with; without one, its own.
        parameters: All that changes its answers.
        isolated: Keep calls out of the transcript of the process, which would hold every prompt
            in memory; leave it False within an evaluation, whose log is to show them.
    """

    def __init__(
        self,
        model: Model,
        *,
        name: str | None = None,
        parameters: Parameters | None = None,
        isolated: bool = False,
    ) -> None:
        self._model = model
        self.name = name or str(model)
        self.parameters: Parameters = dict(parameters or {})
        self._isolated = isolated
        self._takes_parts = "anthropic" in self.name
        self._takes_schema = True

    async def generate(
        self, messages: Sequence[GraderMessage], schema: Mapping[str, Any] | None
    ) -> Reply:
        """Ask; where the provider refuses the schema, ask without, then and from then on."""
        sent = [self._message(message) for message in messages]
        held = schema if self._takes_schema else None
        try:
            return await self.ask(sent, config=_config(held))
        except ProviderError as problem:
            cause = problem.__cause__
            if held is None or not isinstance(cause, Exception) or not _is_about_schema(cause):
                raise
        self._takes_schema = False
        return await self.generate(messages, None)

    async def ask(
        self,
        messages: list[ChatMessage],
        *,
        config: GenerateConfig,
        tools: Sequence[ToolInfo] = (),
    ) -> Reply:
        """Ask with messages as Inspect has them.

        Args:
            messages: Sent as they are.
            config: Beside what was set for the model.
            tools: What the model is told that there is; it may call none of it.

        Raises:
            ProviderError: The call failed.
        """
        if self._isolated:
            _with_own_transcript()
        try:
            output = await self._model.generate(
                messages, tools=list(tools), tool_choice="none" if tools else None, config=config
            )
        except Exception as problem:
            raise ProviderError(_words(problem)) from problem
        return _reply(output)

    def _message(self, message: GraderMessage) -> ChatMessage:
        from inspect_ai.model import (  # noqa: PLC0415 - an extra, and slow
            ChatMessageAssistant,
            ChatMessageSystem,
            ChatMessageUser,
            ContentText,
        )

        if message.role == "system":
            return ChatMessageSystem(content=message.text)
        if message.role == "assistant":
            return ChatMessageAssistant(content=message.text)
        if self._takes_parts and len(message.parts) > 1:
            # Its prompt cache finds a common beginning by whole blocks only.
            return ChatMessageUser(content=[ContentText(text=f"{p}\n\n") for p in message.parts])
        return ChatMessageUser(content=message.text)


def _config(schema: Mapping[str, Any] | None) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig, ResponseSchema  # noqa: PLC0415 - as above
    from inspect_ai.util import JSONSchema  # noqa: PLC0415

    if schema is None:
        return GenerateConfig()
    wanted = JSONSchema.model_validate(dict(schema))
    return GenerateConfig(response_schema=ResponseSchema(name="answer", json_schema=wanted))


def _reply(output: ModelOutput) -> Reply:
    if output.error:
        raise ProviderError(output.error)
    if not output.choices:
        raise ProviderError("the provider gave no reply")
    stops = {"content_filter": "refusal", "max_tokens": "length", "model_length": "length"}
    usage = output.usage
    return Reply(
        text=output.completion,
        usage=None
        if usage is None
        else Usage(
            input_uncached=usage.input_tokens,
            cache_read=usage.input_tokens_cache_read,
            cache_write=usage.input_tokens_cache_write,
            output=usage.output_tokens,
            reasoning=usage.reasoning_tokens,
        ),
        cost_usd=None if usage is None else usage.total_cost,
        stop=stops.get(output.stop_reason, "end"),  # type: ignore[arg-type]
    )


def _with_own_transcript() -> None:
    """Give this task a transcript of its own, which goes when the task does."""
    from inspect_ai.log._transcript import Transcript, init_transcript  # noqa: PLC0415 - as above

    init_transcript(Transcript())


def _is_about_schema(problem: Exception) -> bool:
    words = str(problem).lower()
    return any(word in words for word in _NO_SCHEMA)


def _words(problem: BaseException) -> str:
    """What went wrong, in a line; Inspect wraps a provider's own error when it gives up."""
    inner = getattr(problem, "last_attempt", None)
    cause = problem.__cause__ or (inner.exception() if inner is not None else None) or problem
    text = " ".join(str(cause).split())
    return f"{type(cause).__name__}: {_MARKUP.sub('', text)}"[:500]
