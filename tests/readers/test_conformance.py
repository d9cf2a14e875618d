"""What each format gives is what its fixtures show, and what the docs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from readers.conformance import ASPECTS, FORMATS, page, seen
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
        if found[aspect] == {"text"}:
            assert given == "derived", aspect


def test_the_page_is_fresh() -> None:
    """docs/reference/conformance.md is what the declarations make."""
    text = (ROOT / "docs/reference/conformance.md").read_text(encoding="utf-8")
    assert text == page(), "run tools/make_conformance_docs.py"
