"""Laying out words in 80 columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.report.figures import (
    amount,
    compact,
    counted,
    interval,
    place,
    signed,
    usd,
    with_margin,
)
from turncurve.report.layout import (
    WIDTH,
    bar,
    facts,
    paragraph,
    sparkline,
    table,
    visible,
)


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
    assert {len(line) - len(line.lstrip()) for line in lines[1:-1]} == {23}
    assert lines[-1] == "  context              short"


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
    assert [usd(value) for value in (38.3629, 0.3, 0.0300, 0.0000123, 0)] == [
        *("$38.36", "$0.30", "$0.0300", "$0.0000123", "$0.00")
    ]
    assert usd(-0.88) == "-$0.88"
    assert amount(0.9312, "share") == "0.931"
    assert amount(None, "share") == "–"


def test_compact_values_keep_what_matters():
    """A narrow column shows thousands as k, small amounts with two digits, and no minus zero."""
    assert [compact(v, "tokens") for v in (12345, 56, 0.43, 0)] == ["12.3k", "56", "0.43", "0"]
    assert [compact(v, "usd") for v in (0.00194, 7.9e-6, 12)] == ["$0.0019", "$0.0000079", "$12.00"]
    assert compact(-0.001, "share") == "0.00"


def test_small_amounts_keep_their_digits():
    """Milliseconds are not 0.00; what is a share has two decimals all the same."""
    assert [compact(v, "seconds") for v in (0.0042, 0.00041, 0.094, 0.12)] == [
        *("0.0042", "0.00041", "0.094", "0.12")
    ]
    assert with_margin(0.0042, 0.0038, 0.0046, "seconds") == "0.0042 ±0.00040"
    assert compact(0.004, "share") == "0.00"


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "usd", "tokens"]))
def test_no_number_is_hundreds_of_digits_long(value, unit):
    """However large or small a value is, it is written in a few characters."""
    assert len(amount(value, unit)) < 25
    assert len(compact(value, unit)) < 15
    assert len(interval(value, value, unit)) < 60
    assert len(place(value, value, "tokens")) < 60


def test_absurd_numbers_have_an_exponent():
    """From a thousand million million on, an exponent takes the place of digits."""
    assert amount(1.234e20) == compact(1.234e20) == "1.23e20"
    assert amount(-1e300, "tokens") == "-1e300"
    assert amount(9.9e14, "tokens") == "990,000,000,000,000"
    assert compact(2.5e9, "tokens") == "2.5B"


def test_margin_stands_for_an_even_interval_only():
    """An interval around its value is ±; one cut off at the end of the scale shows both ends."""
    assert with_margin(0.5, 0.4, 0.6) == "0.50 ±0.10"
    assert with_margin(0.98, 0.9, 1.0) == "0.98 [0.90,1.00]"
    assert with_margin(0.5, None, None) == "0.50"


@given(st.lists(st.floats(-1e6, 1e6), max_size=50), st.integers(1, 20))
def test_course_keeps_to_its_width(values, width):
    """A curve in a line is never wider than asked, and never empty where there is a value."""
    assert min(1, len(values)) <= len(sparkline(values, width)) <= width


def test_course_goes_from_lowest_to_highest():
    """The lowest value is the lowest mark, the highest the highest, a flat curve all lowest."""
    assert sparkline([0, 1, 2], 3) == "▁▅█"
    assert sparkline([5, 5], 8) == "▁▁"


@pytest.mark.parametrize(
    ("start", "end", "axis", "label"),
    [
        (1, 10, "turn", "turns 1-10"),
        (7, 7, "turn", "turn 7"),
        (0, 20_000, "tokens", "0-20k tokens sent"),
        (38_000, 38_500, "tokens", "38k-38.5k tokens sent"),
        (1_500, 1_501, "tokens", "1,500-1,501 tokens sent"),
        (999_990, 1_000_000, "tokens", "999.99k-1,000,000 tokens sent"),
        (2_500_000, 2_750_000, "tokens", "2.5M-2.8M tokens sent"),
        (0.1, 0.2, "progress", "10-20 % of the run"),
        (-5, -1, "event", "-5 to -1 turns from the event"),
    ],
)
def test_buckets_are_named_by_their_axis(start, end, axis, label):
    """A bucket's name says what its axis counts."""
    assert place(start, end, axis) == label


def test_intervals_say_which_end_is_unknown():
    """A missing end is "or more", and no interval at all is a dash."""
    assert interval(35, None, digits=0) == "[35 or more]"
    assert interval(None, None) == "–"


def test_counts_agree_in_number():
    """One run, two runs, with thousands grouped."""
    assert [counted(n, "run") for n in (1, 2, 3270)] == ["1 run", "2 runs", "3,270 runs"]


def test_changes_have_a_sign_and_two_digits():
    """A change is written without an exponent until it is absurd."""
    assert [signed(v) for v in (-0.0042, 231.4, -0.000067, 3.0, 0.0, 1e20, None)] == [
        *("-0.0042", "+231", "-0.000067", "+3.0", "0", "+1e20", "–")
    ]
