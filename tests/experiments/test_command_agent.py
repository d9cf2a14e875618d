"""Trials of a command: how it is started, watched, and ended."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import mean

import pytest

from experiments.studies import command
from turncurve.errors import StudyError
from turncurve.experiments.run_study import run_study
from turncurve.experiments.study_freeze import freeze
from turncurve.experiments.trial_file import Trial

AGENT = """
    import json, os, random, sys, time
    rng = random.Random(int(os.environ["TURNCURVE_SEED"]))
    history = os.environ["TURNCURVE_HISTORY"]
    known = open(history).read().split() if os.path.exists(history) else []
    stage = os.environ["TURNCURVE_STAGE"]
    turns = 0
    for part in [stage] if stage else ["a", "b", "c"]:
        if os.path.exists(part):
            continue
        worse = os.path.exists("tired") and len(known) >= 1
        turns += 1
        known.append(part)
        with open(history, "w") as file:
            file.write(" ".join(known))
        with open(os.environ["TURNCURVE_USAGE"], "w") as file:
            json.dump({"turns": turns, "tokens": 7 * turns, "cost_usd": 0.25 * turns}, file)
        if rng.random() < (0.3 if worse else 0.95):
            with open(part, "w") as file:
                file.write("done")
        time.sleep(SLEEP)
        if not os.path.exists(part):
            break
"""


def carried_out(path: Path, workers: int = 4) -> list[Trial]:
    freeze(path)
    return run_study(path, path.parent / "trials.jsonl", workers=workers)


def rate(trials: list[Trial]) -> float:
    return mean(bool(one.success) for one in trials)


@pytest.mark.parametrize("tired", [True, False])
def test_a_planted_effect_of_history_is_in_the_trials_and_none_without(
    tmp_path: Path, *, tired: bool
) -> None:
    trials = carried_out(
        command(
            tmp_path,
            AGENT.replace("SLEEP", "0"),
            tired=tired,
            trials={"stage": 15, "end_to_end": 30},
        )
    )
    predicted = 1.0
    for stage in "abc":
        predicted *= rate([t for t in trials if t.stage == stage])
    whole = [t for t in trials if t.kind == "end_to_end"]
    assert predicted > 0.6
    assert (rate(whole) < 0.35) == tired
    assert all(t.tokens == 7 * (t.turns or 0) for t in trials)
    assert all(t.cost_usd == 0.25 * (t.turns or 0) for t in trials)


def test_states_are_kept_while_the_command_is_under_way(tmp_path: Path) -> None:
    """A state that later work changes is started from as it was when it was accepted."""
    path = command(
        tmp_path,
        AGENT.replace("SLEEP", "0.3"),
        protocols=["own_prefix"],
        histories=["retained"],
        trials={"stage": 2, "end_to_end": 4},
    )
    trials = carried_out(path, workers=2)
    states = tmp_path / "trials.jsonl.states" / "t"
    for kept in states.glob("a/*"):
        assert sorted(p.name for p in (kept / "work").iterdir()) == ["a", "readme"]
        assert (kept / "history").read_text() == "a"
    assert any(t.checkpoint for t in trials if t.stage == "b")


@pytest.mark.parametrize(
    ("budget", "ended"),
    [({"seconds": 0.4}, "seconds"), ({"turns": 2}, "turns"), ({"tokens": 20}, "tokens")],
)
def test_a_command_is_ended_by_its_budget_and_all_that_it_started(
    tmp_path: Path, budget: dict[str, float], ended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """
        import json, os, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
        with open("child", "w") as file:
            file.write(str(child.pid))
        with open(os.path.join(os.environ["STUDY_TEST"], "pid"), "w") as file:
            file.write(str(child.pid))
        for turn in range(1, 600):
            with open(os.environ["TURNCURVE_USAGE"], "w") as file:
                json.dump({"turns": turn, "tokens": 10 * turn}, file)
            with open("turn", "w") as file:
                file.write(str(turn))
            time.sleep(0.1)
    """
    path = command(
        tmp_path,
        script,
        budgets={"stage": budget, "end_to_end": budget},
        trials={"stage": 1, "end_to_end": 1},
    )
    monkeypatch.setenv("STUDY_TEST", str(tmp_path))
    began = time.monotonic()
    trials = carried_out(path)
    assert time.monotonic() - began < 20
    assert {t.ended for t in trials} == {ended}
    assert not any(t.success for t in trials)
    child = int((tmp_path / "pid").read_text())
    time.sleep(0.1)
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_command_that_crashes_is_told_by_its_last_words(tmp_path: Path) -> None:
    script = "import sys; print('x' * 9999); sys.exit('no key for the model')"
    path = command(tmp_path, script, trials={"stage": 1, "end_to_end": 1}, exclude=["crash"])
    for one in carried_out(path):
        assert one.ended == one.excluded == "crash"
        assert (one.said or "").endswith("no key for the model")
        assert len(one.said or "") < 500


def test_what_a_command_says_that_it_took_is_read_with_care(tmp_path: Path) -> None:
    """Numbers that cannot be are no numbers, and the trial stands."""
    said = {"turns": -1, "tokens": "many", "cost_usd": True}
    script = f"""
        import os
        open(os.environ["TURNCURVE_USAGE"], "w").write('''{json.dumps(said)}''')
    """
    path = command(tmp_path, script, trials={"stage": 1, "end_to_end": 1})
    for one in carried_out(path):
        assert (one.turns, one.tokens, one.cost_usd, one.ended) == (None, None, None, "gave_up")


def test_an_agent_that_is_not_there_is_an_error_not_a_failure(tmp_path: Path) -> None:
    path = command(tmp_path, "")
    path.write_text(path.read_text().replace("'{python}'", "no-such-agent"))
    with pytest.raises(StudyError, match="the agent 'no-such-agent' cannot be run"):
        carried_out(path)
