"""Study files: what they declare, what is wrong with one by its key, and freezing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from turncurve.errors import StudyError
from turncurve.experiments.study import Study
from turncurve.experiments.study_file import TEMPLATES, load_study, parse_study, template
from turncurve.experiments.study_freeze import freeze, frozen_as, frozen_versions, record_of

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def changed(kind: str = "straight", **keys: object) -> str:
    """A template with other values of some keys; None takes a key out."""
    document = {**yaml.safe_load(template(kind)), **keys}
    return yaml.safe_dump({key: value for key, value in document.items() if value is not None})


def parsed(text: str) -> Study:
    return parse_study(text, "study.yaml")


def task(**keys: object) -> dict[str, object]:
    return {**yaml.safe_load(template("graph"))["tasks"][0], **keys}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_templates_are_studies(kind: str) -> None:
    """What `new` writes is taken by `check`."""
    study = parsed(template(kind))
    assert study.version == 1
    assert len(study.digest) == 64


def test_what_is_declared() -> None:
    """Stages in order, protocols by name, margin, trials, reasons, graph and its steps."""
    plan = parsed(template("straight")).plan(None)
    assert plan.tasks["ticket-1"].stages == ("plan", "build", "report")
    assert plan.tasks["ticket-1"].arcs is None
    assert plan.protocols == ("reference, clean", "own_prefix, retained")
    assert (plan.margin, plan.stage_trials, plan.whole_trials) == (0.1, 20, 20)
    assert plan.exclude[0] == "the provider gave no answer"
    graph = parsed(template("graph")).plan("then")
    assert graph.tasks["repair-1"].arcs["find"] == ("find", "mend", "failure")
    assert (graph.tasks["repair-1"].steps, graph.frozen_at) == (12, "then")


def test_the_digest_is_of_what_is_said() -> None:
    """Comments and order of keys are no part of it; every value is."""
    text = template("straight")
    digest = parsed(text).digest
    assert parsed(changed()).digest == digest
    assert parsed(f"# more\n{text}").digest == digest
    agent = {**yaml.safe_load(text)["agent"], "model": "another"}
    others = [
        changed(margin=0.2),
        changed(trials={"stage": 21, "end_to_end": 20}),
        changed(agent=agent),
        changed(exclude=[]),
        changed(version=2),
    ]
    assert len({parsed(other).digest for other in others} | {digest}) == 6


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"name": "two words"}, "key 'name': wanted letters"),
        ({"version": 0}, "key 'version': wanted a whole number from 1, got 0"),
        ({"version": None}, "key 'version': wanted a whole number from 1, there is none"),
        ({"extra": 1}, "key 'extra': wanted one of"),
        ({"agent": {"model": "m"}}, "agent, key 'prompt': wanted a text, there is none"),
        ({"agent": "m"}, "key 'agent': wanted keys and values"),
        ({"margin": 1}, "key 'margin': wanted a number between 0 and 1"),
        ({"trials": {"stage": 1}}, "trials, key 'end_to_end'"),
        ({"trials": {"stage": True, "end_to_end": 1}}, "whole number from 1, got True"),
        ({"protocols": []}, "key 'protocols': wanted a list of 1 to"),
        (
            {"protocols": [{"checkpoint": "mine", "history": "clean"}]},
            "protocol 1, key 'checkpoint'",
        ),
        ({"protocols": [{"checkpoint": "reference", "history": "old"}]}, "key 'history'"),
        ({"protocols": [{"checkpoint": "reference", "history": "clean"}] * 2}, "given once"),
        ({"exclude": "all"}, "key 'exclude': wanted a list"),
        ({"exclude": [""]}, "reasons as texts"),
        ({"interventions": [{"name": "erase", "at": ["plan"]}]}, "intervention 1, key 'name'"),
        ({"interventions": [{"name": "reset", "at": ["nowhere"]}]}, "key 'at': wanted a list"),
        ({"interventions": [{"name": "reset", "at": ["mend"]}] * 2}, "given once"),
        ({"tasks": ["t"]}, "task 1: wanted keys and values, got 't'"),
        ({"tasks": [task(), task()]}, "task 2, key 'name': wanted a name used once"),
        ({"tasks": [task(accept={"wish": "x"})]}, "key 'accept': wanted one of command"),
        ({"tasks": [task(accept={"command": "x", "test": "y"})]}, "key 'accept'"),
        ({"tasks": [task(accept={"callable": "no colon"})]}, "wanted module:function"),
        ({"tasks": [task(accept={"json_schema": "a.json"})]}, "key 'schema': wanted a text"),
        ({"tasks": [task(budget={"turns": 0})]}, "budget, key 'turns': wanted a number above 0"),
        ({"tasks": [task(budget={"hopes": 1})]}, "budget, key 'hopes'"),
        ({"tasks": [task(stages=[])]}, "key 'stages': wanted a list of 1 to"),
        ({"tasks": [task(graph={"find": ["mend"]})]}, "key 'mend': wanted a list of where"),
        (
            {"tasks": [task(graph={"find": ["find", "failure"], "mend": ["success"]})]},
            "wanted a way from find to success",
        ),
        ({"tasks": [{k: v for k, v in task().items() if k != "graph"}]}, "a graph beside it"),
    ],
)
def test_what_is_wrong_is_named(keys: dict[str, object], why: str) -> None:
    """The message has the file, where in it, the key and what was wanted."""
    with pytest.raises(StudyError) as problem:
        parsed(changed("graph", **keys))
    assert why in str(problem.value)
    assert str(problem.value).startswith("study.yaml")


def test_stages_have_names_of_their_own() -> None:
    """A stage that is given twice, or is called like an end, is refused."""
    stage = task()["stages"][0]
    for stages in ([stage, stage], [{**stage, "name": "success"}]):
        with pytest.raises(StudyError, match="used once in the task"):
            parsed(changed("graph", tasks=[task(stages=stages, graph=None)]))


@pytest.mark.parametrize("text", ["[", "- a", "!!python/object/apply:os.system [ls]", "a: &a [*a]"])
def test_no_yaml_and_no_mapping(text: str) -> None:
    """Broken YAML, a list, an object of Python's and one without end are refused, not run."""
    with pytest.raises(StudyError, match=r"study\.yaml"):
        parsed(text)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(StudyError, match=r"gone\.yaml: cannot be read"):
        load_study(tmp_path / "gone.yaml")


def test_freezing_once(tmp_path: Path) -> None:
    """The digest goes on record; again changes nothing; another text of the version is refused."""
    path = tmp_path / "study.yaml"
    path.write_text(template("straight"))
    study = load_study(path)
    assert frozen_as(study, path) is None
    known = freeze(study, path, now=NOW)
    assert (known.digest, known.at) == (study.digest, "2026-03-01T12:00:00+00:00")
    assert freeze(study, path, now=datetime(2027, 1, 1, tzinfo=UTC)) == known
    path.write_text(changed(margin=0.3))
    with pytest.raises(StudyError, match="raise the version"):
        frozen_as(load_study(path), path)
    with pytest.raises(StudyError, match="raise the version"):
        freeze(load_study(path), path, now=NOW)
    path.write_text(changed(margin=0.3, version=2))
    freeze(load_study(path), path, now=NOW)
    assert [one.version for one in frozen_versions(path)] == [1, 2]


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    """By file and line."""
    path = tmp_path / "study.yaml"
    path.write_text(template("straight"))
    freeze(load_study(path), path, now=NOW)
    with record_of(path).open("a") as file:
        file.write(json.dumps({"version": 2}) + "\n")
    with pytest.raises(StudyError, match=r"study\.yaml\.frozen:2: wanted version, digest and at"):
        frozen_as(load_study(path), path)
