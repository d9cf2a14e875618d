"""Options of `turncurve grade`, handed over as one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from turncurve.cli.options import F, WholeNumber, bundled, finite, in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """How runs are graded, as the command line says it."""

    models: tuple[str, ...]
    rubric: str
    restate: str | None
    samples: int
    turns: tuple[int, ...]
    every: int
    parameters: tuple[tuple[str, str], ...]
    base_url: str | None
    context_tokens: int
    concurrency: int
    per_run: int
    price: tuple[float, float] | None
    max_usd: float | None
    max_tokens: int | None
    max_calls: int | None
    max_missing: float
    dry_run: bool
    canary: Path | None
    canary_every: float
    canary_steps: int


def _turns(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Numbers of turns, divided by commas."""
    from turncurve.grading.turn_choice import turn_numbers  # noqa: PLC0415 -- --help is light

    try:
        return turn_numbers(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from problem


def _pairs(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Names with their values."""
    pairs = []
    for one in value:
        name, equals, given = one.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"wanted NAME=VALUE, got {one!r}", ctx, param)
        pairs.append((name, given))
    return tuple(pairs)


def _price(
    ctx: click.Context, param: click.Parameter, value: tuple[float, float] | None
) -> tuple[float, float] | None:
    if value is not None and not all(0 <= one < float("inf") for one in value):
        raise click.BadParameter(f"wanted two prices of 0 or more, got {value!r}", ctx, param)
    return value


def grade_options(command: F) -> F:
    """Add the options that say how runs are graded; the command gets them as `grading`."""
    add = in_order(
        click.option(
            "--model",
            "models",
            multiple=True,
            required=True,
            metavar="NAME",
            help="Who grades, by its name in Inspect, as openai/gpt-5-mini or ollama/qwen3. Given "
            "several times, they vote.",
        ),
        click.option(
            "--rubric",
            default="steps",
            show_default=True,
            metavar="RUBRIC",
            help="What is asked: a file, or steps, score, rules or fidelity.",
        ),
        click.option(
            "--restate",
            metavar="NAME",
            help="With a fidelity rubric: have this model, usually the agent's own, restate the "
            "objective in a copy of each chosen turn's state, and judge that.",
        ),
        click.option(
            "--samples",
            type=WholeNumber(min=1),
            default=1,
            show_default=True,
            help="Ask each grader so often about each turn; its answers vote.",
        ),
        click.option(
            "--turns",
            metavar="LIST",
            callback=_turns,
            help="Grade these turns only, as 5,15,30,50.",
        ),
        click.option(
            "--every",
            type=WholeNumber(min=1),
            default=1,
            show_default=True,
            metavar="K",
            help="Grade every k-th turn only.",
        ),
        click.option(
            "-P",
            "--parameter",
            "parameters",
            multiple=True,
            metavar="NAME=VALUE",
            callback=_pairs,
            help="A parameter of the models, as temperature=0 or reasoning_effort=low. Can be "
            "given several times.",
        ),
        click.option(
            "--base-url", metavar="URL", help="Where a gateway or a local server listens."
        ),
        click.option(
            "--context-tokens",
            type=WholeNumber(min=1),
            default=24_000,
            show_default=True,
            help="Tokens that a prompt may have; the oldest turns are left out first.",
        ),
        click.option(
            "--concurrency",
            type=WholeNumber(min=1),
            default=8,
            show_default=True,
            help="Calls under way at once.",
        ),
        click.option(
            "--per-run",
            type=WholeNumber(min=1),
            default=1,
            show_default=True,
            help="Turns of one run under way at once; 1 keeps a provider's prompt cache warm.",
        ),
        click.option(
            "--price",
            nargs=2,
            type=float,
            callback=_price,
            metavar="IN OUT",
            help="US dollars of a million input and output tokens; without it, the kept price "
            "table is asked.",
        ),
        click.option(
            "--max-usd",
            type=click.FloatRange(min=0, min_open=True),
            callback=finite,
            metavar="X",
            help="Stop before this is spent.",
        ),
        click.option(
            "--max-tokens",
            type=WholeNumber(min=1),
            metavar="N",
            help="Stop before so many tokens are sent and received.",
        ),
        click.option(
            "--max-calls", type=WholeNumber(min=1), metavar="N", help="Stop after so many calls."
        ),
        click.option(
            "--max-missing",
            type=click.FloatRange(0, 1),
            default=0.05,
            show_default=True,
            metavar="SHARE",
            help="Share of missing grades above which that is said first.",
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Say how many calls, tokens and dollars it would take; nothing is called.",
        ),
        click.option(
            "--canary",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Steps that are graded again and again, to see a grader change; made where there "
            "is no file.",
        ),
        click.option(
            "--canary-every",
            type=click.FloatRange(min=0),
            callback=finite,
            default=7.0,
            show_default=True,
            metavar="DAYS",
            help="Grade the canary again when its last round is so old.",
        ),
        click.option(
            "--canary-steps",
            type=WholeNumber(min=1),
            default=30,
            show_default=True,
            help="Steps of a canary that is made.",
        ),
    )
    return add(bundled(command, "grading", Grading))
