"""Real documentation, thousands of pages that others wrote: every page once, byte for byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

import crawl4r
from bench.documentation import cached
from bench.manifest import Manifest
from bench.peers.environment import cache
from bench.server import DOCUMENTATION, Server, serve
from tests.debian import install, program
from tests.interfaces.cli.running import run

PACKAGES = ("python3-doc", "postgresql-doc-15", "nginx-light")
WIDE = ("--rate", "0", "--per-host", "16", "--concurrency", "16", "--allow-private", "127.0.0.1")


def _is_everything_there() -> bool:
    has_nginx = program("nginx")
    return bool(has_nginx) and all(
        (root / "index.html").exists() for root in DOCUMENTATION.values()
    )


def _find_or_install() -> bool:
    if not _is_everything_there():
        install(*PACKAGES)
    return _is_everything_there()


@pytest.fixture(scope="module", params=list(DOCUMENTATION))
def documentation(request: pytest.FixtureRequest) -> Iterator[tuple[Path, Server, Manifest]]:
    if not _find_or_install():
        pytest.skip(f"needs Debian's {', '.join(PACKAGES)}")
    root = DOCUMENTATION[request.param].resolve()
    # A reader of its own, with another parser, says what can be reached.
    manifest = cached(cache(), request.param, root)
    with serve(root) as server:
        yield root, server, manifest


def test_every_reachable_page_is_stored_once_as_the_file_is(
    documentation: tuple[Path, Server, Manifest], tmp_path: Path
) -> None:
    root, server, manifest = documentation
    answer = run("crawl", server.url + manifest.start, "-w", tmp_path, *WIDE, "--json")
    assert (answer.code, answer.json["ended"]) == (0, "nothing left")
    assert (answer.json["failed"], answer.json["pending"]) == (0, 0)
    with crawl4r.open(tmp_path, read_only=True) as opened:
        done = {row.url.removeprefix(server.url): row for row in opened.pages("done")}
        kept = {path: row for path, row in done.items() if row.verdict == "ok"}
        captures = Counter(capture.url for capture in opened.captures.after(0))
        for path in kept:
            page = opened.get(server.url + path)
            assert page is not None
            assert page.body == (root / unquote(path).lstrip("/")).read_bytes()
    assert manifest.pages.keys() <= kept.keys()
    assert {path: kept[path].sha256 for path in manifest.pages} == {
        path: page.sha256 for path, page in manifest.pages.items()
    }
    assert kept.keys() - manifest.pages.keys() - manifest.files == set()
    assert {path for path, row in done.items() if row.status == 404} == manifest.missing
    assert set(captures.values()) == {1}
    asked = Counter(access.uri for access in server.accesses())
    assert {uri: times for uri, times in asked.items() if times > 1} == {}
