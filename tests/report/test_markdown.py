"""The report as Markdown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from report.test_text import full_table
from table_factory import make_table
from turncurve import build_report
from turncurve.analysis.settings import Settings
from turncurve.errors import ReadError
from turncurve.ingest import Ingested, Input
from turncurve.report.headline import headline
from turncurve.report.json import to_json
from turncurve.report.markdown import to_markdown
from turncurve.report.markup import escaped

HOSTILE = "<img src=x onerror=alert(1)> [a](javascript:1) `x` | **b** _c_ # d $e$ @f ~g~ \x1b[2J"
MARKDOWN = MarkdownIt("commonmark").enable("table")


def kinds(text):
    """The kinds of tokens that a Markdown parser sees, those inside of lines too."""
    found = []
    for token in MARKDOWN.parse(text):
        found += [token.type, *(child.type for child in token.children or ())]
    return found


def shown(text):
    """What a reader of rendered Markdown sees."""
    lines = (t.children or () for t in MARKDOWN.parse(text) if t.type == "inline")
    return "\n".join("".join(child.content for child in line) for line in lines)


@given(st.text(alphabet="ab*_`<>[]()|#&;~!\\/:w.@$ -+1", max_size=60))
def test_escaped_text_shows_as_it_stands(text):
    """Whatever a trace says, within a line Markdown shows exactly that, and nothing comes of it."""
    source = f"said: {escaped(text)} end"
    allowed = {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    assert set(kinds(source)) <= allowed
    assert " ".join(shown(source).split()) == " ".join(f"said: {text} end".split())


def test_no_markup_of_a_trace_survives():
    """Ids, exits, problems and names that carry HTML, links and code give none of it."""
    table = make_table(
        {HOSTILE: {"quality": [0.9, 0.1] * 10}},
        exit_text={HOSTILE: HOSTILE},
        actions={HOSTILE: ["same"] * 20},
    )
    runs = Ingested(
        table=table,
        inputs=(Input(path=HOSTILE, format="turns", n_runs=1),),
        unread=(),
        problems=(ReadError(HOSTILE, HOSTILE, record=1),),
    )
    text = to_markdown(build_report(runs))
    found = set(kinds(text))
    assert not found & {"html_block", "html_inline", "link_open", "code_inline", "image", "em_open"}
    assert "onerror=alert(1)" in shown(text)
    assert "\x1b" not in text


def test_headline_is_on_top_and_the_curve_is_a_table():
    """The headline stands right below the title; each bucket is a row with its n."""
    report = build_report(full_table(), settings=Settings(bucket=10, threshold=0.7))
    text = to_markdown(report)
    assert shown(text).split("\n")[1] == headline(report).sentence
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    points = [row for row in to_json(report)["curves"] if row["signal"] == "quality"]
    assert [(row[0].lstrip("| "), row[1], row[3]) for row in rows[2:]] == [
        (f"{p['from']}-{p['to']}", f"{p['value']:.3f}", str(p["n_runs"])) for p in points
    ]
    assert kinds(text).count("table_open") == 1


def test_what_to_look_at_names_what_is_unlikely_by_chance():
    """Signals on which more runs left their first turns than chance gives are to be looked at."""
    text = shown(to_markdown(build_report(full_table())))
    watched = text.partition("What to look at")[2].partition("Figures")[0]
    assert "quality: fell below its own first 8 turns in 6 of 6 runs" in watched
    steady = {f"r{i}": {"quality": [0.9, 0.8] * 15} for i in range(6)}
    assert "What to look at" not in to_markdown(build_report(make_table(steady)))


def test_missing_quality_is_to_be_looked_at():
    """A tenth of the turns without a grade is worth a line, one turn of many is not."""
    few = make_table({"r": {"error": [None] * 1 + [0.0] * 39}})
    many = make_table({"r": {"error": [None] * 10 + [0.0] * 30}})
    assert "missing quality: 10 of 40 turns" in shown(to_markdown(build_report(many)))
    assert "missing quality" not in to_markdown(build_report(few))


def test_problems_are_capped():
    """Five problems are listed, then how many more there are."""
    problems = tuple(ReadError("a", f"fault {i}") for i in range(8))
    runs = Ingested(table=full_table(), inputs=(), unread=(), problems=problems)
    text = shown(to_markdown(build_report(runs)))
    assert "8 problems in reading" in text
    assert "fault 4" in text
    assert "fault 5" not in text
    assert "and 3 more" in text
