"""Study files: what they say, and what is said of what they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments.studies import plain
from turncurve.errors import StudyError
from turncurve.experiments.stage_study import AGENT_KINDS, starts
from turncurve.experiments.stage_study_file import load_study, study_text
from turncurve.experiments.study_files import conditions
from turncurve.experiments.study_freeze import freeze, frozen_file, frozen_study


def change(path: Path, where: str, value: Any) -> None:
    """Set the key of a study that a dotted path leads to; None takes it away."""
    document = yaml.safe_load(path.read_text())
    at: Any = document
    *way, last = [int(one) if one.isdigit() else one for one in where.split(".")]
    for key in way:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    path.write_text(yaml.safe_dump(document, sort_keys=False))


def test_a_study_says_all_that_it_says(tmp_path: Path) -> None:
    study = load_study(plain(tmp_path, budgets={"stage": {"turns": 3, "seconds": 1.5}}))
    assert (study.name, study.version, study.margin) == ("parts", 1, 0.1)
    assert [stage.id for stage in study.tasks[0].stages] == ["a", "b", "c"]
    assert study.stage_budget.turns == 3
    assert study.stage_budget.seconds == 1.5
    assert study.end_to_end_budget.turns is None
    assert starts(study) == (("reference", "clean"),)


@pytest.mark.parametrize("kind", AGENT_KINDS)
def test_each_study_that_comes_along_is_whole_but_for_its_files(tmp_path: Path, kind: str) -> None:
    """Once its folders and files are there, nothing else is wrong with it."""
    path = tmp_path / "study.yaml"
    path.write_text(study_text(kind))
    for folder in ("site", "site-with-page"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "index.html").write_text("x")
    for file in ("prompt.txt", "agent.py", "check.py", "checks.py"):
        (tmp_path / file).write_text("x = 1")
    frozen = freeze(path)
    assert "study.yaml" in frozen.files
    assert "prompt.txt" in frozen.files
    study = load_study(path)
    assert study.agent.kind == kind
    assert set(starts(study)) == {("reference", "clean"), ("own_prefix", "retained")}


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("name", None, "key 'name': wanted a text, there is none"),
        ("colour", "red", "key 'colour': wanted one of agent, budgets"),
        ("version", 0, "key 'version': wanted a whole number from 1, got 0"),
        ("margin", 1.5, "key 'margin': wanted a difference of success rates between 0 and 1"),
        ("trials.stage", True, "trials, key 'stage': wanted a whole number from 1, got True"),
        ("protocols", ["best"], "key 'protocols': wanted some of reference, harvested"),
        ("protocols", ["harvested"], "key 'histories': wanted one that goes with the protocol"),
        ("histories", ["clean", "reset"], "wanted one that goes with the history reset: harv"),
        ("exclude", ["accepted"], "key 'exclude': wanted some of turns, tokens, seconds, crash"),
        ("seed", -1, "key 'seed': wanted a whole number from 0"),
        ("budgets", {"stage": {"seconds": 0}}, "stage, key 'seconds': wanted a number above 0"),
        ("agent.kind", "human", "key 'kind': wanted one of command, callable, inspect"),
        ("agent.configuration.tools", None, "configuration, key 'tools': wanted what it is in"),
        ("agent.command", ["x"], "agent, key 'command': wanted one of compress, configuration"),
        ("tasks", [], "key 'tasks': wanted a list of 1 to 1,000 tasks, got"),
        ("tasks.0.id", "../x", "task 1, key 'id': wanted letters, digits"),
        ("tasks.0.workspace", "gone", "task 1, key 'workspace': wanted a folder, from"),
        ("tasks.0.stages.1.id", "a", "task 1, stage 2, key 'id': wanted a name used once"),
        ("tasks.0.stages.0.reference", None, "task t, stage a: the protocol reference needs"),
        ("tasks.0.stages.0.accept", {}, "stage 1, accept: wanted one of command, test, file"),
        ("tasks.0.stages.0.accept.command", ["x"], "wanted one of .* got command, file"),
        ("tasks.0.stages.0.accept.file", "../a", "wanted a path within the work folder"),
        (
            "tasks.0.stages.0.accept",
            {"json_schema": {"file": "a", "schema": "none.json"}},
            "key 'schema': wanted a file with a JSON Schema",
        ),
        (
            "intervention",
            {"at": ["a"], "arms": ["retain", "reset"], "trials": 3},
            "task t has no stage 'a' after its first; it has b, c",
        ),
        ("intervention", {"at": ["b"], "arms": ["retain"], "trials": 3}, "two or more of retain"),
        (
            "intervention",
            {"at": ["b"], "arms": ["retain", "compress"], "trials": 3},
            "the arm compress needs the key 'compress'",
        ),
        ("chain", {"a": ["b"]}, "chain, key 'a': wanted some of a, failure, success"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, where: str, value: Any, words: str
) -> None:
    path = plain(tmp_path)
    change(path, where, value)
    with pytest.raises(StudyError, match=words) as raised:
        load_study(path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize("text", ["- a", "a: [", "\0", "a: &x [*x, *x]"])
def test_what_is_no_study_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(StudyError):
        load_study(path)


def test_references_with_histories_can_be_retained(tmp_path: Path) -> None:
    path = plain(tmp_path, histories=["clean", "retained"])
    with pytest.raises(StudyError, match="one that goes with the history retained"):
        load_study(path)
    (tmp_path / "past.txt").write_text("a")
    for stage in (0, 1):
        change(path, f"tasks.0.stages.{stage}.reference.history", "past.txt")
    assert starts(load_study(path)) == (("reference", "clean"), ("reference", "retained"))


def test_freezing_again_changes_nothing_and_a_change_needs_a_new_version(tmp_path: Path) -> None:
    path = plain(tmp_path)
    first = freeze(path)
    before = frozen_file(path).read_bytes()
    assert freeze(path) == first
    assert frozen_file(path).read_bytes() == before
    (tmp_path / "agent.py").write_text("def agent(trial): pass")
    with pytest.raises(StudyError, match=r"version 1 is frozen, and agent\.py changed"):
        freeze(path)
    with pytest.raises(StudyError, match=r"agent\.py changed since it was frozen"):
        frozen_study(path)
    change(path, "version", 2)
    second = freeze(path)
    assert second.version == 2
    assert second.digest != first.digest
    assert frozen_study(path)[1] == second
    frozen_file(path).write_text("{}")
    with pytest.raises(StudyError, match="not what turncurve residual freeze writes"):
        frozen_study(path)


def test_the_digest_is_of_what_is_said_not_of_where(tmp_path: Path) -> None:
    """A study that is moved is the same study; one with another file in a state is another."""
    digests = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        digests.add(freeze(plain(tmp_path / name)).digest)
    assert len(digests) == 1
    path = plain(tmp_path)
    (tmp_path / "start" / "more").write_text("")
    assert freeze(path).digest not in digests


def test_conditions_tell_which_part_differs(tmp_path: Path) -> None:
    path = plain(tmp_path)
    before = conditions(load_study(path))
    change(path, "agent.configuration.memory", "vector store")
    after = conditions(load_study(path))
    assert {part for part in before if before[part] != after[part]} == {"memory"}
    (tmp_path / "agent.py").write_text("def agent(trial): pass")
    assert {part for part in before if after[part] != conditions(load_study(path))[part]} == {
        "agent"
    }
