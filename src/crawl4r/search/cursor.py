"""Cursors: continue a list of results where it ended, while the index grows."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from crawl4r.errors import UsageError
from crawl4r.safe_text import read_json


class Cursor:
    """The end of a page of results: the shown results and the state of the index."""

    def __init__(self, up_to: int, shown: Sequence[int]) -> None:
        self.up_to = up_to
        self.shown = list(shown)

    @classmethod
    def read(cls, text: str | None, last_number: int) -> Cursor:
        if text is None:
            return cls(last_number, [])
        try:
            up_to, shown = read_json(base64.urlsafe_b64decode(text.encode()))
            return cls(int(up_to), [int(number) for number in shown])
        except (ValueError, TypeError):
            raise UsageError("the cursor is not one that a search gave") from None

    def after(self, numbers: Sequence[int]) -> str:
        plain = json.dumps([self.up_to, [*self.shown, *numbers]], separators=(",", ":"))
        return base64.urlsafe_b64encode(plain.encode()).decode()
