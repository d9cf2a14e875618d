"""`turncurve report`, from files to output and exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from founding_records import BUCKET_MEANS, founding_records
from turncurve.cli.main import cli
from turncurve.report.json import schema


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)], input=stdin)


def lines(records: list[dict]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def founding(tmp_path: Path) -> Path:
    """The founding example as a file of JSON lines."""
    path = tmp_path / "demo.jsonl"
    path.write_text(lines(founding_records()))
    return path


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A folder with six runs of 12 turns in two files, and one file that nobody knows."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for part in range(2):
        records = [
            {
                "run": f"r{part}{r}",
                "turn": t,
                "quality": 1 - (0.05 + 0.002 * r) * t,
                "tool_error": t > 9,
            }
            for r in range(3)
            for t in range(1, 13)
        ]
        (folder / f"part{part}.jsonl").write_text(lines(records))
    (folder / "notes.txt").write_text("nothing to see")
    return folder


FOUNDING = ("--bucket", 10, "--window", 5, "--threshold", 0.7)


def test_founding_example_in_json(founding):
    """The founding example gives its published figures, to every digit, and follows the schema."""
    result = run(founding, *FOUNDING, "--json", "-")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    Draft202012Validator(schema()).validate(report)
    curve = [row for row in report["curves"] if row["signal"] == "quality"]
    assert [round(row["value"], 3) for row in curve] == list(BUCKET_MEANS)
    assert [(row["from"], row["to"], row["n_runs"], row["n_turns"]) for row in curve] == [
        (start, start + 9, 1, 10) for start in range(1, 61, 10)
    ]
    assert all(row["low"] is None and row["high"] is None for row in curve)
    assert report["first_bad_turn"] == 45
    assert report["time_to_first_error"]["rule"] == "rolling_quality"
    context = report["context"]
    assert (context["start_tokens"], context["end_tokens"]) == (3850, 54000)
    assert context["tokens_per_turn"] == 850.0
    assert context["crosses_100k"] == 115
    assert report["repeated_action_rate"] == 0.8
    assert report["summary"]["n_turns"] == 60


def test_founding_example_in_text(founding):
    """The first lines say where quality starts and ends and when it goes bad, in 80 columns."""
    result = run(founding, *FOUNDING)
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert words.startswith(
        "Quality goes from 0.93 (turns 1-10, n = 1 run) to 0.44 (turns 51-60). One run gives no "
        "interval, and so no verdict. The rolling mean is first below 0.7 at turn 45."
    )
    for mean in BUCKET_MEANS:
        assert f"{mean:.3f}" in result.stdout
    assert "850.0 a turn" in words
    assert "100k near turn 115" in words
    assert "0.800 of 60 actions were seen before" in words
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_with_several_runs_the_headline_has_n_and_interval(several):
    """Several runs give an interval and a slope within runs; the verdict follows the slope."""
    words = " ".join(run(several, "--bucket", 4, "--threshold", 0.6).stdout.split())
    assert words.startswith(
        "Quality falls from 0.87 [0.87, 0.87] (turns 1-4, n = 6 runs) to 0.45 [0.43, 0.47] "
        "(turns 9-12, n = 6 runs). Within runs it changes by -0.052 a turn [-0.054, -0.050], "
        "n = 6 runs. In 6 of 6 runs the rolling mean is below 0.6 at some turn, the "
        "median is turn 10"
    )


def test_unknown_file_is_named_and_changes_nothing(several):
    """A file that no reader knows is named on stderr and listed; the status stays 0."""
    result = run(several, "--json", "-")
    assert result.exit_code == 0
    assert "no reader knows" in result.stderr
    assert [Path(name).name for name in json.loads(result.stdout)["unread"]] == ["notes.txt"]


def test_standard_input(founding):
    """`-` reads standard input, which the report calls by that name."""
    result = run("-", *FOUNDING, "--json", "-", stdin=founding.read_text())
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["first_bad_turn"] == 45
    assert report["inputs"] == [{"path": "-", "format": "turns", "n_runs": 1}]


def test_pattern_that_the_shell_left_alone(several):
    """A quoted pattern is expanded."""
    report = json.loads(run(several / "*.jsonl", "--json", "-").stdout)
    assert report["summary"]["n_runs"] == 6
    assert report["unread"] == []


def test_every_output_at_once(founding, tmp_path):
    """-o takes several files, each in the form of its ending, beside one on standard output."""
    names = ["a.html", "a.json", "a.md", "a.txt"]
    chosen = [argument for name in names for argument in ("-o", tmp_path / name)]
    result = run(founding, *FOUNDING, *chosen, "--markdown", "-")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert json.loads((tmp_path / "a.json").read_text())["first_bad_turn"] == 45
    assert (tmp_path / "a.md").read_text() == result.stdout
    assert (tmp_path / "a.txt").read_text() == run(founding, *FOUNDING).stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.html",
        "a.json",
        "a.md",
        "a.txt",
        "demo.jsonl",
    ]
    assert [line for line in result.stderr.splitlines() if line.startswith("wrote")] == [
        f"wrote {tmp_path / name}" for name in names
    ]


def test_finding_is_told_where_a_file_is_written(founding, tmp_path):
    """The headline and its details go to stderr before the file's name; not so with --quiet."""
    target = tmp_path / "a.json"
    result = run(founding, *FOUNDING, "-o", target)
    words = " ".join(result.stderr.split())
    assert words.startswith("Quality goes from 0.93 (turns 1-10, n = 1 run) to 0.44")
    assert words.endswith(f"The rolling mean is first below 0.7 at turn 45. wrote {target}")
    assert result.stdout == ""
    assert run(founding, *FOUNDING, "-o", target, "--quiet").stderr == ""
    assert "Quality" not in run(founding, *FOUNDING, "--json", "-").stderr


def test_the_same_output_twice_is_written_once(founding, tmp_path):
    """-o FILE given twice, however spelled, writes the file once."""
    other = tmp_path / ".." / tmp_path.name / "a.json"
    result = run(founding, "-o", tmp_path / "a.json", "-o", other, "--json", tmp_path / "a.json")
    assert result.exit_code == 0
    assert result.stderr.count("wrote") == 1


def test_no_text_leaves_the_transcripts_out(data, tmp_path):
    """With --no-text, nothing that was said in a run is on the page; without it, it is."""
    for options, found in [((), True), (("--no-text",), False)]:
        page = tmp_path / f"page{len(options)}.html"
        assert run(data / "claude_code" / "session.jsonl", "-o", page, *options).exit_code == 0
        assert ('id="transcript-0"' in page.read_text("utf-8")) is found


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "report.pdf"], "-o report.pdf: wanted a name that ends in .html, .htm, .json"),
        (
            ["-o", "nowhere/report.html"],
            "cannot write nowhere/report.html: there is no such folder",
        ),
        (["--json", "-", "--markdown", "-"], "only one output can go to standard output"),
        (["-o", "-"], "-o -: for standard output say --json - or --markdown -"),
        (["--json", ""], "cannot write to a file without a name"),
        (["--markdown", ""], "cannot write to a file without a name"),
        (["-o", ""], "-o '': wanted a name that ends in"),
        (["--json", "."], "cannot write .: it is a folder"),
        (["-o", "a.json", "--markdown", "./a.json"], "only one output can go to a.json"),
        (["--signal", "speed"], "unknown signal 'speed'; known: "),
        (["--format", "xml"], "unknown reader 'xml'; known: atif, claude_code"),
        (["--axis", "weeks"], "'weeks' is not one of 'turn', 'tokens', 'progress', 'event'"),
        (["--rules", "none.yaml"], "File 'none.yaml' does not exist"),
    ],
)
def test_mistakes_are_one_line_that_says_what_would_work(founding, options, said):
    """A wrong option ends with status 2 and one line on stderr, and writes nothing."""
    result = run(founding, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [("just words\n", "no reader knows"), ("", "no reader knows"), ('{"turn": "x"}\n', "wanted a")],
)
def test_nothing_to_read_is_status_2(tmp_path, content, said):
    """A file without a single readable run ends with status 2 and says why, on one line or two."""
    path = tmp_path / "odd.jsonl"
    path.write_text(content)
    result = run(path, "--quiet")
    assert result.exit_code == 2
    assert "no run could be read" in result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_bad_record_among_good_ones(founding):
    """A bad line is told on stderr and in problems; the status is 0, or 2 with --strict."""
    good = founding.read_text()
    founding.write_text(good + '{"turn": 61, "quality":\n')
    result = run(founding, *FOUNDING, "--json", "-")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["summary"]["n_turns"] == 60
    (problem,) = report["problems"]
    assert problem["path"] == str(founding)
    assert problem["record"] == 61
    assert f"{founding}:61: " in result.stderr
    strict = run(founding, *FOUNDING, "--json", "-", "--strict")
    assert strict.exit_code == 2
    assert json.loads(strict.stdout) == report


def test_chosen_signals(several):
    """--signal names the curves; the quality signal stays on top."""
    report = json.loads(run(several, "--signal", "tool_error", "--json", "-").stdout)
    assert list(report["signals"]) == ["quality", "tool_error"]


def test_target_and_production(several, founding):
    """--target adds the re-grounding interval, --production the coverage; else both are null."""
    plain = json.loads(run(several, "--json", "-").stdout)
    assert plain["regrounding"] is None
    assert plain["coverage"] is None
    options = ("--target", 0.7, "--production", founding)
    both = json.loads(run(several, *options, "--json", "-").stdout)
    assert both["regrounding"]["signal"] == "quality"
    assert both["regrounding"]["target"] == 0.7
    assert both["coverage"]["longest_eval"] == 12
    assert both["coverage"]["production_p90"] == 60
    assert both["coverage"]["covered"] is False
    words = " ".join(run(several, *options).stdout.split())
    assert both["coverage"]["sentence"] in words
    assert "surely stays at or above 0.7" in words


@pytest.mark.parametrize("axis", ["turn", "tokens", "progress"])
def test_every_axis_reports(founding, axis):
    """Each axis gives a report in every form."""
    report = json.loads(run(founding, "--axis", axis, "--json", "-").stdout)
    assert {row["axis"] for row in report["curves"]} <= {axis}
    text = run(founding, "--axis", axis)
    assert text.exit_code == 0
    assert max(map(len, text.stdout.splitlines())) <= 80


@pytest.fixture
def compacted(tmp_path: Path) -> Path:
    """Two runs, one of which has its context compacted at turn 5."""
    path = tmp_path / "compacted.jsonl"
    path.write_text(
        lines(
            [
                {"run": f"r{r}", "turn": t, "quality": 0.5, "compaction": t == 5 and r == 0}
                for r in range(2)
                for t in range(1, 10)
            ]
        )
    )
    return path


def test_axis_of_an_event_that_no_run_has(compacted, founding):
    """Without the event there is no such curve: status 2, and the events that there are."""
    result = run(compacted, "--axis", "event", "--event", "nothing")
    assert result.exit_code == 2
    assert (
        "turncurve: no run has an event 'nothing'; events seen: compaction (1 run)\n"
        in result.stderr
    )
    assert run(compacted, "--axis", "event").exit_code == 0
    assert "no run has any event" in run(founding, "--axis", "event").stderr


def test_an_event_without_its_axis_is_told(compacted):
    """--event changes nothing on another axis, so naming one there is a mistake."""
    result = run(compacted, "--event", "compaction")
    assert result.exit_code == 2
    assert "add --axis event" in result.stderr


def test_signal_that_was_asked_for_and_has_no_value(several):
    """The report says so on top, with the reason, and the others keep their titles."""
    result = run(several, "--signal", "adherence")
    words = " ".join(result.stdout.split())
    assert "Instruction adherence was asked for and has no value: no rule file is given." in words
    assert "Tool-error rate " in words
    assert "tool_error" not in words
    assert "was asked for" not in run(several, "--signal", "tool_error").stdout
    report = json.loads(run(several, "--signal", "adherence", "--json", "-").stdout)
    assert "adherence was asked for" in report["headline_details"][-1]


def test_target_says_which_signal_it_is_of(several):
    """Without adherence the target is of quality, which is said; off its scale it is refused."""
    words = " ".join(run(several, "--target", 0.7).stdout.split())
    assert "no rule was checked, so quality is taken" in words
    wrong = run(several, "--target", 1.5)
    assert wrong.exit_code == 2
    assert "target: wanted 0 to 1, the scale of quality, got 1.5" in wrong.stderr


def test_seed_makes_it_repeatable(several):
    """Twice the same command gives the same bytes."""
    assert run(several, "--json", "-").stdout == run(several, "--json", "-").stdout


def test_hostile_names_are_neutralised(tmp_path):
    """Escape sequences in a run's id reach neither the terminal nor the Markdown."""
    hostile = "\x1b]0;pwned\x07\x1b[2J<script>alert(1)</script>|`x`"
    path = tmp_path / "hostile.jsonl"
    records = [
        {"run": hostile, "turn": t, "context_tokens": 1000 * t + (t == 20) * 90_000, "action": "a"}
        for t in range(1, 40)
    ]
    path.write_text(lines(records))
    for options in ((), ("--markdown", "-")):
        result = run(path, *options)
        assert result.exit_code == 0, result.output
        assert "pwned" in result.stdout
        assert all(c.isprintable() or c == "\n" for c in result.stdout + result.stderr)
    assert "<script>" not in run(path, "--markdown", "-").stdout.replace("\\<", "")


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
def test_reader_that_goes_away_is_no_error(founding):
    """Where the output's reader has gone, the command ends quietly with status 141."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "turncurve", "report", founding],
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.stderr == b""
    assert done.returncode == 141


def test_rules_schema_and_conditions_reach_the_report(data, tmp_path):
    """--rules gives adherence, --output-schema schema validity, --condition-from conditions."""
    folder = data / "claude_code"
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n  - id: brief\n    max_length: 100000\n")
    wanted = tmp_path / "schema.json"
    wanted.write_text('{"type": "object"}')
    plain = json.loads(run(folder, "--json", "-").stdout)
    assert not {"adherence", "schema_valid"} & set(plain["signals"])
    options = ("--rules", rules, "--output-schema", wanted, "--condition-from", "folder")
    report = json.loads(run(folder, *options, "--json", "-").stdout)
    assert {"adherence", "schema_valid"} <= set(report["signals"])
    assert {c["condition"] for c in report["conditions"]} == {"claude_code"}
    assert {row["value"] for row in report["curves"] if row["signal"] == "adherence"} == {1}


def test_faulty_rule_file_is_a_clear_error(founding, tmp_path):
    """A rule file that does not say what it should ends with status 2 and names the file."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules: 7\n")
    result = run(founding, "--rules", rules)
    assert result.exit_code == 2
    assert "rules.yaml" in result.stderr
    assert result.stderr.count("\n") == 1


def test_scale_of_the_rubric(tmp_path):
    """--scale gives a threshold and ends to the limits; without it scores outside 0 to 1 have
    neither, and the report says what to name."""
    path = tmp_path / "runs.jsonl"
    scores = {"a": [9, 8, 5, 4], "b": [8, 6, 5, 3]}
    rows = [
        {"run": name, "turn": turn, "quality": score}
        for name, of in scores.items()
        for turn, score in enumerate(of, start=1)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    unknown = json.loads(run(path, "--window", 2, "--json", "-").stdout)
    assert unknown["quality_signal"]["low"] is unknown["first_bad_turn"] is None
    assert (
        "(--threshold X) or the scale (--scale LOW HIGH)" in unknown["time_to_first_error"]["why"]
    )
    given = json.loads(run(path, "--window", 2, "--scale", 0, 10, "--json", "-").stdout)
    assert given["settings"]["quality_scale"] == [0, 10]
    # Below 7 at the last turn of (8, 5) and of (6, 5): turn 3 of both.
    assert (given["time_to_first_error"]["threshold"], given["first_bad_turn"]) == (7, 3)
    low, high = given["curves"][0]["low"], given["curves"][0]["high"]
    assert 0 <= low < 8.5 < high == 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scale", 4, 0), "wanted LOW below HIGH, got 4 0"),
        (("--scale", 0, "nan"), "wanted LOW below HIGH, got 0 nan"),
        (("--scale", 0, "inf"), "wanted LOW below HIGH, got 0 inf"),
        (("--axis", "progress", "--bucket", 1_001), "wanted a --bucket of at most 1,000"),
    ],
)
def test_no_such_scale_and_no_such_parts(founding, options, said):
    """Ends that are not in order, and parts that no run can fill, are usage errors."""
    result = run(founding, *options)
    assert result.exit_code == 2
    assert said in result.output
