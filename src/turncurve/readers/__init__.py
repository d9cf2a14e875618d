"""Trace files to runs: one module a format. To add one, write its `READER` and name it here."""

from __future__ import annotations

from turncurve.readers.base import OnProblem, Reader, raise_problem
from turncurve.registry import Registry

READERS: Registry[Reader] = Registry(
    "reader",
    {  # the first that recognises a file reads it, so `turns`, the most general, comes last
        "inspect": "turncurve.readers.inspect_log:READER",
        "atif": "turncurve.readers.atif:READER",
        "openhands": "turncurve.readers.openhands:READER",
        "mini_swe_agent": "turncurve.readers.mini_swe_agent:READER",
        "swe_agent": "turncurve.readers.swe_agent:READER",
        "claude_code": "turncurve.readers.claude_code:READER",
        "codex": "turncurve.readers.codex:READER",
        "gemini_cli": "turncurve.readers.gemini_cli:READER",
        "opencode": "turncurve.readers.opencode:READER",
        "openclaw": "turncurve.readers.openclaw:READER",
        "claude_managed_agents": "turncurve.readers.claude_managed_agents:READER",
        "otel": "turncurve.readers.otel:READER",
        "trail": "turncurve.readers.trail:READER",
        "langfuse": "turncurve.readers.langfuse:READER",
        "langsmith": "turncurve.readers.langsmith:READER",
        "tau_bench": "turncurve.readers.tau_bench:READER",
        "tau2": "turncurve.readers.tau2:READER",
        "terminal_bench": "turncurve.readers.terminal_bench:READER",
        "lost_in_conversation": "turncurve.readers.lost_in_conversation:READER",
        "mt_bench": "turncurve.readers.mt_bench:READER",
        "who_and_when": "turncurve.readers.who_and_when:READER",
        "grades": "turncurve.readers.grades:READER",
        "graded": "turncurve.readers.graded:READER",
        "turns": "turncurve.readers.turns:READER",
    },
    Reader,
    lambda reader: reader.name,
)

__all__ = ["READERS", "OnProblem", "Reader", "raise_problem"]
