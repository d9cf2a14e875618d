"""Write the conformance table from what the tests declare and prove.

Run it after a reader has changed in what it gives: `make docs`; a stale page fails a test.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/conformance.md"
sys.path.insert(0, str(ROOT / "tests"))

from readers.conformance import page  # noqa: E402 - after the path is set


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
