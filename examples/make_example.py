"""Make the Inspect logs of the example: an agent that works through a support desk's tickets.

    python examples/make_example.py [FOLDER [SHIFT ...]]

The agent is a script on Inspect's `mockllm`: no model, key or network. It decides from what its
input holds, as a model would, so that a compaction that trims the standing rules and the list of
tables from the conversation makes it work without them. That is the planted fault; README.md beside
this file says what must be found. All but times and ids follows from SEED in ticket_desk/world.py.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("INSPECT_DISPLAY", "none")

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    CompactionTrim,
    GenerateConfig,
    Model,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    get_model,
    set_model_cost,
    set_model_info,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import store
from ticket_desk.agent import decide
from ticket_desk.rubric import handed_over, turn_quality
from ticket_desk.world import (
    RULES,
    SCENARIOS,
    TABLES,
    list_queue,
    read_file,
    run_query,
    search_docs,
    update_ticket,
)

FOLDER = Path(__file__).resolve().parent / "long-agent"
MODEL = "mockllm/ticket-desk"
TRIALS = 3
TURN_LIMIT = 84
COMPACTION = CompactionTrim(threshold=6_600, preserve=0.15, memory=False)
"""At 6,600 tokens all but the last 15 in 100 of the messages are trimmed away."""
USD_PER_MILLION = ModelCost(input=3.0, output=15.0, input_cache_read=0.3, input_cache_write=3.75)
PROMPT = f"""You work the support desk of a shipping platform, alone, for one shift.
Read {RULES} and {TABLES} first, then work through the queue ticket by ticket: look for the
runbook, look at the data, update the ticket. Call submit when the queue is empty."""


def main(folder: Path, shifts: Sequence[str] = tuple(SCENARIOS)) -> None:
    """Run the agent and write its logs: one of the shifts that are compacted, one of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, is_whole in (("compacted", False), ("whole", True)):
        chosen = [shift for shift in shifts if SCENARIOS[shift].get("whole", False) is is_whole]
        if chosen:
            log = run(chosen, None if is_whole else COMPACTION)
            write_eval_log(log, str(folder / f"{name}.eval"))


def run(scenarios: list[str], compaction: CompactionTrim | None) -> EvalLog:
    """Run some shifts, each in every trial; what tells of this machine is left out of the log."""
    set_model_info(MODEL, ModelInfo(context_length=32_000))
    set_model_cost(MODEL, USD_PER_MILLION)
    with tempfile.TemporaryDirectory() as scratch:
        (done,) = eval(
            desk(scenarios, compaction),
            model=scripted_model(),
            log_dir=scratch,
            display="none",
            max_samples=1,
            turn_limit=TURN_LIMIT,
            log_model_api=False,
        )
        log = read_eval_log(done.location)
    if log.status != "success":
        raise RuntimeError(f"the evaluation ended as {log.status}: {log.error}")
    log.eval.revision = None
    log.eval.task_file = "examples/make_example.py"
    return log


def desk(scenarios: list[str], compaction: CompactionTrim | None) -> Task:
    """The task: one sample a shift."""
    return Task(
        name="ticket_desk",
        dataset=[Sample(id=name, input=f"Your shift: {name}.") for name in scenarios],
        setup=remember_shift(),
        solver=react(
            prompt=PROMPT,
            tools=[read_file(), search_docs(), list_queue(), run_query(), update_ticket()],
            compaction=compaction,
        ),
        scorer=[handed_over(), turn_quality()],
        epochs=TRIALS,
    )


@solver
def remember_shift() -> Solver:
    """Let the tools and the scripted model know which shift and trial they are in."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        store().set("scenario", str(state.sample_id))
        store().set("trial", state.epoch)
        return state

    return solve


def scripted_model() -> Model:
    """`mockllm` that answers by script, and counts tokens without a tokenizer from the net."""

    def answer(
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        del tool_choice, config
        output = decide(messages)
        output.usage = usage(messages, tools, output)
        return output

    async def count_text_tokens(text: str) -> int:
        return tokens(text)

    model = get_model(MODEL, custom_outputs=answer, memoize=False)
    model.api.count_text_tokens = count_text_tokens  # type: ignore[method-assign]
    return model


def tokens(text: str) -> int:
    """About four characters a token."""
    return max(1, len(text) // 4)


def usage(messages: list[ChatMessage], tools: list[ToolInfo], output: ModelOutput) -> ModelUsage:
    """Tokens of a call; the messages that the call before began with come from the cache."""
    sizes = [message_tokens(message) for message in messages]
    names = [message.id for message in messages]
    same, before = 0, store().get("sent", [])
    while same < min(len(names), len(before)) and names[same] == before[same]:
        same += 1
    store().set("sent", names)
    preamble = sum(tokens(tool.model_dump_json()) for tool in tools)
    read = preamble + sum(sizes[:same]) if before else 0
    total, written = preamble + sum(sizes), message_tokens(output.message)
    return ModelUsage(
        input_tokens=total - read,
        input_tokens_cache_read=read,
        output_tokens=written,
        total_tokens=total + written,
    )


def message_tokens(message: ChatMessage) -> int:
    """Tokens of a message: its text, its tool calls, and what frames it."""
    calls = message.tool_calls or [] if isinstance(message, ChatMessageAssistant) else []
    return 8 + tokens(message.text) + sum(tokens(json.dumps(call.arguments)) for call in calls)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER, sys.argv[2:] or tuple(SCENARIOS))
