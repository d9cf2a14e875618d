"""What each format gives, declared once; the tests prove it and the docs show it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from turncurve.model import ExitType, Run

Given: TypeAlias = Literal["yes", "derived", "absent"]

ASPECTS = (
    *("turns", "tools", "errors", "usage", "cost", "time", "outcome", "compaction", "sub-agents"),
)

REAL, SCHEMA = "real files", "documented schema"


class Format(NamedTuple):
    """What a format gives, in the order of ASPECTS, and what that was checked on."""

    given: tuple[Given, ...]
    checked: str


def _format(words: str, checked: str) -> Format:
    """The aspects by their first letters: y for yes, d for derived, - for absent."""
    names: dict[str, Given] = {"y": "yes", "d": "derived", "-": "absent"}
    return Format(tuple(names[letter] for letter in words), checked)


FORMATS = {
    "inspect": _format("yyyyyyyyy", REAL),
    "atif": _format("yyyyyyyyy", "real files of 1.5; other versions by the documented schema"),
    "openhands": _format("yyyddyyy-", "a real event list; evaluation output by its schema"),
    "mini_swe_agent": _format("yyyyyyy--", REAL),
    "swe_agent": _format("yydyy-y--", REAL),
    "claude_code": _format("yyyy-yyyy", REAL),
    "codex": _format("yyyy-yyyy", REAL),
    "gemini_cli": _format("yyyy-yydy", "real files; one record a line by its schema"),
    "opencode": _format("yyyyyyyyy", "a real session; sub-agents, compaction by the schema"),
    "openclaw": _format("yyyyyyyyy", "real files; sub-agents by the schema"),
    "claude_managed_agents": _format("yyyyyyyyy", "a real session; threads by the reference"),
    "otel": _format("yyyyyyyyy", "real exports; old attributes by the conventions"),
    "trail": _format("yyyy-yy--", REAL),
    "langfuse": _format("yyyyyyy-y", SCHEMA),
    "langsmith": _format("yyyyyyy--", SCHEMA),
    "tau_bench": _format("yyd---y--", REAL),
    "tau2": _format("yyyyyyyy-", "real files; compaction by its data model"),
    "terminal_bench": _format("---y--y--", REAL),
    "lost_in_conversation": _format("y---yyy--", REAL),
    "mt_bench": _format("y--------", REAL),
    "who_and_when": _format("yyy---y--", REAL),
    "grades": _format("y-----y--", "made files"),
    "graded": _format("y-----y--", REAL),
    "turns": _format("yyyyyyyy-", "made files"),
}

ABSENT_SIGNAL = {
    "usage": "context_tokens",
    "cost": "cost_usd",
    "time": "started_at",
    "compaction": "compaction",
}
"""The signal that each aspect is, among those that a run can name as absent."""

OF_RUN = "of the whole run"
NO_COMPACTION = "the agent has none: it is 0, which is known"

REMARKS = {
    ("openhands", "usage"): "counters of the session, by difference",
    ("openhands", "cost"): "counters of the session, by difference",
    ("swe_agent", "errors"): "by the text of a result",
    ("tau_bench", "errors"): "by the text of a result",
    ("swe_agent", "usage"): OF_RUN,
    ("swe_agent", "cost"): OF_RUN,
    ("terminal_bench", "usage"): OF_RUN,
    ("claude_managed_agents", "cost"): OF_RUN,
    ("gemini_cli", "usage"): f"{OF_RUN} in stream-json",
    ("gemini_cli", "compaction"): "from a shorter history of the model, or the tool's own notice",
    ("atif", "errors"): "by the text of a result, unless its writer put a flag",
    ("otel", "outcome"): "a failed root alone",
    ("trail", "outcome"): "the overall score that people gave the trace",
    ("mini_swe_agent", "compaction"): NO_COMPACTION,
    ("tau_bench", "compaction"): NO_COMPACTION,
    ("lost_in_conversation", "compaction"): NO_COMPACTION,
    ("langfuse", "outcome"): "a failed root, and a score of the whole trace",
    ("langsmith", "outcome"): "a failed root, and feedback on the whole trace",
}


def seen(runs: Iterable[Run]) -> dict[str, set[str]]:
    """How each aspect shows in some runs: an empty set is not at all."""
    found: dict[str, set[str]] = {aspect: set() for aspect in ASPECTS}
    for run in runs:
        _see_run(run, found)
        for turn in run.turns:
            found["turns"].add("turn")
            if turn.tool_calls or turn.tool_results or turn.action is not None:
                found["tools"].add("call")
            found["errors"] |= {r.detector for r in turn.tool_results if r.detector}
            if "tool_error" in turn.values:
                found["errors"].add("value")
            if turn.usage is not None:
                found["usage"].add("turn")
            if turn.cost_usd is not None:
                found["cost"].add("turn")
            if turn.started_at is not None or turn.seconds is not None:
                found["time"].add("turn")
    return found


def _see_run(run: Run, found: dict[str, set[str]]) -> None:
    ended = run.exit_type not in (ExitType.UNKNOWN, ExitType.STILL_RUNNING)
    if run.success is not None or run.score is not None or ended:
        found["outcome"].add("run")
    if run.totals is not None and run.totals.input_tokens is not None:
        found["usage"].add("run")
    if run.totals is not None and run.totals.cost_usd is not None:
        found["cost"].add("run")
    if any(event.kind == "compaction" for event in run.events):
        found["compaction"].add("event")
    if run.parent is not None:
        found["sub-agents"].add("run")


def page() -> str:
    """The conformance table as the docs show it."""
    head = " | ".join(("format", *ASPECTS, "checked on"))
    rule = "|".join("---" for _ in range(len(ASPECTS) + 2))
    rows = [
        "| " + " | ".join((f"`{name}`", *format_.given, format_.checked)) + " |"
        for name, format_ in FORMATS.items()
    ]
    remarks = [f"- `{name}`, {aspect}: {words}." for (name, aspect), words in REMARKS.items()]
    return "\n".join([*_INTRODUCTION, f"| {head} |", f"|{rule}|", *rows, "", *remarks, ""])


_INTRODUCTION = [
    "# What each format gives",
    "",
    "yes: the files say so.",
    "derived: the reader works it out from something else, such as the text of a result.",
    "absent: no file of the format says it, and the signal is absent with that reason, never 0.",
    "A single file may lack what its format can give.",
    "",
    "This page is made by `tools/make_conformance_docs.py`; the tests prove each entry on the "
    "fixtures of its format.",
    "",
]
