"""A site with calendars, sessions and filters without end: all real pages, and then it stops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import crawl4r
from tests.interfaces.cli.running import LOOPBACK, run
from tests.worlds.process import WorldProcess
from tests.worlds.traps import Traps

WORLD = Traps()
BUDGET = 4_000  # requests; the site has any number of URLs for its 400 pages


def test_a_crawl_finds_every_real_page_and_comes_to_an_end(tmp_path: Path) -> None:
    with WorldProcess(WORLD) as site:
        limits = ("--max-pages", str(BUDGET), "--per-host", "8", "--no-extract", "--json")
        answer = run("crawl", site.url("/"), "-w", tmp_path, *LOOPBACK, *limits)
        paths = [record.path for record in site.requests()]
    assert answer.json["ended"] == "nothing left"
    assert len(paths) < BUDGET
    truth = WORLD.truth()
    assert {truth.real_of(path) for path in paths} >= set(truth.real)
    with crawl4r.open(tmp_path, read_only=True) as opened:
        trapped = [row for row in opened.pages("refused") if (row.reason or "").startswith("trap")]
        assert {row.verdict for row in trapped} == {"capped"}
        assert "limits.traps" in opened.why(trapped[0].url)["reason"]
        reasons = [ending["reason"] for ending in opened.status()["endings"]]
    assert any(reason.startswith("trap: ") for reason in reasons)


def test_what_was_learnt_of_traps_outlives_the_process(tmp_path: Path) -> None:
    with WorldProcess(WORLD) as site:
        arguments = ("crawl", site.url("/"), "-w", tmp_path, *LOOPBACK, "--no-extract", "--json")
        run(*arguments, "--max-pages", "300", "--per-host", "8")
        with crawl4r.open(tmp_path, read_only=True) as opened:
            kinds = opened.database.read("SELECT kind FROM lessons")
        assert ("traps",) in kinds
        answer = run(*arguments, "--max-pages", str(BUDGET), "--per-host", "8")
        assert answer.json["ended"] == "nothing left"
        assert len(site.requests()) < BUDGET


def test_without_the_guard_only_the_limit_ends_it(tmp_path: Path) -> None:
    with WorldProcess(WORLD) as site:
        env = {"CRAWL4R_LIMITS__TRAPS__ENABLED": "false"}
        limits = ("--max-pages", "600", "--per-host", "8", "--no-extract", "--json")
        answer = run("crawl", site.url("/"), "-w", tmp_path, *LOOPBACK, *limits, env=env)
    assert answer.json["ended"] == "max pages"


def test_a_shop_whose_pages_differ_in_their_tables_alone_is_crawled_whole(tmp_path: Path) -> None:
    """Hundreds of pages with the same paragraphs in one folder: that alone is no trap."""
    folder = tmp_path / "www"
    for number in range(300):
        page = folder / "product" / str(number) / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"<a href=/product/{number + 1}/>Next</a>{product(number)}")
    with serving(folder) as url:
        options = (*LOOPBACK, "--no-extract", "--no-explore", "--json")
        answer = run("crawl", f"{url}/product/0/", "-w", tmp_path / "workspace", *options)
    assert answer.json["pages"] == 300


def product(number: int) -> str:
    letters = "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")
    return f"<h1>Chair</h1><table><td>Wood<td>{letters}wood</table><p>{' '.join(BOILERPLATE)}</p>"


BOILERPLATE = [f"{word}{other}" for word in ("re", "de", "un", "in", "im") for other in "abcdefgh"]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    handler = partial(QuietHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing to the terminal."""
