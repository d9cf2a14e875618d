"""A study carried out on a function: what is started from, what is kept, what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest
import yaml

from experiments.studies import plain
from turncurve.errors import ReadError, StudyError
from turncurve.experiments.run_study import run_study
from turncurve.experiments.study_freeze import freeze
from turncurve.experiments.trial_file import Trial


def carried_out(path: Path, **options: int) -> list[Trial]:
    freeze(path)
    return run_study(path, path.parent / "trials.jsonl", **options)


def rate(trials: list[Trial]) -> float:
    return mean(bool(one.success) for one in trials)


def test_every_trial_is_made_once(tmp_path: Path) -> None:
    """Sixty of the whole, thirty of each stage; each in a fresh copy of the right state."""
    trials = carried_out(plain(tmp_path))
    kinds = Counter((one.kind, one.stage, one.protocol, one.history) for one in trials)
    assert kinds == {
        ("end_to_end", None, None, None): 60,
        ("stage", "a", "reference", "clean"): 30,
        ("stage", "b", "reference", "clean"): 30,
        ("stage", "c", "reference", "clean"): 30,
    }
    assert len({one.plan for one in trials}) == len(trials)
    whole = [one for one in trials if one.kind == "end_to_end"]
    assert all(one.reached == ["a", "b", "c"][: len(one.reached)] for one in whole)
    assert all(one.success == (one.reached == ["a", "b", "c"]) for one in whole)
    assert all(one.turns == min(3, len(one.reached) + (not one.success)) for one in whole)
    assert all(one.tokens == 10 * one.turns for one in trials)
    assert all(one.cost_usd == 0.5 * one.turns for one in trials)
    assert {one.ended for one in trials} == {"accepted", "gave_up"}
    lines = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert len(lines) == len(trials)
    assert list(tmp_path.joinpath("start").iterdir()) == [tmp_path / "start" / "readme"]


def test_a_planted_effect_of_history_is_in_the_trials_and_none_without(tmp_path: Path) -> None:
    """Stages from a clean history succeed as ever; whole runs only where nothing was planted."""
    for name, tired in (("tired", True), ("fresh", False)):
        folder = tmp_path / name
        folder.mkdir()
        trials = carried_out(plain(folder, tired=tired))
        stages = [[t for t in trials if t.stage == stage] for stage in "abc"]
        predicted = rate(stages[0]) * rate(stages[1]) * rate(stages[2])
        observed = rate([t for t in trials if t.kind == "end_to_end"])
        assert predicted == pytest.approx(0.9**3, abs=0.15)
        assert observed == pytest.approx(0.9 * 0.3**2 if tired else 0.9**3, abs=0.15)


def test_states_of_own_runs_are_started_from_with_or_without_their_history(
    tmp_path: Path,
) -> None:
    """A retained history makes the tired agent worse at a stage; reset, it is as good as new."""
    path = plain(tmp_path, tired=True, protocols=["own_prefix"], histories=["retained", "reset"])
    trials = carried_out(path)
    by = {
        (stage, history): [t for t in trials if (t.stage, t.history) == (stage, history)]
        for stage in "abc"
        for history in ("retained", "reset")
    }
    assert rate(by["b", "retained"]) == pytest.approx(0.3, abs=0.25)
    assert rate(by["b", "reset"]) == pytest.approx(0.9, abs=0.15)
    whole = {t.trial: t for t in trials if t.kind == "end_to_end"}
    for one in by["b", "retained"]:
        assert one.checkpoint is not None
        assert "a" in whole[one.checkpoint].reached
    assert all(one.checkpoint is None for one in by["a", "retained"])
    assert len({one.checkpoint for one in by["b", "retained"]}) > 5


def test_a_harvested_state_is_of_one_run_that_succeeded(tmp_path: Path) -> None:
    trials = carried_out(plain(tmp_path, protocols=["harvested"], histories=["retained"]))
    used = {t.checkpoint for t in trials if t.kind == "stage" and t.stage != "a"}
    won = [t.trial for t in trials if t.kind == "end_to_end" and t.success]
    assert used == {min(won)}


def test_a_stage_that_no_run_arrived_at_is_left_out_with_the_reason(tmp_path: Path) -> None:
    path = plain(
        tmp_path,
        protocols=["harvested"],
        histories=["reset"],
        trials={"stage": 2, "end_to_end": 2},
        budgets={"end_to_end": {"turns": 1}},
    )
    trials = carried_out(path)
    late = [t for t in trials if t.stage in {"b", "c"}]
    assert len(late) == 4
    assert all(t.success is None for t in late)
    assert {t.excluded for t in late} == {"no run of the agent arrived at this stage"}
    assert {t.ended for t in trials if t.kind == "end_to_end"} == {"turns"}


def test_arms_are_stopped_and_started_again_at_the_checkpoint(tmp_path: Path) -> None:
    """Retained, the tired agent stays worse; reset, it forgets; the arms share their seeds."""
    arms = {"at": ["b", "c"], "arms": ["retain", "reset"], "trials": 40}
    trials = carried_out(plain(tmp_path, tired=True, intervention=arms))
    retain = {t.trial: t for t in trials if t.intervention == "retain"}
    reset = {t.trial: t for t in trials if t.intervention == "reset"}
    assert rate(list(retain.values())) == pytest.approx(0.9 * 0.3**2, abs=0.15)
    assert rate(list(reset.values())) > 0.5
    assert [retain[n].seed for n in range(1, 41)] == [reset[n].seed for n in range(1, 41)]


def test_compressed_histories_are_what_the_command_makes(tmp_path: Path) -> None:
    """The compressed history is seen by the agent: an empty one makes it as good as new."""
    (tmp_path / "shorter.py").write_text("import sys; sys.stdin.read()")
    path = plain(
        tmp_path,
        tired=True,
        protocols=["own_prefix"],
        histories=["compressed"],
        agent={
            "kind": "callable",
            "target": "agent.py@agent",
            "configuration": dict.fromkeys(("model", "prompt", "tools", "memory", "limits"), "x"),
            "compress": ["{python}", "{study}/shorter.py"],
        },
    )
    trials = carried_out(path)
    assert rate([t for t in trials if t.stage == "b"]) > 0.7


def test_a_killed_study_goes_on_where_it_was(tmp_path: Path) -> None:
    """What was on disk is not made again, and in the end there is what one go would have made."""
    path = plain(tmp_path, trials={"stage": 10, "end_to_end": 10})
    script = tmp_path / "agent.py"
    slower = script.read_text().replace("rng =", "import time; time.sleep(0.05); rng =")
    script.write_text(slower)
    freeze(path)
    to = tmp_path / "trials.jsonl"
    code = (
        "import sys; from pathlib import Path; from turncurve.experiments.run_study import "
        "run_study; run_study(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, path, to])
    while not to.exists() or to.read_bytes().count(b"\n") < 5:
        time.sleep(0.02)
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = to.read_bytes().count(b"\n")
    assert before < 40
    new: list[Trial] = []
    trials = run_study(path, to, on_trial=lambda one, *_: new.append(one))
    assert len(trials) == 40
    assert len(new) == 40 - before
    assert len({t.plan for t in trials}) == 40
    again = tmp_path / "again.jsonl"
    assert {(t.plan, t.success) for t in run_study(path, again)} == {
        (t.plan, t.success) for t in trials
    }


def test_trials_at_once_are_the_same_trials(tmp_path: Path) -> None:
    path = plain(tmp_path, trials={"stage": 5, "end_to_end": 5})
    one = carried_out(path)
    two = run_study(path, tmp_path / "two.jsonl", workers=3)
    assert {(t.plan, t.success) for t in one} == {(t.plan, t.success) for t in two}


def test_a_study_that_was_not_frozen_or_has_changed_is_refused(tmp_path: Path) -> None:
    path = plain(tmp_path)
    with pytest.raises(StudyError, match="not frozen yet"):
        run_study(path, tmp_path / "t.jsonl")
    freeze(path)
    (tmp_path / "after-a" / "a").write_text("done otherwise")
    with pytest.raises(StudyError, match=r"after-a/a changed since it was frozen"):
        run_study(path, tmp_path / "t.jsonl")


def test_a_configuration_that_changes_meanwhile_stops_the_study(tmp_path: Path) -> None:
    """Trials that were made are kept; the message names the part."""
    (tmp_path / "prompt.txt").write_text("be good")
    configuration = dict.fromkeys(("model", "prompt", "tools", "memory", "limits"), "x")
    configuration |= {"prompt": {"file": "prompt.txt"}}  # type: ignore[dict-item]
    path = plain(
        tmp_path,
        agent={"kind": "callable", "target": "agent.py@agent", "configuration": configuration},
    )
    freeze(path)

    def change(_: Trial, number: int, __: int) -> None:
        if number == 7:
            (tmp_path / "prompt.txt").write_text("be bad")

    with pytest.raises(StudyError, match="the agent's prompt changed while"):
        run_study(path, tmp_path / "t.jsonl", on_trial=change)
    assert (tmp_path / "t.jsonl").read_bytes().count(b"\n") == 7


def test_trials_of_another_study_are_not_mixed(tmp_path: Path) -> None:
    path = plain(tmp_path, trials={"stage": 1, "end_to_end": 1})
    carried_out(path)
    path.write_text(path.read_text().replace("version: 1", "version: 2"))
    freeze(path)
    with pytest.raises(StudyError, match=r"trials\.jsonl:1: a trial of study .* \(version 1\)"):
        run_study(path, tmp_path / "trials.jsonl")
    with pytest.raises(ReadError, match="no file of trials"):
        run_study(path, tmp_path / "agent.py")


def test_an_agent_that_crashes_fails_or_is_left_out_as_the_study_says(tmp_path: Path) -> None:
    for name, exclude in (("counts", []), ("out", ["crash"])):
        folder = tmp_path / name
        folder.mkdir()
        path = plain(folder, trials={"stage": 1, "end_to_end": 1}, exclude=exclude)
        (folder / "agent.py").write_text("def agent(trial):\n    raise OSError('no disk')")
        for one in carried_out(path):
            assert one.ended == "crash"
            assert one.success is False
            assert one.excluded == ("crash" if exclude else None)
            assert one.said == "OSError: no disk (agent, line 2)"


@pytest.mark.parametrize(
    ("accept", "words"),
    [
        ({"file": "nothing"}, None),
        ({"callable": "agent.py@done"}, None),
        ({"command": ["test", "-e", "c"]}, None),
        ({"command": ["no-such-command"]}, "the check 'no-such-command' cannot be run"),
    ],
)
def test_the_last_stage_is_accepted_as_the_study_says(
    tmp_path: Path, accept: dict[str, object], words: str | None
) -> None:
    path = plain(tmp_path, trials={"stage": 10, "end_to_end": 10})
    document = yaml.safe_load(path.read_text())
    document["tasks"][0]["stages"][2]["accept"] = accept
    path.write_text(yaml.safe_dump(document))
    if words:
        with pytest.raises(StudyError, match=words):
            carried_out(path)
        return
    last = rate([t for t in carried_out(path) if t.stage == "c"])
    assert last == 0 if "file" in accept else last > 0.5


def test_a_check_that_fails_leaves_the_trial_out(tmp_path: Path) -> None:
    """Whether it succeeded is not known: it is neither."""
    path = plain(tmp_path, trials={"stage": 1, "end_to_end": 1})
    (tmp_path / "check.py").write_text("def check(folder):\n    return 1 / 0")
    document = yaml.safe_load(path.read_text())
    document["tasks"][0]["stages"][0]["accept"] = {"callable": "check.py@check"}
    path.write_text(yaml.safe_dump(document))
    whole = next(t for t in carried_out(path) if t.kind == "end_to_end")
    assert whole.success is None
    assert whole.excluded == "it cannot be told whether a stage is accepted"
    assert whole.said == "check.py@check: ZeroDivisionError: division by zero"
