"""Agreement by group, the ranges that groups are of, and what a lone coefficient needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.graders import judged, run, with_context
from turncurve.analysis.agreement import ONE_CATEGORY, TOO_FEW, agreement_of
from turncurve.analysis.breakdowns import (
    RUN_TURNS,
    TOKENS,
    by_length,
    by_phase,
    by_position,
    by_severity,
    fail_agreement,
)
from turncurve.analysis.judgements import VALIDITIES, with_traces
from turncurve.analysis.matching import match
from turncurve.analysis.over_clusters import Resampling
from turncurve.analysis.ranges import Range, even_ranges, parse_ranges, turn_ranges

FAST = Resampling(resamples=200)


def matched(graded: list[str], labels: list[str]):
    """Runs by letters on both sides."""
    return match(
        judged(*(run(f"r{i}", text) for i, text in enumerate(graded))),
        judged(*(run(f"r{i}", text) for i, text in enumerate(labels)), name="LABELS"),
    )


class TestAgreement:
    def test_by_hand(self) -> None:
        """Counts, kappa and AC1 of a small table, on fail against the rest."""
        found = fail_agreement(matched(["ffnn", "ppfp"], ["fnnn", "ppff"]), FAST)
        assert found.confusion == ((2, 1), (1, 4))
        po, pe = 6 / 8, (3 * 3 + 5 * 5) / 64
        assert found.kappa.value == pytest.approx((po - pe) / (1 - pe))
        q = 3 / 8
        assert found.ac1.value == pytest.approx((po - 2 * q * (1 - q)) / (1 - 2 * q * (1 - q)))
        assert found.classes["fail"].sensitivity.value == pytest.approx(2 / 3)
        assert found.classes["fail"].specificity.value == pytest.approx(4 / 5)
        assert (found.kappa.n_turns, found.kappa.n_runs) == (8, 2)

    def test_one_category(self) -> None:
        """Nobody ever says fail: kappa is absent with its reason, AC1 is 1, sensitivity absent."""
        found = fail_agreement(matched(["nnp"] * 4, ["ppn"] * 4), FAST)
        assert (found.kappa.value, found.kappa.reason) == (None, ONE_CATEGORY)
        assert found.ac1.value == 1.0
        assert found.alpha.value is None
        fail = found.classes["fail"]
        assert fail.sensitivity.reason == "no turn is labelled 'fail'"
        assert fail.specificity.value == 1.0

    def test_one_turn_is_too_few(self) -> None:
        """With a single shared turn every number is absent, with the reason."""
        found = fail_agreement(matched(["f"], ["f"]), FAST)
        fail = found.classes["fail"]
        for one in (found.kappa, found.ac1, found.alpha, found.pabak, found.agreement):
            assert (one.value, one.reason) == (None, TOO_FEW)
        assert (fail.sensitivity.value, fail.bias_index.value) == (None, None)

    def test_a_share_of_all_has_an_honest_limit(self) -> None:
        """A grader that errs nowhere in 30 runs may still err: Clopper and Pearson's limit."""
        texts = ["fn"] * 25 + ["ffn"] * 5 + ["nn"] * 9
        found = fail_agreement(matched(texts, texts), FAST)
        sensitivity = found.classes["fail"].sensitivity
        assert (sensitivity.n_turns, sensitivity.n_clusters) == (35, 30)
        assert (sensitivity.value, sensitivity.high) == (1.0, 1.0)
        assert sensitivity.low == pytest.approx(0.025 ** (1 / 30), abs=1e-9)
        assert found.kappa.low is None
        assert "no interval" in found.kappa.warnings[0]

    def test_limits_stay_where_values_can_be(self) -> None:
        """With few runs t limits may pass 0 and 1; they are kept within."""
        graded = ["fffffn", "nnnnfn", "ffnnnn", "ffffff"]
        labels = ["ffffff", "ffffff", "ffffff", "ffffff"]
        share = fail_agreement(matched(graded, labels), FAST).classes["fail"].sensitivity
        assert 0.5 < share.value < 0.7
        assert (share.low, share.high, share.df) == (0.0, 1.0, 3)

    def test_two_categories_have_no_weights(self) -> None:
        """Weighted coefficients are given for three categories and left out for two."""
        pairs = matched(["fnpfnp"] * 3, ["fnpnpf"] * 3)
        two = fail_agreement(pairs, FAST)
        three = agreement_of(pairs.cluster, pairs.graded, pairs.reference, VALIDITIES, FAST)
        assert (two.kappa_quadratic, two.ac2, two.alpha_ordinal) == (None, None, None)
        assert three.kappa_quadratic is not None
        assert three.alpha_ordinal is not None
        assert list(three.classes) == ["fail", "neutral", "pass"]

    def test_runs_are_what_is_resampled(self) -> None:
        """The same turns in fewer runs have a wider interval."""
        rng = np.random.default_rng(3)
        truth = rng.random(240) < 0.4
        hard = np.repeat(rng.random(24) < 0.3, 10)
        grade = np.where(hard, rng.random(240) < 0.5, truth)
        runs, apart = np.repeat(np.arange(24), 10), np.arange(240)
        codes = (~grade).astype(np.int64), (~truth).astype(np.int64)
        by_run = agreement_of(runs, *codes, ("fail", "no fail"), Resampling()).kappa
        by_turn = agreement_of(apart, *codes, ("fail", "no fail"), Resampling()).kappa
        assert by_run.value == by_turn.value
        assert by_run.high - by_run.low > 1.2 * (by_turn.high - by_turn.low)

    def test_same_seed_same_numbers(self) -> None:
        """Another seed moves the limits a little; the same one does not."""
        pairs = matched(["fnpfnp", "ffnn", "nnpf"] * 8, ["fnpnpf", "fnnn", "npnf"] * 8)
        one, again = fail_agreement(pairs, FAST), fail_agreement(pairs, FAST)
        other = fail_agreement(pairs, Resampling(resamples=200, seed=1))
        assert one == again
        assert one.kappa.low != other.kappa.low
        assert (one.kappa.seed, one.kappa.n_resamples) == (0, 200)


class TestRanges:
    def test_as_people_write_them(self) -> None:
        """Ranges, single numbers and an open end, with blanks."""
        assert parse_ranges("1-3, 4-6,7,11+") == (
            Range(1, 3),
            Range(4, 6),
            Range(7, 7),
            Range(11, None),
        )
        assert [str(one) for one in parse_ranges("1-3,7,1000+")] == ["1-3", "7", "1,000+"]

    @pytest.mark.parametrize("text", ["", "3-1", "1-3,3-5", "1+,5-6", "a-b", "1-3;4", "-3", "1-3,"])
    def test_refuses_other_things(self, text: str) -> None:
        """What falls, overlaps, follows an open end or is no range is refused."""
        with pytest.raises(ValueError, match="wanted"):
            parse_ranges(text)

    def test_further_ranges_need_runs(self) -> None:
        """11-20 is apart from 21+ only where enough runs reach turn 21."""
        turn, runs = np.tile(np.arange(1, 25), 9), np.repeat(np.arange(9), 24)
        shown = [str(one) for one in turn_ranges(turn, runs, fewest_runs=10)]
        assert shown == ["1-3", "4-6", "7-10", "11+"]
        turn, runs = np.tile(np.arange(1, 42), 10), np.repeat(np.arange(10), 41)
        shown = [str(one) for one in turn_ranges(turn, runs, fewest_runs=10)]
        assert shown == ["1-3", "4-6", "7-10", "11-20", "21-40", "41+"]

    @given(st.lists(st.floats(0, 1e6) | st.just(float("nan")), max_size=60))
    def test_even_ranges_hold_every_number(self, values: list[float]) -> None:
        """Each number that is known lies in exactly one range."""
        given = np.floor(np.array(values, dtype=np.float64))
        ranges = even_ranges(given)
        held = sum((one.holds(given).astype(int) for one in ranges), np.zeros(len(given), int))
        assert (held == ~np.isnan(given)).all()
        assert len(ranges) <= 4


class TestGroups:
    def test_by_position(self) -> None:
        """Each turn is in its range; judgements that could not be had are counted by range."""
        found = by_position(matched(["ffn-f"], ["fnnpp"]), parse_ranges("1-2,3-4"), FAST)
        assert [group.label for group in found.groups] == ["1-2", "3-4"]
        assert [group.agreement.n_turns for group in found.groups] == [2, 1]
        assert [group.n_missing for group in found.groups] == [0, 1]
        assert found.n_left_out == 1

    def test_ranges_without_turns(self) -> None:
        """Ranges that hold no turn give no group, and a reason where there is none at all."""
        pairs = matched(["ff"], ["fn"])
        assert [group.label for group in by_position(pairs, None, FAST).groups] == ["1-3"]
        assert by_position(pairs, parse_ranges("50+"), FAST).reason is not None

    def test_by_length_of_input(self) -> None:
        """Tokens that a turn read decide, where they are known of most turns."""
        graded = judged(run("a", "ffnn"))
        traced = with_traces(graded, [with_context("a", [10, 20, 3_000, None], [None] * 4)])
        found = by_length(
            match(traced, judged(run("a", "ffnf"), name="LABELS")), parse_ranges("0-99,100+"), FAST
        )
        assert found.by == TOKENS
        assert [group.agreement.n_turns for group in found.groups] == [2, 1]
        assert found.n_left_out == 1

    def test_length_of_the_run_stands_in(self) -> None:
        """Without tokens the number of the run's turns decides, and says so."""
        found = by_length(matched(["ff", "fnnnnn"], ["ff", "fnnnnn"]), parse_ranges("0-3,4+"), FAST)
        assert found.by == RUN_TURNS
        assert [group.agreement.n_turns for group in found.groups] == [2, 6]

    def test_by_phase(self) -> None:
        """Looking and acting apart; unknown phases are counted; none known is a reason."""
        graded = with_traces(
            judged(run("a", "ffnn")), [with_context("a", [1] * 4, [1.0, 1.0, 0.0, None])]
        )
        labels = judged(run("a", "ffnf"), name="LABELS")
        found = by_phase(match(graded, labels), FAST)
        assert [(g.label, g.agreement.n_turns) for g in found.groups] == [
            ("explore", 2),
            ("act", 1),
        ]
        assert found.n_left_out == 1
        assert by_phase(matched(["f"], ["f"]), FAST).reason is not None

    def test_by_severity(self) -> None:
        """A threshold turns milder errors of both sides into none; unknown ones are left out."""
        graded = judged(run("a", "ffnf", severities=["low", "high", None, None]))
        labels = judged(run("a", "fffn", severities=["high", "high", "low", None]), name="LABELS")
        found = by_severity(match(graded, labels), FAST)
        assert [group.agreement.confusion for group in found.groups] == [
            ((2, 1), (1, 0)),
            ((1, 0), (1, 1)),
            ((1, 0), (1, 1)),
        ]
        assert found.n_left_out == 1

    def test_severity_of_one_side(self) -> None:
        """Labels without severities keep all their errors; none at all is a reason."""
        graded = judged(run("a", "fn", severities=["low", None]))
        labels = judged(run("a", "fn"), name="LABELS")
        found = by_severity(match(graded, labels), FAST)
        assert "the labels have none" in found.by
        assert found.groups[-1].agreement.confusion == ((0, 0), (1, 1))
        assert by_severity(matched(["f"], ["f"]), FAST).reason == "no error has a severity"
