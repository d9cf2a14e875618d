"""Fixtures that tests of every floor share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine that is busy is no failure of a property.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "data"
DATA = ROOT / "tests" / "data"


@pytest.fixture(scope="session")
def corpus() -> Callable[[str], Path]:
    """Gives a path in the shared collection of real traces, or skips the test."""

    def find(name: str) -> Path:
        path = CORPUS / name
        if not path.exists():
            pytest.skip(f"the shared collection of real traces has no {name} here")
        return path

    return find


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of small fixtures that the project owns, one folder a format."""
    return DATA
