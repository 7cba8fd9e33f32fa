"""A small workspace and its exports, from which the attacks by file start.

Made once for all rounds. Moments, ports and names of records are the same every time, so that a
mutation of the same round meets the same bytes.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.attacks.rounds import Round
from tests.attacks.site import GoodPage, Site

_MOMENT = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_NAME = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HASH = re.compile(rb"sha256:[0-9a-f]{64}")
_PORT = re.compile(rb"127\.0\.0\.(\d):\d{5}")


class Exports(NamedTuple):
    folder: Path
    goods: dict[str, GoodPage]  # by URL; all in the workspace, and indexed
    warc: bytes
    wacz: dict[str, bytes]  # by the name of a member
    records: list[dict[str, Any]]  # as `crawl4r import` takes them

    def workspace(self, this: Round) -> Path:
        """A copy of the workspace, for a round that changes it."""
        return Path(shutil.copytree(self.folder, this.folder / "ws"))


def make_exports(folder: Path) -> Exports:
    """Crawl a good site and export it in every form; a problem here is a problem of the harness."""
    this = Round("exports", 0, 0, folder, steps=0)
    workspace = folder / "ws"
    with Site(random.Random(0)) as site:
        seeds = site.open(this.chance)
        this.json("crawl", *seeds, "-w", workspace, "--index", "--no-explore", "--logs")
        goods = site.good_urls
    for kind, name in (("warc", "all.warc"), ("wacz", "all.wacz"), ("jsonl", "all.jsonl")):
        this.json("export", kind, "-w", workspace, "--out", folder / name)
    assert not this.problems, this.problems
    documents = (folder / "all.jsonl").read_text("utf-8").splitlines()
    with zipfile.ZipFile(folder / "all.wacz") as package:
        members = {name: always_the_same(package.read(name)) for name in package.namelist()}
    return Exports(
        workspace,
        goods,
        always_the_same((folder / "all.warc").read_bytes()),
        members,
        [_as_record(json.loads(line)) for line in documents],
    )


def always_the_same(data: bytes) -> bytes:
    data = _MOMENT.sub(b"2026-01-02T03:04:05Z", data)
    data = _NAME.sub(b"01234567-89ab-cdef-0123-456789abcdef", data)
    data = _HASH.sub(b"sha256:" + b"0" * 64, data)
    return _PORT.sub(rb"127.0.0.\1:54321", data)


def _as_record(document: dict[str, Any]) -> dict[str, Any]:
    url = always_the_same(document["url"].encode()).decode()
    return {"id": url, "url": url, "title": document["title"], "text": document["markdown"]}
