"""Phase: whether a turn looks around (explore) or changes something (act)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from turncurve.model import Run, ToolCall, Turn
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.signals.shell import LONGEST, Phase, shell_phase
from turncurve.table import SignalInfo, TurnTable

_SHELL_TOOLS = frozenset(
    {
        *("bash", "shell", "shellcommand", "execcommand", "localshell", "localshellcall", "exec"),
        *("terminal", "runshellcommand", "runterminalcmd", "executebash", "cmdrun", "bashsession"),
        *("runcommand", "container.exec", "unifiedexec"),
    }
)
"""Claude Code, Codex, Inspect, SWE-agent, mini-swe-agent, OpenHands, OpenClaw, Gemini CLI."""

_TOOLS: dict[str, Phase] = {
    # Claude Code, OpenClaw, opencode
    **dict.fromkeys(
        ("read", "glob", "grep", "ls", "webfetch", "websearch", "notebookread", "bashoutput"),
        "explore",
    ),
    **dict.fromkeys(("edit", "multiedit", "write", "notebookedit", "killshell"), "act"),
    # Codex
    "applypatch": "act",
    "viewimage": "explore",
    "writestdin": "act",
    # SWE-agent
    **dict.fromkeys(
        ("open", "goto", "scrollup", "scrolldown", "searchdir", "searchfile", "findfile"),
        "explore",
    ),
    **dict.fromkeys(("create", "insert", "undoedit", "submit"), "act"),
    # Inspect
    **dict.fromkeys(("python", "ipython", "webbrowserclick", "webbrowsertype"), "act"),
    **dict.fromkeys(("webbrowsergo", "webbrowserscroll", "webbrowserback"), "explore"),
    # tau-bench
    "calculate": "explore",
    "transfertohumanagents": "act",
}

_EDITORS = frozenset({"strreplaceeditor", "texteditor", "strreplacebasededittool", "editor"})
"""Tools whose argument `command` says what they do: `view` looks, any other edits."""

_EXPLORE_VERBS = frozenset(
    {
        *("get", "list", "search", "find", "read", "view", "show", "fetch", "query", "look"),
        *("lookup", "describe", "inspect", "check", "browse", "grep", "scan", "retrieve", "scroll"),
    }
)
_ACT_VERBS = frozenset(
    {
        *("update", "cancel", "book", "send", "exchange", "modify", "return", "create", "delete"),
        *("write", "edit", "set", "add", "remove", "run", "execute", "submit", "insert", "replace"),
        *("apply", "move", "rename", "click", "type", "post", "put", "install", "save", "patch"),
    }
)
_WORD = re.compile(r"[A-Za-z][a-z]*")


def phase_explore(run: Run) -> FloatArray:
    """1 where a turn only looks, 0 where it changes something or runs code, NaN if not known.

    A turn acts if any of its actions does; it explores if none acts and one is known to look.
    Shell commands are told apart by their heads, other tools by name and then by their verb.
    """
    return per_turn(turn_phase(turn) for turn in run.turns)


def phase_known(table: TurnTable) -> FloatArray:
    """1 where the phase of a turn is known, 0 where the turn has an action of unknown phase.

    NaN in a turn without an action. The mean is the coverage of `phase_explore`.
    """
    n_actions = np.bincount(table.calls.row, minlength=len(table.turn))
    known = ~np.isnan(table.columns["phase_explore"])
    return np.where(known, 1.0, np.where(n_actions > 0, 0.0, np.nan))


def call_phase(call: ToolCall) -> Phase | None:
    """Whether a tool call explores or acts; None where that is not known."""
    arguments: Any = call.arguments
    command = arguments if isinstance(arguments, str) else _command(arguments)
    return named_phase(call.name, command)


def named_phase(name: str, command: str | None) -> Phase | None:
    """Whether a tool explores or acts, by its name and the command in its arguments, if any."""
    plain = name.lower().replace("_", "").replace("-", "")
    if plain in _SHELL_TOOLS:
        return None if command is None else shell_phase(command)
    if plain in _EDITORS:
        return None if command is None else "explore" if command.strip() == "view" else "act"
    if plain in _TOOLS:
        return _TOOLS[plain]
    if command is not None and command.startswith(name):  # SWE-agent: the head is the tool's name
        return shell_phase(command)
    verb = _WORD.match(name)
    if verb is None:
        return None
    word = verb.group().lower()
    return "explore" if word in _EXPLORE_VERBS else "act" if word in _ACT_VERBS else None


def _turn_phase(turn: Turn) -> Phase | None:
    if turn.tool_calls:
        phases = {call_phase(call) for call in turn.tool_calls}
    elif turn.action is not None:
        return _action_phase(turn.action[:LONGEST])
    else:
        return None
    return "act" if "act" in phases else "explore" if "explore" in phases else None


def turn_phase(turn: Turn) -> float | None:
    """`phase_explore` of one turn; None where it is not known."""
    return _share(_turn_phase(turn))


def action_phase(action: str) -> float | None:
    """`phase_explore` of a turn whose only action is one that its file gives as a text."""
    return _share(_action_phase(action[:LONGEST]))


@lru_cache(maxsize=1024)
def _action_phase(action: str) -> Phase | None:
    """The phase of an action that a file gives as a text: a command, or a tool with arguments."""
    return shell_phase(action) or named_phase(action, None)


def _command(arguments: Any) -> str | None:
    """The shell command among arguments; a list such as `["bash", "-lc", "ls"]` gives its last."""
    for key in ("command", "cmd"):
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value):
            return value[-1] if len(value) > 2 and value[1].startswith("-") else " ".join(value)
    return None


def _share(phase: Phase | None) -> float | None:
    return None if phase is None else float(phase == "explore")


PHASE_EXPLORE = Signal(
    info=SignalInfo(
        name="phase_explore",
        title="Turns that only look",
        unit="share",
        denominator="turns whose phase is known",
        low=0.0,
        high=1.0,
    ),
    observe=phase_explore,
)
PHASE_KNOWN = Signal(
    info=SignalInfo(
        name="phase_known",
        title="Turns whose phase is known",
        unit="share",
        denominator="turns with an action",
        low=0.0,
        high=1.0,
        curve=False,
    ),
    derive=phase_known,
    needs=("phase_explore",),
)
