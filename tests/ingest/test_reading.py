"""Files to a table: what is wrong in one place is lost in no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ingest.plugin_reader import install, lines
from turncurve.errors import BrokenPluginError, ReadError
from turncurve.ingest import ReadOptions, fetch_runs, iter_named_runs, iter_runs, read, read_table
from turncurve.readers import raise_problem


def rows(path: Path, *records: dict[str, object]) -> Path:
    """Write a file of per-turn records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_per_turn_records_become_columns(tmp_path: Path) -> None:
    """Known names fill their columns; another numeric column becomes a signal of its own."""
    path = rows(
        tmp_path / "a.jsonl",
        {"run": "x", "turn": 1, "quality": 0.5, "context_tokens": 100, "happiness": 3},
        {"run": "x", "turn": 2, "quality": None, "context_tokens": 200},
        {"run": "y", "turn": 1, "quality": 1.0, "context_tokens": None, "happiness": 4},
    )
    table = read(path)
    assert table.runs.id.tolist() == ["x", "y"]
    assert_array_equal(table.turn, [1, 2, 1])
    assert_array_equal(table.columns["quality"], [0.5, np.nan, 1])
    assert_array_equal(table.columns["context_tokens"], [100, 200, np.nan])
    assert_array_equal(table.columns["happiness"], [3, np.nan, 4])
    assert table.info["happiness"].title == "Happiness"


def test_a_column_under_the_name_of_a_derived_signal_is_told(tmp_path: Path) -> None:
    """It is left out, once told for its file, and the signal is worked out from the actions."""
    for name in ("a", "b"):
        rows(
            tmp_path / name,
            *(
                {"run": run, "turn": turn, "action": "x", "repeated_action": 7, "tool_error": 1}
                for run in ("r", "s")
                for turn in (1, 2)
            ),
        )
    result = read_table([tmp_path])
    assert_array_equal(result.table.columns["repeated_action"], [0, 1] * 4)
    assert_array_equal(result.table.columns["tool_error"], [1] * 8)
    assert [Path(str(problem.path)).name for problem in result.problems] == ["a", "b"]
    assert all("own `repeated_action` was left out" in p.reason for p in result.problems)


def test_one_bad_file_loses_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad record, an error and a crash of a reader are problems; all other runs are there."""
    install(tmp_path / "site", monkeypatch)
    lines(tmp_path / "in/1", "run a", "bad", "run b")
    lines(tmp_path / "in/2", "run c", "raise", "run never")
    lines(tmp_path / "in/3", "run d", "crash", "run never")
    lines(tmp_path / "in/4", "run e")
    heard: list[ReadError] = []
    result = read_table([tmp_path / "in"], on_problem=heard.append)
    assert result.table.runs.id.tolist() == ["a", "b", "c", "d", "e"]
    assert [(Path(str(p.path)).name, p.record) for p in result.problems] == [
        ("1", 3),
        ("2", 3),
        ("3", None),
    ]
    assert "the reader 'lines' failed: ZeroDivisionError('by chance')" in str(result.problems[2])
    assert tuple(heard) == result.problems
    assert [i.n_runs for i in result.inputs] == [2, 1, 1, 1]


def test_a_file_that_is_gone_or_damaged_is_a_problem(tmp_path: Path) -> None:
    """A file that cannot be opened and a packed one without a readable start lose no other."""
    for name in ("1", "2", "4"):
        rows(tmp_path / name, {"run": name, "turn": 1, "quality": 1})
    (tmp_path / "3").write_bytes(b"\x1f\x8b\x08\x00 not gzip at all")

    def remove_the_second(done: int, total: int) -> None:
        assert total == 4
        if done == 1:
            (tmp_path / "2").unlink()

    result = read_table([tmp_path], progress=remove_the_second)
    assert result.table.runs.id.tolist() == ["1", "4"]
    assert [p.reason for p in result.problems] == [
        "cannot be opened: No such file or directory",
        "packed with gzip, and damaged from its start",
    ]
    assert result.unread == ()


def test_a_reader_that_fails_to_look_at_a_file_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are asked, and the file is listed as unknown."""
    install(tmp_path / "site", monkeypatch, name="blind")
    module = tmp_path / "site/installed_reader_blind.py"
    module.write_text(module.read_text().replace('head.startswith(b"LINES")', "1 / 0"))
    (tmp_path / "a").write_text("x")
    result = read_table([tmp_path / "a"])
    assert result.unread == (str(tmp_path / "a"),)
    assert ["failed to look at it: ZeroDivisionError" in p.reason for p in result.problems] == [
        True
    ]


def test_a_listener_that_raises_stops_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own exception comes through, told once, from a record and from a crash alike."""
    install(tmp_path / "site", monkeypatch)
    for word, message in (("bad", "a bad line"), ("raise", "breaks off"), ("crash", "by chance")):
        path = lines(tmp_path / word, "run a", word)
        told: list[ReadError] = []

        def listen(problem: ReadError, told: list[ReadError] = told) -> None:
            told.append(problem)
            raise_problem(problem)

        with pytest.raises(ReadError, match=message):
            read_table([path], on_problem=listen)
        assert len(told) == 1


def test_read_stops_at_the_first_problem_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`read` raises by default, and goes on where `on_problem` returns."""
    install(tmp_path / "site", monkeypatch)
    path = lines(tmp_path / "a", "run a", "bad", "run b")
    with pytest.raises(ReadError, match="a bad line"):
        read(path)
    bad: list[ReadError] = []
    assert read([str(path)], on_problem=bad.append).n_runs == 2
    assert len(bad) == 1


def test_a_broken_reader_plugin_fails_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed reader that does not import is named, not passed over."""
    install(tmp_path / "site", monkeypatch, name="broken")
    (tmp_path / "site/installed_reader_broken.py").write_text("raise RuntimeError('no')")
    (tmp_path / "a").write_text("x")
    with pytest.raises(BrokenPluginError, match="reader plugin 'broken' from installed_reader_b"):
        read_table([tmp_path / "a"])


def test_a_plugin_under_the_name_of_a_built_in_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The built-in is used, and a warning names the plugin and its package."""
    install(tmp_path / "site", monkeypatch, name="turns")
    path = rows(tmp_path / "a", {"turn": 1, "quality": 1})
    wanted = "reader plugin 'turns' from installed_reader_turns is not used"
    with pytest.warns(UserWarning, match=wanted):
        result = read_table([path])
    assert [(i.format, i.n_runs) for i in result.inputs] == [("turns", 1)]


def test_progress_is_told_after_each_file(tmp_path: Path) -> None:
    """It counts up to the number of files, known and unknown."""
    rows(tmp_path / "a", {"turn": 1, "quality": 1})
    (tmp_path / "b").write_text("nothing known")
    told: list[tuple[int, int]] = []
    read_table([tmp_path], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_no_run_gives_an_empty_table(tmp_path: Path) -> None:
    """A folder without a trace is a table without rows, with every column."""
    table = read_table([tmp_path]).table
    assert (table.n_runs, len(table.turn)) == (0, 0)
    assert table.columns["spiral"].shape == (0,)


def test_the_runs_are_those_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`iter_runs` gives the same ids, conditions and trials as `read_table`."""
    install(tmp_path / "site", monkeypatch)
    for folder in ("a", "a_rerun", "b"):
        lines(tmp_path / "in" / folder / "1", "run x", "run y")
    options = ReadOptions(condition_from="folder")
    table = read_table([tmp_path / "in"], options=options).table
    runs = list(iter_runs([tmp_path / "in"], options=options))
    assert [run.id for run in runs] == table.runs.id.tolist()
    assert [run.condition for run in runs] == table.runs.condition.tolist()
    assert [run.trial for run in runs] == table.runs.trial.tolist()


def test_runs_under_the_names_of_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`iter_named_runs` leaves ids as they stand, where `iter_runs` tells runs of one id apart."""
    install(tmp_path / "site", monkeypatch)
    for folder in ("a", "b"):
        lines(tmp_path / "in" / folder / "1", "run x", "run y")
    assert [run.id for run in iter_runs([tmp_path / "in"])] == ["x", "y", "b/x", "b/y"]
    assert [run.id for run in iter_named_runs([tmp_path / "in"])] == ["x", "y", "x", "y"]


def test_chosen_runs_are_fetched_again_for_their_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have the table's id, and come from a table of selected runs too."""
    install(tmp_path / "site", monkeypatch)
    for folder in ("a", "b"):
        lines(tmp_path / "in" / folder / "1", "run x", "run y", "run z")
    table = read_table([tmp_path / "in"]).table
    fetched = dict(fetch_runs(table, [1, 5]))
    assert sorted(fetched) == [1, 5]
    assert fetched[5].id == table.runs.id[5] == "b/z"
    assert fetched[5].turns[0].text == "z"
    part = table.select(np.array([False, True, False, False, False, True]))
    assert [run.turns[0].text for _, run in fetch_runs(part, [0, 1])] == ["y", "z"]


def test_a_signal_plugin_becomes_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed signal is observed; where it fails on a run, that is one problem and NaN."""
    site = tmp_path / "site"
    info = site / "shout-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "installed_signal.py").write_text(
        "import numpy as np\n"
        "from turncurve import Signal, SignalInfo\n"
        "def shout(run):\n"
        "    if run.id == 'odd': raise KeyError('odd')\n"
        "    if run.id == 'long': return np.zeros(5)\n"
        "    return np.array([turn.text.count('!') for turn in run.turns], dtype=float)\n"
        "SHOUT = Signal(info=SignalInfo(name='shout', title='Shouting'), observe=shout)\n"
    )
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[turncurve.signals]\nshout=installed_signal:SHOUT\n")
    monkeypatch.syspath_prepend(str(site))
    install(tmp_path / "reader", monkeypatch)
    result = read_table([lines(tmp_path / "a", "run hey!!", "run odd", "run long")])
    assert_array_equal(result.table.columns["shout"], [2, np.nan, np.nan])
    assert result.table.info["shout"].title == "Shouting"
    assert ["'shout' failed: KeyError" in p.reason for p in result.problems] == [True, False]
    assert "wanted shape (1,), got (5,)" in result.problems[1].reason


@pytest.mark.corpus
def test_folders_as_conditions_of_real_runs(corpus: Callable[[str], Path]) -> None:
    """Five folders of one agent are four conditions, one of them with a second trial."""
    path = corpus("mini_swe_agent/deepseek-repeats")
    result = read_table([path], options=ReadOptions(condition_from="folder"))
    runs = result.table.runs
    pairs = zip(runs.condition.tolist(), runs.trial.tolist(), strict=True)
    assert set(pairs) == {
        ("deepseek_chat_dev", 1),
        ("deepseek_chat_dev", 2),
        ("deepseek_lite_dev", 1),
        ("deepseek_lite_dev_noparallel", 1),
        ("deepseek_reasoner_dev", 1),
    }
    assert len(set(runs.id)) == len(runs) == 39
    assert result.problems == ()


@pytest.mark.corpus
def test_sums_of_real_runs(corpus: Callable[[str], Path]) -> None:
    """The columns of 80 real runs add up to what their files say."""
    table = read_table([corpus("mini_swe_agent/gemini-3-pro")]).table
    sums = {name: np.nansum(column) for name, column in table.columns.items()}
    assert (table.n_runs, len(table.turn)) == (80, 3270)
    assert (sums["n_tool_errors"], sums["n_tool_results"]) == (195, 3043)
    assert sums["format_error"] == 139
    assert (sums["context_tokens"], sums["cached_input_tokens"]) == (56_405_220, 47_507_971)
    assert sums["output_tokens"] == 923_921
    assert sums["cost_usd"] == pytest.approx(38.3629, abs=5e-5)
    assert sums["cost_estimated"] == 0
    assert np.nanmax(table.columns["context_tokens"]) == 95_507
    assert_allclose(sums["phase_known"] / sums["n_tool_calls"], 0.99, atol=0.01)
