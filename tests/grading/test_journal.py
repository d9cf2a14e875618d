"""The grade file while it is written: killed, cut off, locked, graded otherwise."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from grading.fakes import PASS, always
from grading.killable import CONCURRENCY, N_RUNS, N_TURNS
from turncurve.errors import GradeError, ReadError
from turncurve.grading.journal import open_journal
from turncurve.grading.model import Member
from turncurve.grading.rubric_file import built_in_text, load_rubric, parse_rubric
from turncurve.grading.session import GradeSettings, session_line
from turncurve.ingest import read
from turncurve.readers.grade_lines import Absence, GradeLine, RunLine, SessionLine, decoded

HERE = Path(__file__).resolve()
STEPS = load_rubric("steps")
SESSION = session_line(STEPS, [Member(model=always(PASS))], GradeSettings())
TURN = tuple[str, int]


def answer(key: str = "k", run: str = "r", **more: object) -> GradeLine:
    given = {"answer": dict(PASS), "settings": SESSION.settings, "grader": "lab/fake", **more}
    return GradeLine(key=key, run=run, turn=1, **given)  # type: ignore[arg-type]


def answered(path: Path) -> Counter[TURN]:
    """The turns with an answer in the whole lines of a grade file, and how often each stands."""
    whole = [line for line in path.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]
    lines = [decoded(line) for line in whole]
    return Counter((g.run, g.turn) for g in lines if isinstance(g, GradeLine) and g.answer)


def started(log: Path) -> list[TURN]:
    rows = [row.split() for row in log.read_text().splitlines()] if log.exists() else []
    return [(run, int(turn)) for run, turn in rows]


def grading(path: Path, log: Path) -> subprocess.Popen[bytes]:
    root = HERE.parents[2]
    paths = os.pathsep.join([str(root / "src"), str(root / "tests")])
    return subprocess.Popen(
        [sys.executable, str(HERE.parent / "killable.py"), str(path), str(log)],
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_killed_at_any_moment_it_pays_for_none_twice(tmp_path: Path) -> None:
    """Killed at 20 random moments, a grading loses at most the calls under way, each time.

    No turn whose answer stands in the file is ever asked about again, and in the end every turn
    has exactly one answer.
    """
    rng = random.Random(20261201)
    path, log = tmp_path / "g.jsonl", tmp_path / "calls"
    n_killed = 0
    while n_killed < 20:
        had, n_before = answered(path) if path.exists() else Counter[TURN](), len(started(log))
        process = grading(path, log)
        while len(started(log)) == n_before and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        n_killed += process.wait() == -signal.SIGKILL
        asked = started(log)[n_before:]
        assert not set(asked) & set(had)
        assert len(set(asked)) == len(asked)
        assert len(set(asked) - set(answered(path))) <= CONCURRENCY
    assert grading(path, log).wait() == 0
    every = {(f"run-{i}", turn) for i in range(N_RUNS) for turn in range(1, N_TURNS + 1)}
    assert answered(path) == Counter(every)
    assert len(every) <= len(started(log)) <= len(every) + 20 * CONCURRENCY
    n_before = len(started(log))
    assert grading(path, log).wait() == 0
    assert len(started(log)) == n_before
    assert read(path).columns["error"].tolist() == [0.0] * len(every)


@pytest.mark.parametrize("cut", [1, 5, 40, 41, 42, 200, 500])
def test_a_file_that_breaks_off_is_mended(tmp_path: Path, cut: int) -> None:
    """Whatever a power cut leaves of the last line is removed; whole lines stay."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION) as journal:
        journal.write(answer("one"))
        whole = path.read_bytes()
        journal.write(answer("two"))
    path.write_bytes(path.read_bytes()[: len(whole) + cut])
    with open_journal(path, SESSION) as journal:
        assert journal.had("one") is not None
        assert (journal.had("two") is not None) == (path.read_bytes() != whole)
        journal.write(answer("three"))
    lines = [decoded(line) for line in path.read_bytes().splitlines()]
    keys = [line.key for line in lines if isinstance(line, GradeLine)]
    assert [keys[0], keys[-1]] == ["one", "three"]


def test_a_whole_answer_without_its_newline_is_kept(tmp_path: Path) -> None:
    """It was paid for."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION) as journal:
        journal.write(answer("one"))
    path.write_bytes(path.read_bytes()[:-1])
    with open_journal(path, SESSION) as journal:
        assert journal.had("one") is not None
    assert path.read_bytes().endswith(b"\n")


@pytest.mark.parametrize("cut", [0, 1, 10, 35, 60, 200])
def test_a_file_that_breaks_off_in_its_first_line_starts_anew(tmp_path: Path, cut: int) -> None:
    """The process was killed before anything was graded."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION):
        pass
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    with open_journal(path, SESSION) as journal:
        journal.write(answer())
    lines = [decoded(line) for line in path.read_bytes().splitlines()]
    assert [type(line) for line in lines] == [SessionLine, GradeLine]


def test_an_answer_is_on_disk_when_it_counts(tmp_path: Path) -> None:
    """Another reader sees it as soon as `write` is back."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION) as journal:
        journal.add_run(RunLine(run="r", n_turns=1, file="f"))
        journal.write(answer())
        assert read(path).columns["error"].tolist() == [0.0]


def test_a_missing_grade_is_no_answer(tmp_path: Path) -> None:
    """It stands in the file with its reason, and is asked again."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION) as journal:
        journal.write(answer(answer=None, missing=Absence(reason="refusal")))
    with open_journal(path, SESSION) as journal:
        assert journal.had("k") is None
        journal.write(answer())
    with open_journal(path, SESSION) as journal:
        assert journal.had("k") is not None
        assert journal.holds("k", "r")
        assert not journal.holds("k", "other")


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """One writer at a time; the file's name is in the error."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION):
        with pytest.raises(ReadError, match="another process writes to this grade file") as problem:
            open_journal(path, SESSION).__enter__()
        assert str(path) in str(problem.value)
    with open_journal(path, SESSION):
        pass


def test_the_same_session_is_said_once(tmp_path: Path) -> None:
    """Run after run adds no line where nothing has changed; another panel size does."""
    path = tmp_path / "g.jsonl"
    for _ in range(3):
        with open_journal(path, msgspec.structs.replace(SESSION, at=time.time())):
            pass
    assert path.read_bytes().count(b"\n") == 1
    thrice = session_line(STEPS, [Member(model=always(PASS), samples=3)], GradeSettings())
    with open_journal(path, thrice):
        pass
    assert path.read_bytes().count(b"\n") == 2


def other(before: str, after: str) -> SessionLine:
    rubric = parse_rubric(built_in_text("steps").replace(before, after), "r")
    return session_line(rubric, [Member(model=always(PASS))], GradeSettings())


@pytest.mark.parametrize(
    ("session", "words"),
    [
        (other("version: 1", "version: 2"), "with the rubric steps@1, not steps@2"),
        (other("no evidence", "no proof"), "raise the version when its words change"),
        (
            session_line(STEPS, [Member(model=always(PASS))], GradeSettings(context_tokens=9_000)),
            "with --context-tokens 24000, not 9000",
        ),
        (
            session_line(STEPS, [Member(model=always(PASS, name="b"))], GradeSettings()),
            "by lab/fake, who is not in the panel now",
        ),
        (
            session_line(
                STEPS, [Member(model=always(PASS, parameters={"seed": 1}))], GradeSettings()
            ),
            "by lab/fake with the parameters {}",
        ),
    ],
)
def test_grades_of_two_kinds_do_not_share_a_file(
    tmp_path: Path, session: SessionLine, words: str
) -> None:
    """Another rubric text, budget, grader or parameter is refused, and says what would work."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION):
        pass
    before = path.read_bytes()
    with pytest.raises(GradeError) as problem:
        open_journal(path, session).__enter__()
    assert words in str(problem.value)
    assert "name another file" in str(problem.value)
    assert path.read_bytes() == before


def test_a_grader_may_join(tmp_path: Path) -> None:
    """A panel that has all of the last one's graders goes on in the same file."""
    path = tmp_path / "g.jsonl"
    with open_journal(path, SESSION):
        pass
    both = [Member(model=always(PASS)), Member(model=always(PASS, name="b"))]
    with open_journal(path, session_line(STEPS, both, GradeSettings())):
        pass


@pytest.mark.parametrize("content", [b"hello\n", b'{"run": 1}\n', b"\x00" * 100])
def test_another_file_is_not_written_to(tmp_path: Path, content: bytes) -> None:
    """A file that is no grade file is left as it is."""
    path = tmp_path / "g.jsonl"
    path.write_bytes(content)
    with pytest.raises(ReadError, match="the file is no grade file"):
        open_journal(path, SESSION).__enter__()
    assert path.read_bytes() == content


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """The path and the system's reason."""
    with pytest.raises(ReadError, match="cannot be written: No such file"):
        open_journal(tmp_path / "no" / "g.jsonl", SESSION).__enter__()
