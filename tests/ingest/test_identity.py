"""Ids, conditions and trials across files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.ingest import table_from_runs
from turncurve.ingest.discover import Found
from turncurve.ingest.identity import Identities, folder_conditions
from turncurve.model import Run

ANY = Path("folder/file.json")


def run(name: str = "r", **fields: object) -> Run:
    return Run(id=name, turns=(), format="hand", path=str(ANY), **fields)


def conditions(root: str, *paths: str) -> list[str]:
    """The condition of each path below the root."""
    files = [Found(Path(root, path), Path(root), named=False) for path in paths]
    return [folder_conditions(files)[file.path] for file in files]


def test_the_first_run_keeps_its_id_and_later_ones_are_qualified() -> None:
    """By their folder, then by their file, then by a number."""
    identities = Identities()
    paths = ["a/1.json", "b/1.json", "b/2.json", "b/2.json"]
    ids = [identities.place(run("x"), Path(path)).id for path in paths]
    assert ids == ["x", "b/x", "b/2.json/x", "b/2.json/x#2"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from(["a/1", "b/1", "b/2"]))))
def test_ids_are_unique(placed: list[tuple[str, str]]) -> None:
    """Whatever ids come from whatever files, no two runs have one id."""
    identities = Identities()
    ids = [identities.place(run(name), Path(path)).id for name, path in placed]
    assert len(set(ids)) == len(ids)


def test_a_sub_agent_follows_its_parent_to_its_new_id() -> None:
    """Where the parent's id is qualified, the parent that the sub-agent names is too."""
    identities = Identities()
    for path in ("a/1", "b/1"):
        parent = identities.place(run("x"), Path(path))
        child = identities.place(run("x/sub", parent="x", agent="sub"), Path(path))
        assert child.parent == parent.id


def test_sub_agents_are_rows_of_the_table_with_their_parent() -> None:
    """Their runs stand in the run table, with the parent's id."""
    table = table_from_runs([run("x"), run("y", parent="x", agent="main/search")])
    assert table.runs.parent.tolist() == [None, "x"]
    assert table.runs.agent.tolist() == ["main", "main/search"]


def trials(*runs: Run) -> list[int | None]:
    identities = Identities()
    return [identities.place(r, ANY).trial for r in runs]


def test_runs_of_one_scenario_without_a_trial_are_numbered() -> None:
    """In reading order, for each scenario and condition by itself."""
    assert trials(
        run(scenario="s"),
        run(scenario="t"),
        run(scenario="s"),
        run(scenario="s", condition="c"),
        run(scenario="s"),
    ) == [1, 1, 2, 1, 3]


def test_a_trial_of_its_own_is_kept_unless_it_is_taken() -> None:
    """A second trial 1 gets the next free number."""
    given_trials = [3, 1, 1, None, 3]
    assert trials(*(run(scenario="s", trial=t) for t in given_trials)) == [3, 1, 2, 4, 5]


def test_runs_without_a_scenario_are_no_trials_of_each_other() -> None:
    """Each is trial 1."""
    assert trials(run(), run(), run()) == [1, 1, 1]


def test_a_sub_agent_takes_no_trial_number() -> None:
    """It shares its parent's scenario, and the next run is still trial 2."""
    assert trials(run(scenario="s"), run(scenario="s", parent="r"), run(scenario="s")) == [1, 1, 2]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("st"), st.none() | st.integers(1, 4)), max_size=20))
def test_no_two_runs_of_a_scenario_have_one_trial(given_runs: list[tuple[str, int | None]]) -> None:
    """Whatever trials the files give."""
    placed = trials(*(run(scenario=s, trial=t) for s, t in given_runs))
    pairs = [(s, trial) for (s, _), trial in zip(given_runs, placed, strict=True)]
    assert len(set(pairs)) == len(pairs)


def test_the_folder_below_the_given_path_is_the_condition() -> None:
    """Not the folder that the file itself lies in; right in the given folder, that one's name."""
    assert conditions("/in", "a/1", "a/deep/2", "b/3", "4") == ["a", "a", "b", "in"]


@pytest.mark.parametrize(
    "suffix", ["_rerun", "-rerun2", "_run2", "_repeat", "_trial2", " rerun", "_re-run_3", ".seed7"]
)
def test_a_rerun_folder_is_another_trial_of_its_condition(suffix: str) -> None:
    """A folder named as another with a word for a rerun at its end has that one's condition."""
    assert conditions("/in", "gpt_dev/1", f"gpt_dev{suffix}/1") == ["gpt_dev", "gpt_dev"]


def test_folders_that_differ_in_a_run_number_are_one_condition() -> None:
    """`x_run1` and `x_run2` are trials of `x`, though no folder has that name."""
    assert conditions("/in", "x_run1/1", "x_run2/1", "y_run1/1") == ["x", "x", "y_run1"]


def test_other_endings_are_other_conditions() -> None:
    """Neither a lone rerun nor a name that only starts the same is merged."""
    names = ["lite", "lite_noparallel", "chat_rerun", "overrun", "over"]
    assert conditions("/in", *(f"{name}/1" for name in names)) == names
