"""Reads an HTML report back: its elements and the data that it carries."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import Any


class PageReader(HTMLParser):
    """Collects every start tag and the content of every `<script>`, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._open: dict[str, str | None] | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = dict(attrs) if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.scripts.append((self._open, data))

    def code(self) -> list[str]:
        """The scripts that a browser would run."""
        return [text for attrs, text in self.scripts if "type" not in attrs]

    def block(self, name: str) -> Any:
        """A block of data by its id, unpacked where it is packed; None if there is none."""
        for attrs, text in self.scripts:
            if attrs.get("id") == name:
                if attrs.get("type") == "application/json":
                    return json.loads(text)
                return json.loads(gzip.decompress(base64.b64decode(text)))
        return None


HOSTILE = (
    "</script><script>window.hacked=1;alert(1)</script>"
    '<img src=x onerror="window.hacked=2;alert(2)"><!--<script>'
    "\"'><svg onload=window.hacked=3>{{policy}}\u2028\u2029</title></style>"
)
