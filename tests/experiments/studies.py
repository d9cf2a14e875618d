"""Studies of a made-up agent, small enough to follow by hand."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import yaml

AGENT = """
import random

def agent(trial):
    '''Does one part after another; with `tired` in the workspace, worse once it knows much.'''
    rng = random.Random(trial.seed)
    known = trial.history.read_text().split() if trial.history.exists() else []
    parts = ["a", "b", "c"] if trial.stage is None else [trial.stage]
    for part in parts:
        if (trial.folder / part).exists():
            continue
        worse = (trial.folder / "tired").exists() and len(known) >= 1
        if rng.random() < (0.3 if worse else 0.9):
            (trial.folder / part).write_text("done")
        known.append(part)
        trial.history.write_text(" ".join(known))
        trial.turn(tokens=10, cost_usd=0.5)
        if not (trial.folder / part).exists():
            return

def done(folder):
    return (folder / "c").exists()
"""


def plain(folder: Path, *, tired: bool = False, **changes: Any) -> Path:
    """A study of three parts, and its file."""
    (folder / "agent.py").write_text(textwrap.dedent(AGENT))
    for name, made in {"start": [], "after-a": ["a"], "after-b": ["a", "b"]}.items():
        home = folder / name
        home.mkdir(exist_ok=True)
        for part in [*made, *(["tired"] if tired else []), "readme"]:
            (home / part).write_text("done")
    parts = {"a": "after-a", "b": "after-b", "c": None}
    stages = [
        {
            "id": part,
            "goal": f"Do {part}.",
            "accept": {"file": part, "contains": "done"},
            **({"reference": {"folder": after}} if after else {}),
        }
        for part, after in parts.items()
    ]
    document: dict[str, Any] = {
        "name": "parts",
        "version": 1,
        "margin": 0.1,
        "trials": {"stage": 30, "end_to_end": 60},
        "agent": {
            "kind": "callable",
            "target": "agent.py@agent",
            "configuration": dict.fromkeys(("model", "prompt", "tools", "memory", "limits"), "x"),
        },
        "tasks": [{"id": "t", "goal": "Do all.", "workspace": "start", "stages": stages}],
    } | changes
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def command(folder: Path, script: str, **changes: Any) -> Path:
    """The same study of an agent that is a command."""
    path = plain(folder, **changes)
    (folder / "command.py").write_text(textwrap.dedent(script))
    document = yaml.safe_load(path.read_text())
    document["agent"]["kind"] = "command"
    del document["agent"]["target"]
    document["agent"]["command"] = ["{python}", "-S", "-E", "{study}/command.py", "{goal}"]
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path
