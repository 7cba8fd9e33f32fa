"""How two texts of a page differ, as JSON."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from crawl4r.workspace.difference import PageDifference


def difference_json(found: PageDifference) -> dict[str, Any]:
    names = {"before": "from", "after": "to"}
    return {names.get(name, name): value for name, value in asdict(found).items()}
