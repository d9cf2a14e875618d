"""Laying out words in 80 columns."""

from hypothesis import given
from hypothesis import strategies as st

from turncurve.report.figures import amount, counted, interval, usd
from turncurve.report.layout import WIDTH, bar, facts, paragraph, table, visible


@given(st.text())
def test_untrusted_text_prints_as_one_harmless_line(text):
    """Whatever a trace says, what is printed has no control character, newline or escape."""
    assert visible(text).isprintable()


def test_escape_sequence_is_shown_not_obeyed():
    """An ANSI escape and a direction override come out as the characters of their codes."""
    assert visible("\x1b[31mred\u202e") == "\\x1b[31mred\\u202e"


def test_long_text_is_cut_with_a_mark():
    """Text over the limit ends in an ellipsis at the limit."""
    assert visible("x" * 300, limit=10) == "x" * 9 + "…"


@given(st.text(alphabet="abc \n", max_size=400))
def test_paragraph_keeps_to_the_width(text):
    """No line of a paragraph is wider than the page."""
    assert all(len(line) <= WIDTH for line in paragraph(text, "  ").splitlines())


def test_facts_align_their_sentences():
    """Each sentence starts in the same column, also where it wraps."""
    lines = facts([("cost", "word " * 30), ("context", "short")]).splitlines()
    assert {len(line) - len(line.lstrip()) for line in lines[1:-1]} == {22}
    assert lines[-1] == "  context             short"


def test_table_pads_to_the_widest_cell():
    """Columns line up, left or right as asked."""
    assert (
        table(["a", "bb"], [["x", "1"], ["yyy", "22"]], "<>") == "  a    bb\n  x     1\n  yyy  22"
    )


@given(st.floats(-1, 2), st.integers(1, 40))
def test_bar_fills_its_width(share, width):
    """A bar is always exactly as wide as asked, whatever the share."""
    assert len(bar(share, width)) == width


def test_bar_is_proportional():
    """Half a bar of ten cells is five full cells; nothing and all are exact."""
    assert bar(0.5, 10) == "█████·····"
    assert bar(0, 4) == "····"
    assert bar(1, 4) == "████"


def test_amounts_carry_their_unit():
    """Tokens group in thousands, dollars keep cents or three digits, shares three decimals."""
    assert amount(16234.6, "tokens") == "16,235"
    assert (usd(38.3629), usd(0.00123), usd(0)) == ("$38.36", "$0.00123", "$0.00")
    assert amount(0.9312, "share") == "0.931"
    assert amount(None, "share") == "–"


def test_intervals_say_which_end_is_unknown():
    """A missing end is a question mark, and no interval at all is a dash."""
    assert interval(35, None, digits=0) == "[35, ?]"
    assert interval(None, None) == "–"


def test_counts_agree_in_number():
    """One run, two runs, with thousands grouped."""
    assert [counted(n, "run") for n in (1, 2, 3270)] == ["1 run", "2 runs", "3,270 runs"]
