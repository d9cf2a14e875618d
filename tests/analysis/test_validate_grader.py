"""A grader held against labels: what is compared, what is refused, and real graders."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.graders import grade, judged, marked, run
from turncurve.analysis.judgements import Judgements, judgements_of
from turncurve.analysis.ranges import parse_ranges
from turncurve.analysis.validate_grader import ValidationSettings, validate_grader
from turncurve.errors import (
    AmbiguousNameError,
    ConstructError,
    NotEnoughDataError,
    UnknownNameError,
)
from turncurve.ingest import iter_named_runs
from turncurve.model import Run, Turn
from turncurve.model.consensus import consensus

FAST = ValidationSettings(resamples=200)


class TestWhatIsCompared:
    def test_grades_against_marks(self) -> None:
        """Marks of errors are compared on fail alone; there is no agreement on validity."""
        labels = judged(marked("a", [1.0, 0.0, 0.0]), name="LABELS")
        found = validate_grader(judged(run("a", "fnp")), labels, settings=FAST)
        assert found.fail.confusion == ((1, 0), (0, 2))
        assert found.validity is None
        assert found.labeller == "the error column"

    def test_most_labellers(self) -> None:
        """Several raters of the labels: what most say counts, and each pair is shown."""
        labels = judged(
            *(run("a", text, grader=f"h{i}") for i, text in enumerate(("fnnp", "fnpp", "ffnp"))),
            name="LABELS",
        )
        found = validate_grader(judged(run("a", "fnnn")), labels, settings=FAST)
        assert found.labeller == "most of 3 raters"
        assert found.fail.confusion == ((1, 0), (0, 3))
        assert len(found.pairs) == 6
        assert [len(group.raters) for group in found.raters] == [4, 4]

    def test_a_panel_is_one_grader(self) -> None:
        """What a panel came to counts; its members are raters beside the labels, by sample too."""
        letters = ("fpn", "fpp", "ppn")
        turns = tuple(
            Turn(
                index=i,
                grades=(
                    consensus(
                        [grade(text[i - 1], who) for text, who in zip(letters, "xxy", strict=True)],
                        grader="x*2+y",
                        n_asked=3,
                    ),
                ),
            )
            for i in (1, 2, 3)
        )
        grades = judged(Run(id="a", turns=turns, format="grades", path="g.jsonl"))
        assert grades.raters == ("x*2+y", "x", "x #2", "y")
        labels = judged(run("a", "fpn"), name="LABELS")
        found = validate_grader(grades, labels, settings=FAST)
        assert found.grader == "x*2+y"
        assert found.fail.confusion == ((1, 0), (0, 2))
        assert found.raters[0].raters == ("GRADES: x", "GRADES: x #2", "GRADES: y", "LABELS: g")
        one = validate_grader(grades, labels, settings=replace(FAST, grader="y"))
        assert one.fail.confusion == ((0, 0), (1, 2))
        with_labels = validate_grader(
            replace(labels, name="GRADES"), replace(grades, name="LABELS"), settings=FAST
        )
        assert with_labels.labeller == "x*2+y"

    def test_one_labeller(self) -> None:
        """One of several can be named."""
        labels = judged(run("a", "ff", grader="x"), run("a", "pp", grader="y"), name="LABELS")
        found = validate_grader(
            judged(run("a", "ff")), labels, settings=ValidationSettings(labeller="x", resamples=200)
        )
        assert found.fail.confusion == ((2, 0), (0, 0))

    def test_two_raters_are_one_number(self) -> None:
        """With one grader and one labeller, Conger, alpha and AC1 of all are those of the pair."""
        rng = np.random.default_rng(1)
        texts = ["".join(rng.choice(list("fnp"), size=9)) for _ in range(12)]
        others = ["".join(rng.choice(list("fnp-"), size=9)) for _ in range(12)]
        found = validate_grader(
            judged(*(run(f"r{i}", text) for i, text in enumerate(texts))),
            judged(*(run(f"r{i}", text) for i, text in enumerate(others)), name="LABELS"),
            settings=FAST,
        )
        for group, pair in zip(found.raters, (found.fail, found.validity), strict=True):
            assert group.conger.value == pytest.approx(pair.kappa.value)
            assert group.alpha.value == pytest.approx(pair.alpha.value)
            assert group.ac1.value == pytest.approx(pair.ac1.value)
            assert group.n_turns == pair.n_turns

    def test_level_of_variants(self) -> None:
        """Three variants are six looks: each interval's level makes up for them."""
        runs = [run(f"r{i}", "fnp") for i in range(5)]
        same = {name: judged(*runs, name=name) for name in ("LABELS", "retest", "a", "b", "c")}
        found = validate_grader(
            judged(*runs),
            same.pop("LABELS"),
            retest=same.pop("retest"),
            variants=same,
            settings=FAST,
        )
        assert found.variants[0].shift.level == pytest.approx(1 - 0.05 / 6)


class TestWhatIsRefused:
    def test_hindsight_against_none(self) -> None:
        """Labels with hindsight are no measure of grades without it; the error says what to do."""
        grades = judged(run("a", "fn", construct="no_hindsight"))
        labels = judged(marked("a", [1.0, 0.0], format_="trail"), name="LABELS")
        with pytest.raises(ConstructError, match=r"give labels of the kind of GRADES"):
            validate_grader(grades, labels, settings=FAST)

    def test_a_retest_of_another_kind(self) -> None:
        """The same holds for a second grading."""
        same = judged(run("a", "fn", construct="no_hindsight"))
        other = judged(run("a", "fn", construct="hindsight"), name="retest")
        with pytest.raises(ConstructError, match="retest with hindsight"):
            validate_grader(same, replace(same, name="LABELS"), retest=other, settings=FAST)

    def test_unstated_is_told(self) -> None:
        """Where a side does not say, both are compared with a warning; where both do, without."""
        labels = judged(run("a", "fn", construct="hindsight"), name="LABELS")
        silent = validate_grader(judged(run("a", "fn")), labels, settings=FAST)
        assert "GRADES does not say" in silent.warnings[0]
        found = validate_grader(replace(labels, name="GRADES"), labels, settings=FAST)
        assert (found.warnings, found.construct) == ((), "hindsight")

    def test_which_grader(self) -> None:
        """Several graders need a name."""
        both = judged(run("a", "f", grader="x"), run("a", "p", grader="y"))
        with pytest.raises(AmbiguousNameError, match="--grader: x, y"):
            validate_grader(both, judged(run("a", "f")), settings=FAST)
        with pytest.raises(UnknownNameError, match="known: x, y"):
            validate_grader(both, both, settings=ValidationSettings(grader="z"))

    def test_nothing_shared(self) -> None:
        """No shared turn is an error that counts what each side has."""
        with pytest.raises(NotEnoughDataError, match="LABELS lacks the run: 2"):
            validate_grader(
                judged(run("a", "fn")), judged(run("b", "f"), name="LABELS"), settings=FAST
            )

    def test_all_missing(self) -> None:
        """Shared turns that no grade could be had for are no shared judgement."""
        with pytest.raises(NotEnoughDataError, match="GRADES could not be had: 2"):
            validate_grader(
                judged(run("a", "--")), judged(run("a", "fn"), name="LABELS"), settings=FAST
            )


@pytest.fixture(scope="module")
def sets(corpus: Callable[[str], Path]) -> tuple[Judgements, Judgements]:
    """Two graders of the same 954 steps of 146 traces."""
    names = {"GRADES": "trail.minimax", "LABELS": "trail.haiku"}
    first, second = (
        judgements_of(iter_named_runs([corpus(f"graded/{file}.jsonl")]), name=name)
        for name, file in names.items()
    )
    return first, second


@pytest.mark.corpus
class TestRealGraders:
    def test_by_position(self, sets: tuple[Judgements, Judgements]) -> None:
        """Kappa .742, .692, .394, .294 and AC1 .930, .791, .928, .818 on 438, 216, 124, 172."""
        settings = ValidationSettings(positions=parse_ranges("1-3,4-6,7-10,11+"), resamples=200)
        found = validate_grader(*sets, settings=settings)
        groups = [group.agreement for group in found.by_position.groups]
        assert [one.n_turns for one in groups] == [438, 216, 124, 172]
        kappas = [round(one.kappa.value, 3) for one in groups]
        ac1s = [round(one.ac1.value, 3) for one in groups]
        assert kappas == [0.742, 0.692, 0.394, 0.294]
        assert ac1s == [0.930, 0.791, 0.928, 0.818]
        assert found.excluded == {"GRADES could not be had": 4}

    def test_the_same_by_default(self, sets: tuple[Judgements, Judgements]) -> None:
        """Too few runs reach turn 21 for more ranges, so these four are the default."""
        found = validate_grader(*sets, settings=FAST)
        labels = [group.label for group in found.by_position.groups]
        assert labels == ["1-3", "4-6", "7-10", "11+"]
        assert [group.n_missing for group in found.by_position.groups] == [0, 1, 0, 3]

    def test_sensitivity_falls(self, sets: tuple[Judgements, Judgements]) -> None:
        """It is a finding that sensitivity falls, and the two graders' slopes differ in sign."""
        found = validate_grader(*sets, settings=FAST).position
        assert found.verdict == "finding"
        assert found.sensitivity.change.value == pytest.approx(-0.298, abs=5e-4)
        assert found.sensitivity.p_adjusted == pytest.approx(0.0026, abs=5e-5)
        assert found.slopes.graded.value < 0 < found.slopes.labelled.value

    def test_against_a_plain_reading(
        self, sets: tuple[Judgements, Judgements], corpus: Callable[[str], Path]
    ) -> None:
        """The three-way confusion matrix is that of a plain loop over the two files."""

        def read(name: str) -> dict[tuple[str, int], str]:
            lines = corpus(f"graded/{name}.jsonl").read_text("utf-8").splitlines()
            return {
                (record["trace_id"], step["step_index"]): step["validity"]
                for record in map(json.loads, lines)
                for step in record["steps"]
                if not step["raw"].get("parse_error")
            }

        one, other = read("trail.minimax"), read("trail.haiku")
        order = ("fail", "neutral", "pass")
        wanted = np.zeros((3, 3), dtype=int)
        for key in one.keys() & other.keys():
            wanted[order.index(one[key]), order.index(other[key])] += 1
        found = validate_grader(*sets, settings=FAST)
        assert found.validity.confusion == tuple(tuple(row) for row in wanted.tolist())

    def test_phase_of_graded_files(self, corpus: Callable[[str], Path]) -> None:
        """Where the graded files say which steps explore, agreement is given by phase."""
        first, second = (
            judgements_of(iter_named_runs([corpus(f"graded/{file}.jsonl")]), name=file)
            for file in ("nebius-llama70b", "nebius-llama70b.haiku")
        )
        found = validate_grader(first, second, settings=FAST)
        assert [group.label for group in found.by_phase.groups] == ["explore", "act"]
        assert sum(g.agreement.n_turns for g in found.by_phase.groups) == found.fail.n_turns == 629

    def test_annotations_of_people(self, corpus: Callable[[str], Path]) -> None:
        """TRAIL annotations beside traces are labels of the same runs, made with hindsight."""
        grades = judgements_of(
            iter_named_runs([corpus("graded/trail.minimax.jsonl")]), name="GRADES"
        )
        traces = [corpus("trail/trace.json"), corpus("trail/swe_trace.json")]
        labels = judgements_of(iter_named_runs(traces), name="LABELS")
        assert labels.construct == "hindsight"
        found = validate_grader(grades, labels, settings=FAST)
        assert found.fail.n_turns == 12
        assert found.construct == "hindsight"
        assert found.by_length.by.startswith("tokens")
