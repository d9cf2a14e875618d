"""A study of an agent of Inspect, without a network: `react` on a model that repairs parts."""

from __future__ import annotations

import textwrap
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import yaml
from inspect_ai.log import list_eval_logs, read_eval_log

from inspect_ext.offline import quiet
from turncurve.errors import StudyError
from turncurve.experiments.run_study import run_study
from turncurve.experiments.study_freeze import freeze
from turncurve.experiments.trial_file import Trial

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

AGENT = """
import random
from inspect_ai.agent import react
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import tool
from inspect_ai.util import store

RNG = random.Random(1)
TIRED = False

@tool
def repair():
    async def execute(part: str, known: int) -> str:
        '''Repair a part.

        Args:
            part: Its name.
            known: Parts that the model remembers.
        '''
        if RNG.random() < (0.3 if TIRED and known else 0.9):
            store().set("done", [*store().get("done", []), part])
            return "fixed " + part
        return "broken"
    return execute

@modelapi(name="partsmodel")
class Parts(ModelAPI):
    '''Repairs what is asked, a part a turn, and stops where one is broken.'''

    async def generate(self, input, tools, tool_choice, config):
        asked = [m.text for m in input if m.role == "user" and m.text.startswith("Do ")][-1]
        wanted = asked.removeprefix("Do ").split()
        fixed = [m for m in input if m.role == "tool" and m.text.startswith("fixed")]
        left = [part for part in wanted if part not in store().get("done", [])]
        broken = input[-1].role == "tool" and input[-1].text == "broken"
        if broken or not left:
            output = ModelOutput.for_tool_call("parts", "submit", {"answer": "done"})
        else:
            arguments = {"part": left[0], "known": len(fixed)}
            output = ModelOutput.for_tool_call("parts", "repair", arguments)
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output

def agent():
    return react(prompt="You repair.", tools=[repair()])

def a(store):
    return "a" in store.get("done", [])

def b(store):
    return "b" in store.get("done", [])

def c(store):
    return "c" in store.get("done", [])
"""


def study(folder: Path, *, tired: bool = False, **changes: Any) -> Path:
    script = textwrap.dedent(AGENT)
    (folder / "agent.py").write_text(script.replace("TIRED = False", f"TIRED = {tired}"))
    stages = [
        {"id": part, "goal": f"Do {part}", "accept": {"callable": f"agent.py@{part}"}}
        for part in "abc"
    ]
    stages[0]["reference"] = {"store": {"done": ["a"]}}  # type: ignore[assignment]
    stages[1]["reference"] = {"store": {"done": ["a", "b"]}}  # type: ignore[assignment]
    document: dict[str, Any] = {
        "name": "parts",
        "version": 1,
        "margin": 0.1,
        "trials": {"stage": 20, "end_to_end": 40},
        "agent": {
            "kind": "inspect",
            "target": "agent.py@agent",
            "model": f"partsmodel/{folder.name}{changes.get('version', 1)}",
            "configuration": dict.fromkeys(("model", "prompt", "tools", "memory", "limits"), "x"),
        },
        "tasks": [{"id": "car", "goal": "Do a b c", "stages": stages}],
    } | changes
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def carried_out(path: Path) -> list[Trial]:
    freeze(path)
    with quiet():
        return run_study(path, path.parent / "trials.jsonl")


def rate(trials: list[Trial]) -> float:
    return mean(bool(one.success) for one in trials)


@pytest.mark.parametrize("tired", [True, False])
def test_a_planted_effect_of_history_is_in_the_trials_and_none_without(
    tmp_path: Path, *, tired: bool
) -> None:
    trials = carried_out(study(tmp_path, tired=tired))
    kinds = Counter((one.kind, one.stage) for one in trials)
    assert kinds == {("end_to_end", None): 40, **{("stage", part): 20 for part in "abc"}}
    predicted = 1.0
    for part in "abc":
        predicted *= rate([one for one in trials if one.stage == part])
    whole = [one for one in trials if one.kind == "end_to_end"]
    assert predicted > 0.45
    assert (rate(whole) < 0.3) == tired
    for one in trials:
        assert one.ended in {"accepted", "gave_up"}
        assert one.success == (one.ended == "accepted")
        assert one.tokens == 10 * (one.turns or 0)
    assert all(one.reached == ["a", "b", "c"][: len(one.reached)] for one in whole)
    won = [one.turns for one in whole if one.success]
    assert set(won) == {3}


def test_states_of_own_runs_keep_the_store_and_the_conversation(tmp_path: Path) -> None:
    path = study(tmp_path, tired=True, protocols=["own_prefix"], histories=["retained", "reset"])
    trials = carried_out(path)
    b = {h: [t for t in trials if (t.stage, t.history) == ("b", h)] for h in ("retained", "reset")}
    assert rate(b["retained"]) < 0.6 < rate(b["reset"])
    assert all(one.checkpoint for one in b["retained"])
    logs = [read_eval_log(log) for log in list_eval_logs(str(tmp_path / "trials.jsonl.logs"))]
    samples = [s for log in logs if log.eval.task == "parts_stages" for s in log.samples or ()]
    late = [s for s in samples if s.messages and "Do b" in [m.text for m in s.messages]]
    with_past = [s for s in late if "fixed a" in [m.text for m in s.messages]]
    assert len(with_past) == 20
    assert len(late) == 40
    for sample in with_past:
        assert [m.role for m in sample.messages].count("system") == 1


def test_arms_are_started_again_with_or_without_what_was_said(tmp_path: Path) -> None:
    arms = {"at": ["b", "c"], "arms": ["retain", "reset"], "trials": 30}
    trials = carried_out(
        study(tmp_path, tired=True, intervention=arms, trials={"stage": 1, "end_to_end": 1})
    )
    retain = [t for t in trials if t.intervention == "retain"]
    reset = [t for t in trials if t.intervention == "reset"]
    assert len(retain) == len(reset) == 30
    assert rate(retain) < 0.35 < rate(reset)


def test_what_was_made_is_not_made_again_and_budgets_end_trials(tmp_path: Path) -> None:
    path = study(
        tmp_path, trials={"stage": 2, "end_to_end": 6}, budgets={"end_to_end": {"turns": 2}}
    )
    trials = carried_out(path)
    whole = [one for one in trials if one.kind == "end_to_end"]
    assert {one.ended for one in whole} <= {"turns", "gave_up"}
    assert any(one.ended == "turns" and one.turns == 2 for one in whole)
    lines = (tmp_path / "trials.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "trials.jsonl").write_text("".join(lines[:5]))
    new: list[Trial] = []
    with quiet():
        again = run_study(path, tmp_path / "trials.jsonl", on_trial=lambda one, *_: new.append(one))
    assert len(new) == len(lines) - 5
    assert len({one.plan for one in again}) == len(lines)


def test_an_agent_that_crashes_and_a_check_that_fails_are_told_apart(tmp_path: Path) -> None:
    path = study(tmp_path, trials={"stage": 1, "end_to_end": 2})
    script = (tmp_path / "agent.py").read_text()
    (tmp_path / "agent.py").write_text(
        script.replace("asked = [", 'raise OSError("no disk")\n        asked = [')
    )
    for one in carried_out(path):
        assert (one.success, one.ended, one.excluded) == (False, "crash", None)
        assert "no disk" in (one.said or "")
    path = study(tmp_path, version=2, trials={"stage": 1, "end_to_end": 2})
    (tmp_path / "agent.py").write_text(script.replace('return "a" in', 'return 1 / 0 and "a" in'))
    (tmp_path / "trials.jsonl").unlink()
    whole = [one for one in carried_out(path) if one.kind == "end_to_end"]
    for one in whole:
        assert one.success is None
        assert one.excluded == "it cannot be told whether a stage is accepted"
        assert "ZeroDivisionError" in (one.said or "")


def test_a_check_that_says_neither_stops_the_study(tmp_path: Path) -> None:
    path = study(tmp_path, trials={"stage": 1, "end_to_end": 1})
    script = (tmp_path / "agent.py").read_text()
    (tmp_path / "agent.py").write_text(
        script.replace('return "a" in store.get("done", [])', "pass")
    )
    with pytest.raises(StudyError, match="wanted True or False, got None"):
        carried_out(path)
