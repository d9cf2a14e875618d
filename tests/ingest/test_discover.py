"""Which files are found, and who reads each."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.plugin_reader import install, lines
from turncurve.errors import ReadError, UnknownNameError
from turncurve.ingest import ReadOptions, explain, read, read_table
from turncurve.ingest.discover import discover


def found(*paths: str | Path) -> list[str]:
    return [file.path.name for file in discover(paths)]


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_a_folder_is_walked_in_a_fixed_order(tmp_path: Path) -> None:
    """Files come sorted by path, whatever order they were made in."""
    touch(tmp_path / "b/2", tmp_path / "b/1", tmp_path / "a/9", tmp_path / "c")
    assert found(tmp_path) == ["9", "1", "2", "c"]


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    """By itself, by its folder and by a pattern it is one file."""
    touch(tmp_path / "a")
    assert found(tmp_path / "a", tmp_path, str(tmp_path / "*")) == ["a"]


def test_hidden_files_and_tool_folders_are_left_out(tmp_path: Path) -> None:
    """`.git` and the like hold no traces."""
    touch(tmp_path / ".git/x", tmp_path / ".DS_Store", tmp_path / "__pycache__/y", tmp_path / "a")
    assert found(tmp_path) == ["a"]


def test_a_hidden_file_that_is_named_is_read(tmp_path: Path) -> None:
    """What the user names is taken."""
    touch(tmp_path / ".a")
    assert found(tmp_path / ".a") == [".a"]


def test_links_do_not_lead_out_of_the_given_folder(tmp_path: Path) -> None:
    """A link to a file outside and a link to a folder are not followed; one inside is one file."""
    touch(tmp_path / "outside/secret", tmp_path / "given/a")
    (tmp_path / "given/leak").symlink_to(tmp_path / "outside/secret")
    (tmp_path / "given/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "given/b").symlink_to(tmp_path / "given/a")
    (tmp_path / "given/round").symlink_to(tmp_path / "given")
    assert found(tmp_path / "given") == ["a"]


def test_a_pattern_may_reach_into_folders(tmp_path: Path) -> None:
    """`**` matches at any depth."""
    touch(tmp_path / "a/b/x.json", tmp_path / "a/y.json", tmp_path / "a/z.txt")
    assert sorted(found(str(tmp_path / "**/*.json"))) == ["x.json", "y.json"]


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    """The message names the path."""
    with pytest.raises(ReadError, match=r"nowhere: no such file or folder"):
        discover([tmp_path / "nowhere"])


def test_a_pattern_without_a_match_is_an_error(tmp_path: Path) -> None:
    """The message names the pattern."""
    with pytest.raises(ReadError, match=r"\*\.eval: the pattern matches nothing"):
        discover([tmp_path / "*.eval"])


def test_a_name_with_brackets_is_a_path_first(tmp_path: Path) -> None:
    """A file whose name looks like a pattern is found by its name."""
    touch(tmp_path / "run[1].json")
    assert found(tmp_path / "run[1].json") == ["run[1].json"]


def test_files_that_no_reader_knows_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are neither an error nor lost; what a reader consults beside a trace is not listed."""
    install(tmp_path / "site", monkeypatch)
    lines(tmp_path / "given/a", "run a")
    touch(tmp_path / "given/notes.txt", tmp_path / "given/a.outcome")
    (tmp_path / "given/empty").write_bytes(b"")
    result = read_table([tmp_path / "given"])
    assert [Path(p).name for p in result.unread] == ["empty", "notes.txt"]
    assert result.problems == ()
    assert [(Path(i.path).name, i.format, i.n_runs) for i in result.inputs] == [("a", "lines", 1)]


def test_explain_says_which_reader_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the reader, what it goes by, and the packing."""
    install(tmp_path / "site", monkeypatch)
    packed = tmp_path / "a.txt"
    packed.write_bytes(gzip.compress(b"LINES\nrun a\n"))
    explanation = explain(packed)
    assert explanation.reader == "lines"
    assert explanation.recognised_by == "its first line is LINES"
    assert explanation.others == ()
    assert explanation.compression == "gzip"


def test_explain_says_why_not(tmp_path: Path) -> None:
    """A file that nobody knows, and an empty one, have a reason; a folder is an error."""
    touch(tmp_path / "a")
    (tmp_path / "b").write_bytes(b"")
    assert explain(tmp_path / "a").reason == "no reader recognises its content"
    assert explain(tmp_path / "b").reason == "the file is empty"
    with pytest.raises(ReadError, match="wanted a file"):
        explain(tmp_path)


def test_a_reader_can_be_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named file is read by the forced reader, even if that does not recognise it."""
    install(tmp_path / "site", monkeypatch)
    path = tmp_path / "a"
    path.write_text("no head\nrun a\n")
    assert read_table([path]).unread == (str(path),)
    assert read_table([path], options=ReadOptions(format="lines")).table.n_runs == 1


def test_an_unknown_reader_is_an_error(tmp_path: Path) -> None:
    """The message lists the readers there are."""
    touch(tmp_path / "a")
    with pytest.raises(UnknownNameError, match=r"unknown reader 'xml'; known: .*turns"):
        read_table([tmp_path], options=ReadOptions(format="xml"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n", "nothing but blanks is in it"),
        (b"step,quality\n1,0.5\n", "no column `turn`; the columns are step, quality"),
        (b'{"step": 1, "q": 2}\n', "no key `turn`; the keys of the first record are step, q"),
        (b"just words\n", "no reader recognises its content"),
    ],
)
def test_explain_names_the_near_miss(content: bytes, reason: str, tmp_path: Path) -> None:
    """A table without `turn` is told by the columns that it has."""
    (tmp_path / "a").write_bytes(content)
    assert explain(tmp_path / "a").reason == reason


def test_explain_names_the_near_miss_of_packed_formats(tmp_path: Path) -> None:
    """So are a Parquet file without `turn`, and a zip archive that is no Inspect log."""
    pq.write_table(pa.table({"step": [1], "quality": [0.5]}), tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        archive.writestr("x", "y")
    assert explain(tmp_path / "a").reason == "no column `turn`; the columns are step, quality"
    assert explain(tmp_path / "b").reason == "a zip archive that is no Inspect log"


def test_a_file_that_a_forced_reader_can_make_nothing_of_is_one_problem(tmp_path: Path) -> None:
    """However many records it has; where a run comes of it all the same, each record is told."""
    (tmp_path / "a").write_text("step,quality\n" + "1,0.5\n" * 50)
    result = read_table([tmp_path / "a"], options=ReadOptions(format="turns"))
    (problem,) = result.problems
    assert "gives no run as 'turns', which knows its files by a column or key `turn`" in str(
        problem
    )
    assert "no column `turn`; the columns are step, quality" in str(problem)
    (tmp_path / "b").write_text("bad\n" * 30 + '{"turn": 1}\nbad\n')
    result = read_table([tmp_path / "b"], options=ReadOptions(format="codex"))
    assert (result.table.n_runs, len(result.problems)) == (1, 31)


def test_a_forced_reader_may_be_stopped(tmp_path: Path) -> None:
    """The listener's own exception comes through, of the one problem and of a later record."""
    (tmp_path / "a").write_text("bad\n")
    (tmp_path / "b").write_text('{"x": 1}\nbad\n')
    for name in "ab":
        with pytest.raises(ReadError):
            read(tmp_path / name, options=ReadOptions(format="codex"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"type":"summary","leafUuid":"x","sessionId":"s"}\n', "Claude Code session without"),
        (b'[{"task_id": 1, "traj": []}]', None),
    ],
)
def test_a_file_that_gives_no_run_is_told(
    content: bytes, words: str | None, tmp_path: Path
) -> None:
    """It was recognised, so what it lacks is said; a run without a turn is a run."""
    (tmp_path / "a").write_bytes(content)
    result = read_table([tmp_path])
    assert [p.reason for p in result.problems if words and words in p.reason] == [
        p.reason for p in result.problems
    ]
    assert [i.n_runs for i in result.inputs] == [int(words is None)]
    assert len(result.problems) == int(words is not None)


def test_an_empty_folder_is_told_by_name(tmp_path: Path) -> None:
    """Beside one that holds a file; hidden files don't count."""
    touch(tmp_path / "full/a", tmp_path / "hollow/.hidden", tmp_path / "deep/b/c")
    (tmp_path / "empty").mkdir()
    folders = [tmp_path / name for name in ("full", "hollow", "empty", "deep")]
    problems = read_table(folders).problems
    assert [str(problem.path) for problem in problems] == [str(folders[1]), str(folders[2])]
    assert "holds no file" in problems[0].reason
