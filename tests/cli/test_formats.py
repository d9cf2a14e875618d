"""`turncurve formats`."""

import gzip
import json

from click.testing import CliRunner

from turncurve.cli.main import cli
from turncurve.readers import READERS


def run(*arguments):
    result = CliRunner().invoke(cli, ["formats", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_lists_every_reader():
    """Each registered reader is listed with its title and what it goes by, in 80 columns."""
    text = run()
    for name in READERS:
        assert f"{name}: {READERS[name].title}" in text
        assert READERS[name].recognised_by in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_says_which_extra_is_needed():
    """The reader of Inspect logs names its extra; the others need none."""
    listed = {row["name"]: row["extra"] for row in json.loads(run("--json", "-"))["formats"]}
    assert listed.pop("inspect") == "inspect"
    assert set(listed.values()) == {None}
    assert "pip install 'turncurve[inspect]'" in run()


def test_explains_each_file_of_a_folder(tmp_path):
    """Content decides, packing is read through, an unknown file says what would work."""
    (tmp_path / "table.txt").write_text('{"turn": 1, "quality": 0.5}\n')
    (tmp_path / "packed.json").write_bytes(gzip.compress(b'{"turn": 1, "quality": 0.5}\n'))
    (tmp_path / "prose.md").write_text("# words\n")
    (tmp_path / "empty.jsonl").touch()
    files = {
        row["path"]: row for row in json.loads(run("--explain", tmp_path, "--json", "-"))["files"]
    }
    by_name = {path.rpartition("/")[2]: row for path, row in files.items()}
    assert by_name["table.txt"]["reader"] == "turns"
    assert by_name["packed.json"]["reader"] == "turns"
    assert by_name["packed.json"]["compression"] == "gzip"
    assert by_name["prose.md"]["reader"] is None
    assert "--format NAME" in by_name["prose.md"]["fix"]
    assert by_name["empty.jsonl"]["reason"] == "the file is empty"
    text = run("--explain", tmp_path)
    assert "no reader: the file is empty" in text
    assert f"turns: {READERS['turns'].recognised_by}" in " ".join(text.split())


def test_companions_are_no_unknown_files(data):
    """A file that a reader consults beside a trace is said to be that."""
    rows = json.loads(run("--explain", data / "mini_swe_agent", "--json", "-"))["files"]
    companions = [row for row in rows if row["companion"]]
    assert companions
    assert all(row["fix"] is None for row in companions)
    assert "no trace: read beside one" in run("--explain", data / "mini_swe_agent")


def test_a_reader_that_cannot_look_is_named(tmp_path, monkeypatch):
    """A plugin that fails to look at a file is named; the other readers are asked all the same."""
    site = tmp_path / "site"
    info = site / "narrow-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: narrow\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[turncurve.readers]\nnarrow = narrow:READER\n")
    (site / "narrow.py").write_text(
        "from turncurve.readers import Reader\n"
        "def look(head, path):\n"
        "    raise UnicodeError('no letters')\n"
        "READER = Reader(name='narrow', title='Narrow', recognised_by='luck', looks_like=look,\n"
        "                read=lambda path, on_problem: iter(()))\n"
    )
    monkeypatch.syspath_prepend(str(site))
    path = tmp_path / "table.jsonl"
    path.write_text('{"turn": 1, "quality": 0.5}\n')
    said = "the reader 'narrow' failed to look at it: UnicodeError('no letters')"
    (row,) = json.loads(run("--explain", path, "--json", "-"))["files"]
    assert row["reader"] == "turns"
    assert row["failed"] == [said]
    assert said in " ".join(run("--explain", path).split())


def test_missing_path_is_a_usage_error():
    """A path that is not there ends with status 2 and names it."""
    result = CliRunner().invoke(cli, ["formats", "--explain", "nowhere"])
    assert result.exit_code == 2
    assert result.stderr == "turncurve: nowhere: no such file or folder\n"
