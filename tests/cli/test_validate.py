"""`turncurve validate`: every form, every way to be asked wrongly, and hostile names."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from report.page_blocks import HOSTILE, PageReader
from turncurve.cli.main import cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/grader"
GRADES, LABELS = EXAMPLE / "grades.jsonl", EXAMPLE / "labels.csv"


def run(*arguments: object, **options: Any) -> Result:
    return CliRunner().invoke(cli, ["validate", *map(str, arguments)], **options)


def graded(path: Path, steps: dict[str, str], *, grader: str = "g", **record: object) -> Path:
    """A graded file: by run id the letters f, n, p of its steps, ? for one that did not parse."""
    words = {"f": "fail", "n": "neutral", "p": "pass", "?": "neutral"}
    lines = [
        {
            "trace_id": name,
            "steps": [
                {
                    "step_index": i,
                    "validity": words[letter],
                    "grader_model": grader,
                    "raw": {"parse_error": "no JSON"} if letter == "?" else {},
                }
                for i, letter in enumerate(letters)
            ],
            **record,
        }
        for name, letters in steps.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class TestForms:
    def test_json(self) -> None:
        """The keys that others read, and numbers that a plain count of the two files gives."""
        document = json.loads(run(GRADES, LABELS, "--json", "-", "-q").stdout)
        assert {"confusion", "kappa", "ac1", "by_position", "by_length", "sensitivity"} <= set(
            document
        )
        with LABELS.open() as file:
            labels = {(r["run"], int(r["turn"])): int(r["error"]) for r in csv.DictReader(file)}
        table = [[0, 0], [0, 0]]
        for line in GRADES.read_text().splitlines():
            record = json.loads(line)
            for step in record["steps"]:
                if not step["raw"]:
                    label = labels[record["trace_id"], step["step_index"] + 1]
                    table[int(step["validity"] != "fail")][int(not label)] += 1
        assert document["confusion"] == table
        assert document["n_turns"] == sum(map(sum, table))
        assert sum(row["n_turns"] for row in document["by_position"]) == document["n_turns"]
        assert document["position"]["verdict"] == "finding"
        assert document["position"]["slopes"]["divided"]["value"] is None
        assert set(document["kappa"]) >= {"value", "low", "high", "n_turns", "n_runs", "reason"}
        assert document["excluded"] == {"GRADES could not be had": 3}

    def test_text(self) -> None:
        """Trust first, then slopes; kappa stands beside AC1; 80 columns."""
        text = run(GRADES, LABELS).stdout
        assert text.startswith("made-up/grader finds 0.688 [")
        words = " ".join(text.split())
        assert "kappa 0.689 [0.590, 0.795], AC1 0.891 [" in words
        assert "no slope over turns may be corrected with one" in words
        assert max(map(len, text.splitlines())) <= 80

    def test_markdown_and_page(self, tmp_path: Path) -> None:
        """Markdown has the tables; the page has two drawings, one script, and asks for nothing."""
        page = tmp_path / "v.html"
        done = run(GRADES, LABELS, "--markdown", "-", "-o", page)
        assert done.stdout.startswith(
            "### turncurve: can the grader be trusted\n\n**made-up/grader"
        )
        assert "<svg" not in done.stdout
        tags = PageReader(page.read_text("utf-8")).tags
        names = [name for name, _ in tags]
        assert names.count("svg") == 2
        assert names.count("script") == 1
        policy = [a["content"] for n, a in tags if a.get("http-equiv")]
        assert "default-src 'none'" in policy[0]

    def test_page_by_its_own_option(self) -> None:
        """`--html -` writes the page to standard output."""
        assert run(GRADES, LABELS, "--html", "-", "-q").stdout.startswith("<!doctype html>")

    def test_positions_and_lengths(self) -> None:
        """Ranges can be asked for."""
        done = run(
            *(GRADES, LABELS, "--json", "-", "-q"),
            *("--positions", "1-5,6+", "--lengths", "0-15,16+", "--resamples", 200),
        )
        document = json.loads(done.stdout)
        assert [row["label"] for row in document["by_position"]] == ["1-5", "6+"]
        assert [(row["from"], row["to"]) for row in document["by_length"]] == [
            (0, 15),
            (16, None),
        ]
        assert document["breakdowns"]["by_length"]["by"].startswith("turns of the run")
        assert document["settings"]["resamples"] == 200

    def test_retest_and_variants(self, tmp_path: Path) -> None:
        """Further gradings stand beside the labels, each variant with its verdict."""
        runs = {f"r{i}": "fnpn" for i in range(12)}
        first = graded(tmp_path / "a.jsonl", runs)
        again = graded(tmp_path / "b.jsonl", runs)
        other = graded(tmp_path / "c.jsonl", dict.fromkeys(runs, "ffpn"))
        done = run(
            *(first, again, "--retest", again, "--json", "-", "-q"),
            *("--variant", f"order={other}", "--variant", f"words={again}"),
        )
        document = json.loads(done.stdout)
        assert document["retest"]["flipped"]["value"] == 0.0
        assert [one["regrade"]["name"] for one in document["variants"]] == ["order", "words"]
        assert document["variants"][0]["shift"]["value"] == 0.25
        text = run(first, again, "--retest", again, "--variant", f"order={other}").stdout
        assert "CHANGES THAT SHOULD NOT MATTER" in text
        assert max(map(len, text.splitlines())) <= 80

    def test_several_raters(self, tmp_path: Path) -> None:
        """Three raters: all together and each pair, by number, with their names below."""
        runs = {f"r{i}": "fnpnfp" for i in range(6)}
        labels = tmp_path / "labels"
        labels.mkdir()
        graded(labels / "x.jsonl", runs, grader="a person with a name that is long")
        graded(labels / "y.jsonl", dict.fromkeys(runs, "ffpnnp"), grader="another")
        done = run(graded(tmp_path / "g.jsonl", runs), labels)
        assert done.exit_code == 0
        assert "ALL 3 RATERS, ON VALIDITY" in done.stdout
        assert "2: LABELS: a person with a name that is long." in done.stdout
        assert "LABELS: turn on which the raters are tied: 12 turns." in " ".join(
            done.stdout.split()
        )
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_traces_give_lengths(self, tmp_path: Path) -> None:
        """The judged traces, given beside, say how much each turn read."""
        runs = {f"r{i}": "fnpn" for i in range(4)}
        grades = graded(tmp_path / "a.jsonl", runs)
        labels = graded(tmp_path / "b.jsonl", runs)
        traces = tmp_path / "t.jsonl"
        rows = [
            {"run": name, "turn": t, "quality": 1, "context_tokens": 100 * t}
            for name in runs
            for t in range(1, 5)
        ]
        traces.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = run(grades, labels, "--traces", traces, "--lengths", "0-250,251+", "--json", "-")
        document = json.loads(done.stdout)
        assert document["breakdowns"]["by_length"]["by"].startswith("tokens")
        assert [row["n_turns"] for row in document["by_length"]] == [8, 8]

    def test_standard_input_and_a_store(self, tmp_path: Path) -> None:
        """Grades may come from standard input, labels from a store."""
        store = tmp_path / "store"
        CliRunner().invoke(cli, ["import", str(LABELS), "--store", str(store), "-q"])
        given = run("-", store, "--json", "-", "-q", input=GRADES.read_bytes())
        plain = run(GRADES, LABELS, "--json", "-", "-q")
        assert json.loads(given.stdout) == json.loads(plain.stdout)


class TestAskedWrongly:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--positions", "3-1"], "wanted a range that rises"),
            (["--positions", "x"], "wanted ranges such as 1-3,4-6"),
            (["--variant", "order"], "wanted NAME=PATH"),
            (["--variant", "a=x", "--variant", "a=y"], "given twice"),
            (["--retest", "-", "--traces", "-"], "only one input can be -"),
            (["--grader", "nobody"], "known: made-up/grader"),
            (["--margin", "0"], "margin"),
            (["-o", "x.pdf"], ".html, .htm, .json"),
            (["--grades-construct", "hindsight"], "states no hindsight"),
            (["--labels-construct", "hindsight"], "give labels of the kind of GRADES"),
        ],
    )
    def test_usage(self, options: list[str], message: str) -> None:
        """Status 2, one line, and what would work."""
        done = run(GRADES, LABELS, *options)
        assert done.exit_code == 2
        assert message in done.stderr
        assert done.stdout == ""

    def test_labels_of_the_same_kind(self) -> None:
        """Labels stated to be without hindsight are compared without a warning."""
        done = run(GRADES, LABELS, "--labels-construct", "no_hindsight", "--json", "-", "-q")
        document = json.loads(done.stdout)
        assert (document["construct"], document["warnings"]) == ("no_hindsight", [])

    def test_which_of_several_graders(self, tmp_path: Path) -> None:
        """A folder with two graders' files of the same runs: one must be named."""
        runs = {"a": "fnp", "b": "ppn"}
        folder = tmp_path / "grades"
        folder.mkdir()
        graded(folder / "x.jsonl", runs, grader="x")
        graded(folder / "y.jsonl", {"a": "fff", "b": "fff"}, grader="y")
        labels = graded(tmp_path / "l.jsonl", runs)
        done = run(folder, labels)
        assert done.exit_code == 2
        assert "GRADES holds 2 graders; name one with --grader: x, y" in done.stderr
        named = run(folder, labels, "--grader", "y", "--json", "-")
        assert json.loads(named.stdout)["confusion"] == [[1, 5], [0, 0]]

    def test_no_judgement(self, tmp_path: Path) -> None:
        """A file without judgements names what would work."""
        path = tmp_path / "a.jsonl"
        path.write_text('{"run": "r", "turn": 1, "quality": 1}\n')
        done = run(GRADES, path)
        assert done.exit_code == 2
        assert f"LABELS: {path} holds no judgement of a turn; wanted graded steps" in done.stderr

    def test_nothing_shared(self, tmp_path: Path) -> None:
        """Other runs on the two sides: the counts say so."""
        done = run(GRADES, graded(tmp_path / "a.jsonl", {"elsewhere": "fnp"}))
        assert done.exit_code == 2
        assert "in LABELS alone: GRADES lacks the run: 3" in done.stderr

    def test_mixed_labels(self, tmp_path: Path) -> None:
        """A folder with labels of both kinds is refused, and the files are named."""
        folder = tmp_path / "labels"
        folder.mkdir()
        graded(folder / "a.jsonl", {"a": "f"}, construct="hindsight")
        graded(folder / "b.jsonl", {"b": "f"}, metadata={"construct": "no_hindsight"})
        done = run(graded(tmp_path / "g.jsonl", {"a": "f"}), folder)
        assert done.exit_code == 2
        assert "LABELS mixes two kinds of label" in done.stderr
        assert "b.jsonl" in done.stderr

    def test_unreadable_records(self, tmp_path: Path) -> None:
        """A bad record among good ones is told; it fails the command with --strict alone."""
        path = tmp_path / "a.jsonl"
        path.write_text(GRADES.read_text() + "{oops\n")
        done = run(path, LABELS)
        assert done.exit_code == 0
        assert "a.jsonl:31" in done.stderr
        assert run(path, LABELS, "--strict").exit_code == 2


def test_hostile_names(tmp_path: Path) -> None:
    """Names of graders, of runs and of a variant are text in every form."""
    runs = {HOSTILE: "fnp", "b": "fpn"}
    grades = graded(tmp_path / "a.jsonl", runs, grader="\x1b[31m" + HOSTILE)
    labels = graded(tmp_path / "b.jsonl", runs, grader="<b>|bold|</b>")
    page = tmp_path / "v.html"
    options = ("--variant", f"<img onerror>={labels}", "-o", page)
    markdown = run(grades, labels, *options, "--markdown", "-").stdout
    text = run(grades, labels).stdout
    assert "\x1b" not in text + markdown
    assert "<b>" not in markdown
    names = {name for name, _ in PageReader(page.read_text("utf-8")).tags}
    assert not names & {"b", "img"}
