"""Rubrics: those that come along, what a file must say, and when two are the same."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from turncurve.errors import RubricError
from turncurve.grading.rubric_file import BUILT_IN, built_in_text, load_rubric, parse_rubric


@pytest.mark.parametrize("kind", BUILT_IN)
def test_what_comes_along_is_sound(kind: str) -> None:
    """Each built-in rubric parses, says its kind, and its schema is a JSON Schema."""
    rubric = load_rubric(kind)
    assert rubric.kind == kind
    assert rubric.version == 1
    jsonschema.Draft202012Validator.check_schema(rubric.schema)
    assert all(f'"{one.name}"' in rubric.text() for one in rubric.dimensions)


def test_a_step_has_its_closed_sets() -> None:
    """The five dimensions and the turn that is repeated; no number on a scale, no free text."""
    schema = load_rubric("steps").schema
    assert list(schema["properties"]) == [
        *("validity", "complexity", "dependency", "severity", "looping", "repeats_turn")
    ]
    assert schema["properties"]["validity"]["enum"] == ["fail", "neutral", "pass"]
    assert schema["properties"]["severity"]["enum"] == ["low", "medium", "high", None]
    assert schema["additionalProperties"] is False
    assert "confidence" not in str(schema)


def test_comments_and_layout_are_no_part_of_a_rubric() -> None:
    """The same words in another layout are the same rubric; one word changed is another."""
    text = built_in_text("steps")
    same = parse_rubric(yaml.safe_dump(yaml.safe_load(text), sort_keys=True), "same")
    assert same.digest == load_rubric("steps").digest
    assert parse_rubric("# a note\n" + text, "note").digest == same.digest
    other = parse_rubric(text.replace("positive evidence of progress", "evidence"), "other")
    assert other.digest != same.digest
    hidden = parse_rubric(text.replace("sees: results", "sees: action"), "hidden")
    assert hidden.digest != same.digest
    assert hidden.construct == "no hindsight, own results hidden"


@pytest.mark.parametrize(
    ("kind", "before", "after", "words"),
    [
        ("steps", "version: 1", "version: one", "key 'version': wanted a whole number from 1"),
        ("steps", "version: 1", "", "key 'version': wanted a whole number from 1, there is none"),
        ("steps", "name: steps", "name: a b", "key 'name': wanted letters"),
        ("steps", "kind: steps", "kind: step", "wanted one of steps, score, rules, fidelity"),
        ("steps", "sees: results", "sees: all", "wanted one of results, action"),
        ("steps", "  validity:", "  valid:", "wanted one of complexity, dependency"),
        ("steps", "    pass:", "    good:", "dimensions, validity, key 'good'"),
        ("steps", "sees: results", "note: x", "key 'note': wanted one of"),
        ("score", "  4: All", "  5: All", "wanted the levels 0 to 4, or 0 and 1"),
        ("score", "  4: All that could be asked for at this point.", "", "the levels 0 to 4"),
        ("rules", "id: no_promises", "id: plain_words", "wanted a name used once"),
        ("rules", "id: no_promises", "id: no promises", "rule 2, key 'id'"),
        ("fidelity", "version: 1", "sees: action\nversion: 1", "key 'sees'"),
        ("steps", "name: steps", "name: [", "cannot be read as YAML"),
    ],
)
def test_an_error_names_key_and_what_was_wanted(
    kind: str, before: str, after: str, words: str
) -> None:
    """File, key, what was wanted and what came."""
    text = built_in_text(kind)
    assert before in text
    with pytest.raises(RubricError) as problem:
        parse_rubric(text.replace(before, after, 1), "my.yaml")
    assert words in str(problem.value)
    assert str(problem.value).startswith("my.yaml")


def test_a_rubric_of_two_levels() -> None:
    """Levels 0 and 1 make a scale from 0 to 1."""
    text = "name: ok\nversion: 3\nkind: score\ninstructions: Judge.\nlevels: {0: bad, 1: good}\n"
    rubric = parse_rubric(text, "t")
    assert (rubric.mark().low, rubric.mark().high) == (0, 1)
    assert rubric.id == "ok@3"


def test_a_missing_file_says_what_would_work(tmp_path: Path) -> None:
    """Neither a file nor a name that comes along."""
    with pytest.raises(RubricError, match="steps, score, rules, fidelity"):
        load_rubric(str(tmp_path / "none.yaml"))


def test_yaml_is_loaded_safely() -> None:
    """A tag that would make an object is refused."""
    with pytest.raises(RubricError, match="cannot be read as YAML"):
        parse_rubric("name: !!python/object/apply:os.system ['true']", "t")
