"""The HTML report as text: escaping, size, order, and what is left out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report.page_blocks import HOSTILE, PageReader
from report.report_fixture import report_document
from report.synthetic_runs import synthetic_runs, table_of
from turncurve.model import Event, Message, Run, ToolCall, ToolResult, Turn
from turncurve.report import compare_page, result_page
from turncurve.report.details import details
from turncurve.report.html import SCRIPTS, STYLES, embedded_json, render_html, write_html
from turncurve.report.page_data import page_document
from turncurve.report.transcript import capture, transcript_json

PAGE = Path(__file__).parents[2] / "src" / "turncurve" / "report" / "page"


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return synthetic_runs(12, 40)


@pytest.fixture(scope="module")
def document(runs: list[Run]) -> dict[str, Any]:
    return report_document(table_of(runs))


def page_of(document: dict[str, Any], *args: Any, **options: Any) -> PageReader:
    return PageReader("".join(render_html(document, *args, **options)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_embedded_json_says_the_same_and_holds_no_markup(value: Any) -> None:
    """Data come back as they were, and no character that could end or open an element is left."""
    text = embedded_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


def test_not_a_number_is_refused() -> None:
    """A NaN in the document is an error, since JSON has no word for it."""
    with pytest.raises(ValueError, match="JSON compliant"):
        embedded_json({"value": float("nan")})


@pytest.mark.parametrize(
    ("details", "rest"),
    [
        ([], None),
        (["It fell by 0.2 at turn 9.", "So do runs."], "It fell by 0.2 at turn 9. So do runs."),
    ],
)
def test_headline_is_set_in_two_sizes(details: list[str], rest: str | None) -> None:
    """The headline is the heading, its details a paragraph below it."""
    document = {"headline": "Quality holds at 0.95.", "headline_details": details}
    page = "".join(render_html(document))
    assert ">Quality holds at 0.95.</h1>" in page
    assert (f'<p class="standfirst">{rest}</p>' in page) is (rest is not None)
    assert ('<p class="standfirst">' in page) is (rest is not None)


def test_numbers_in_the_headline_are_typeset() -> None:
    """A minus is a minus, and a range has a dash that no line breaks at; words keep hyphens."""
    words = "It falls by -0.2 [-0.3, -0.1] in turns 1-10 of a two-hour run, gpt-4 and .5-1."
    page = "".join(render_html({"headline": words, "headline_details": [words]}))
    dash = "\u2060\u2013\u2060"
    said = (
        f"It falls by \u22120.2 [\u22120.3, \u22120.1] in turns 1{dash}10 of a two-hour run, "
        f"gpt-4 and .5{dash}1."
    )
    assert f">{said}</h1>" in page
    assert f'<p class="standfirst">{said}</p>' in page


def test_hostile_strings_add_no_element(runs: list[Run], document: dict[str, Any]) -> None:
    """A page full of hostile strings has the same elements as a harmless one."""
    hostile = json.loads(json.dumps(document).replace("astropy", json.dumps(HOSTILE)[1:-1]))
    hostile["headline"] = hostile["turncurve_version"] = HOSTILE
    bad = [replace(run, id=run.id + HOSTILE, exit_text=HOSTILE) for run in runs]
    mine = page_of(hostile, bad, details=details(table_of(bad)))
    plain = page_of(document, runs, details=details(table_of(runs)))
    assert [tag for tag, _ in mine.tags] == [tag for tag, _ in plain.tags]
    assert mine.code() == plain.code()
    assert mine.block("report") == page_document(hostile)


def test_policy_allows_these_two_scripts_and_no_request(document: dict[str, Any]) -> None:
    """The policy denies everything by default and names the hash of each script that runs."""
    page = page_of(document)
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    named = re.findall(r"'sha256-([^']+)'", policy)
    assert named == [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in page.code()
    ]
    assert len(named) == 2
    assert "http" not in policy


def test_no_element_points_outside(runs: list[Run], document: dict[str, Any]) -> None:
    """No element has a source, and every link stays on the page or is data."""
    page = page_of(document, runs)
    for tag, attributes in page.tags:
        assert "src" not in attributes, tag
        assert (attributes.get("href") or "#").startswith(("#", "data:")), tag
    assert "@import" not in "".join(PAGE.joinpath("css", f"{s}.css").read_text() for s in STYLES)


def test_text_comes_after_the_charts(runs: list[Run], document: dict[str, Any]) -> None:
    """Transcripts stand behind the code that draws, so that a browser draws first."""
    page = "".join(render_html(document, runs))
    assert page.index("turncurve:first-curve") < page.index('id="transcript-0"')


def test_transcripts_are_found_by_their_place(runs: list[Run], document: dict[str, Any]) -> None:
    """Block n holds the transcript of the n-th run of the index."""
    page = page_of(document, runs)
    index = page.block("transcript-index")
    assert index == {"runs": [run.id for run in runs], "n_omitted": 0}
    for number, run in enumerate(runs):
        assert page.block(f"transcript-{number}") == json.loads(transcript_json(capture(run)))


def test_no_runs_no_text(runs: list[Run], document: dict[str, Any]) -> None:
    """Without runs the page holds no text and says so to its script."""
    page = page_of(document, None, details=details(table_of(runs)))
    assert page.block("transcript-0") is None
    assert page.block("details")["has_text"] is False
    assert page_of(document, runs).block("details")["has_text"] is True


@pytest.mark.parametrize("text_bytes", [30_000, 100_000, 400_000])
def test_page_keeps_to_its_size(text_bytes: int, document: dict[str, Any]) -> None:
    """Texts are cut, then left out with a count, so that the page weighs no more than asked."""
    runs = synthetic_runs(60, 40, words=300)
    front = len("".join(render_html(document)).encode())
    page = "".join(render_html(document, runs, max_bytes=front + text_bytes))
    assert len(page.encode()) <= front + text_bytes
    index = PageReader(page).block("transcript-index")
    assert index["runs"]
    assert len(index["runs"]) + index["n_omitted"] == len(runs)


def test_where_there_are_too_many_runs_the_worst_keep_their_text(document: dict[str, Any]) -> None:
    """With room for a few runs, it is the worst of the quality signal that can be read."""
    runs = synthetic_runs(60, 40, words=60)
    worst = details(table_of(runs), quality="quality")
    front = len("".join(render_html(document, details=worst)).encode())
    page = page_of(document, runs, details=worst, max_bytes=front + 100_000)
    kept = page.block("transcript-index")["runs"]
    best_first = [str(run) for run in worst.table.runs.id[worst.positions]][::-1]
    assert 0 < len(kept) < 10
    assert not set(kept) & set(best_first[:50])


def test_only_runs_whose_text_has_room_are_read(document: dict[str, Any]) -> None:
    """A function that reads runs is asked for the worst few alone; the page is the same."""
    runs = synthetic_runs(60, 40, words=60)
    worst = details(table_of(runs), quality="quality")
    front = len("".join(render_html(document, details=worst)).encode())
    asked: list[int] = []

    def read(positions: Sequence[int]) -> list[Run]:
        asked.extend(positions)
        return [runs[position] for position in positions]

    bound = {"details": worst, "max_bytes": front + 100_000}
    page = page_of(document, read, **bound).block("transcript-index")
    assert page == page_of(document, runs, **bound).block("transcript-index")
    assert asked == sorted(worst.positions[: len(asked)].tolist())
    assert len(page["runs"]) <= len(asked) < 20
    assert len(page["runs"]) + page["n_omitted"] == 60


def test_a_function_that_reads_runs_is_asked_for_all_where_there_is_room(
    document: dict[str, Any],
) -> None:
    """With room for every text each run is read once."""
    runs = synthetic_runs(5, 10)
    page = page_of(document, lambda at: [runs[i] for i in at], details=details(table_of(runs)))
    assert page.block("transcript-index") == {"runs": [run.id for run in runs], "n_omitted": 0}


def test_a_function_that_reads_runs_needs_their_table(document: dict[str, Any]) -> None:
    """Without details there is nothing to choose from, and it says so."""
    with pytest.raises(ValueError, match="wanted details"):
        page_of(document, lambda _: [])


def test_half_a_surrogate_pair_is_written(tmp_path: Path, document: dict[str, Any]) -> None:
    """Text that is no valid Unicode does not stop the page from being written."""
    run = Run(id="r\ud800", turns=(Turn(index=1, text="\udfff"),), format="turns", path="p")
    write_html(tmp_path / "page.html", {**document, "headline": "h\ud800"}, [run])
    assert PageReader((tmp_path / "page.html").read_text(encoding="utf-8")).block("transcript-0")


def test_a_failed_write_leaves_the_old_page(tmp_path: Path, document: dict[str, Any]) -> None:
    """An error midway keeps the file that was there and leaves nothing beside it."""
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_html(target, {**document, "first_bad_turn": float("inf")})
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text() == "old"


@given(st.text(max_size=60), st.integers(1, 40))
def test_excerpt_accounts_for_every_character(text: str, cap: int) -> None:
    """Head, tail and the number left out add up to the text, and no more than the cap is kept."""
    run = Run(id="r", turns=(Turn(index=1, text=text),), format="turns", path="p")
    excerpt = capture(run, cap).turns[0].text
    assert len(excerpt.head) + excerpt.omitted + len(excerpt.tail) == len(text)
    assert len(excerpt.head) + len(excerpt.tail) <= max(cap, 0)
    assert text.startswith(excerpt.head)
    assert text.endswith(excerpt.tail)


def test_capture_keeps_what_a_turn_holds() -> None:
    """Messages, answer, calls, results with their call and error, events and values are kept."""
    turn = Turn(
        index=3,
        text="answer",
        before=(Message(role="system", text="rules"),),
        tool_calls=(ToolCall(id="a", name="edit", arguments={"code": "x\ny", "n": 2}),),
        tool_results=(ToolResult(call_id="a", text="boom", error=True, detector="flag"),),
        values={"quality": 0.5, "odd": float("nan")},
    )
    run = Run(
        id="r",
        turns=(turn,),
        format="f",
        path="p",
        events=(Event(kind="compaction", turn=3),),
    )
    assert json.loads(transcript_json(capture(run))) == {
        "run": "r",
        "cap": 20_000,
        "turns": [
            {
                "turn": 3,
                "before": [["system", "rules"]],
                "text": "answer",
                "calls": [["edit", "code: x\ny\nn: 2"]],
                "results": [["boom", True, 0]],
                "events": ["compaction"],
                "values": {"quality": 0.5},
            }
        ],
    }


def test_details_put_the_worst_run_first(runs: list[Run]) -> None:
    """Runs come in the order of their mean, by the good direction of the signal."""
    table = table_of(runs)
    means = {
        str(table.runs.id[r]): np.nanmean(table.columns["quality"][table.run == r])
        for r in range(table.n_runs)
    }
    ids = [row["id"] for row in details(table, quality="quality", better="high").run_rows()]
    assert ids == sorted(means, key=lambda run: means[run])
    ids = [row["id"] for row in details(table, quality="quality", better="low").run_rows()]
    assert ids == sorted(means, key=lambda run: -means[run])


def test_details_hold_the_quality_signal_whatever_it_is(runs: list[Run]) -> None:
    """A quality signal that is no curve of its own, like tool success, still has its values."""
    table = table_of(runs)
    hidden = replace(table.info["quality"], curve=False)
    table = table.with_columns({}, {"quality": hidden})
    assert "quality" in details(table, quality="quality").signals
    assert "quality" not in details(table).signals


def test_details_round_and_mark_the_missing(runs: list[Run]) -> None:
    """Values have four significant digits, and a missing one is None."""
    table = table_of(runs)
    column = table.columns["quality"].copy()
    column[:3] = [np.nan, 0.123456, 98_765.4]
    table = table.with_columns({"quality": column}, {})
    first = details(table).values("quality")[0]
    assert first[:3] == [None, 0.1235, 98_770]


def test_details_name_turns_that_do_not_run_from_one(runs: list[Run]) -> None:
    """A run whose turns have a gap says which they are; others do not repeat the obvious."""
    shifted = replace(runs[0], turns=tuple(replace(t, index=t.index + 2) for t in runs[0].turns))
    rows = details(table_of([shifted, runs[1]])).run_rows()
    assert rows[0]["turns"] == [turn.index for turn in shifted.turns]
    assert rows[1]["turns"] is None


def test_details_beyond_the_limit_leave_out_the_best(runs: list[Run]) -> None:
    """Where the values would not fit, the best runs are left out and counted."""
    everything = details(table_of(runs), quality="quality")
    part = details(table_of(runs), quality="quality", max_cells=1_000)
    assert 0 < len(part.positions) < len(runs)
    assert part.positions.tolist() == everything.positions[: len(part.positions)].tolist()
    assert part.n_omitted == len(runs) - len(part.positions)


def test_every_file_of_the_page_is_used() -> None:
    """Scripts and styles on disk are those that the page is made of."""
    assert {path.stem for path in PAGE.joinpath("js").iterdir()} == set(SCRIPTS)
    styles = {*STYLES, *compare_page.STYLES, *result_page.STYLES}
    assert {path.stem for path in PAGE.joinpath("css").iterdir()} == styles


def test_own_scripts_never_parse_markup() -> None:
    """No script of the page turns a string into elements or code."""
    banned = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(")
    for path in PAGE.joinpath("js").iterdir():
        assert not banned.search(path.read_text()), path.name


def test_bundle_names_its_licences() -> None:
    """The licences of Observable Plot and of the parts of d3 in the bundle stand beside it."""
    text = PAGE.joinpath("vendor", "LICENSE-plot.txt").read_text()
    assert re.search(r"^@observablehq/plot 0\.6\.\d+ \(ISC\)$", text, re.MULTILINE)
    assert re.search(r"^d3-scale [\d.]+ \(ISC\)$", text, re.MULTILINE)
