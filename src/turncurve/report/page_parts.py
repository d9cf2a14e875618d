"""Parts that every HTML page is made of: the files of `page/`, its policy, its typography."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files

_PAGE = files("turncurve.report").joinpath("page")
_JOINER = "\u2060"


def typeset(words: str) -> str:
    """Words with a true minus, and an unbreakable dash in ranges of numbers."""
    ranges = re.sub(r"(?<=\d)-(?=\d)", f"{_JOINER}\N{EN DASH}{_JOINER}", words)
    return re.sub(r"(?<![\w-])-(?=[\d.])", "\N{MINUS SIGN}", ranges)


def page_policy(scripts: Iterable[str]) -> str:
    """A content security policy: these scripts, styles of the page itself, and nothing else."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def page_part(name: str) -> str:
    """A file of `page/`."""
    return _PAGE.joinpath(name).read_text(encoding="utf-8")
