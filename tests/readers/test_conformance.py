"""What each format gives is what its fixtures show, and what the docs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from readers.conformance import ABSENT_SIGNAL, ASPECTS, FORMATS, OF_RUN, REMARKS, page, seen
from readers.test_contract import fixtures
from turncurve.readers import READERS

ROOT = Path(__file__).resolve().parents[2]


def test_every_format_is_declared() -> None:
    """The table has each built-in reader, in the order in which they are asked, and no other."""
    assert list(FORMATS) == READERS.names()


@pytest.mark.parametrize("name", FORMATS)
def test_declared_is_what_the_fixtures_show(name: str) -> None:
    """What a format gives shows in a fixture, and what is absent in none."""
    reader = READERS[name]
    found = seen(run for path in fixtures(name) for run in reader.read(path, lambda _: None))
    for aspect, given in zip(ASPECTS, FORMATS[name].given, strict=True):
        assert bool(found[aspect]) == (given != "absent"), (aspect, found[aspect])
    is_derived = FORMATS[name].given[ASPECTS.index("errors")] == "derived"
    assert is_derived == (found["errors"] == {"text"})


@pytest.mark.parametrize("name", FORMATS)
def test_absent_has_its_reason(name: str) -> None:
    """Each run says why it lacks what its format never gives, or a remark says why it is known."""
    aspects = dict(zip(ASPECTS, FORMATS[name].given, strict=True))
    absent = {aspect for aspect in ABSENT_SIGNAL if aspects[aspect] == "absent"}
    for path in fixtures(name):
        for run in READERS[name].read(path, lambda _: None):
            lacking = {aspect for aspect in absent if ABSENT_SIGNAL[aspect] in run.absent}
            known = {aspect for aspect in absent if (name, aspect) in REMARKS}
            assert lacking == absent - known, run.id


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_whole_runs_are_remarked(name: str) -> None:
    """Usage and cost that no turn of a format has are said to be those of the run."""
    found = seen(run for p in fixtures(name) for run in READERS[name].read(p, lambda _: None))
    for aspect in ("usage", "cost"):
        is_remarked = REMARKS.get((name, aspect)) == OF_RUN
        assert is_remarked == (found[aspect] == {"run"}), aspect


def test_remarks_are_about_what_is_declared() -> None:
    """Each remark names a format and an aspect of the table."""
    assert {name for name, _ in REMARKS} <= set(FORMATS)
    assert {aspect for _, aspect in REMARKS} <= set(ASPECTS)


def test_the_page_is_fresh() -> None:
    """docs/reference/conformance.md is what the declarations make."""
    text = (ROOT / "docs/reference/conformance.md").read_text(encoding="utf-8")
    assert text == page(), "run tools/make_conformance_docs.py"
