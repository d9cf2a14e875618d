"""Files that appear whole or not at all."""

import stat

import click
import pytest

from turncurve.cli.outputs import write_text, write_whole


def test_file_is_put_in_place_whole(tmp_path):
    """The written file holds the text, has the usual permissions and leaves nothing beside."""
    plain = tmp_path / "plain"
    plain.touch()
    write_text(str(tmp_path / "report.md"), "héllo\n")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == "héllo\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plain", "report.md"]
    assert stat.S_IMODE((tmp_path / "report.md").stat().st_mode) == stat.S_IMODE(
        plain.stat().st_mode
    )


def test_failed_write_leaves_the_old_file(tmp_path):
    """If writing fails half way, the file that was there stays as it was, and no part is left."""
    target = tmp_path / "report.json"
    target.write_text("old")

    def fail(path):
        path.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_whole(target, fail)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_file_is_replaced_not_rewritten(tmp_path):
    """Whoever has the old file open or linked keeps it whole: the new one takes only its name."""
    target, other_name = tmp_path / "report.json", tmp_path / "old.json"
    target.write_text("old")
    other_name.hardlink_to(target)
    write_text(str(target), "new\n")
    assert (target.read_text(), other_name.read_text()) == ("new\n", "old")


def test_missing_folder_is_a_clear_error(tmp_path):
    """A target in a folder that does not exist is named, with the reason."""
    with pytest.raises(click.ClickException, match=r"cannot write .*none/x\.md: No such file"):
        write_text(str(tmp_path / "none" / "x.md"), "text")


def test_dash_is_standard_output(capsys):
    """`-` prints, with exactly one newline at the end."""
    write_text("-", "a line")
    write_text("-", "another\n")
    assert capsys.readouterr().out == "a line\nanother\n"
