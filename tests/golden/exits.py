"""Command lines and what they end with; the codes are in `expected/exit_codes.txt`."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import crawl4r
from tests.golden.commands import SITE
from tests.golden.harbour_site import HarbourSite

_SLOW = "--rate 0.001"  # longer than a test lasts between two requests
_MOST_MEMORY = "CRAWL4R_RESILIENCE__MEMORY_MB"


class Exit(NamedTuple):
    words: str
    stdin: str = ""
    settings: tuple[tuple[str, str], ...] = ()


EXITS = (
    # Done, or a limit that was asked for is reached.
    Exit("--version"),
    Exit("--help"),
    Exit("status -w harbour"),
    Exit(f"crawl {SITE}/boats.html -w exits --max-pages 1"),
    Exit(f"crawl {SITE}/boats.html -w exits --depth 0"),
    Exit("resume -w exits"),
    Exit("why http://elsewhere.test/never -w harbour"),
    Exit("search zeppelin -w harbour"),
    Exit("pages -w harbour --state leased"),
    Exit("completion bash"),
    Exit("spool scrape -w nobody"),
    Exit("stop -w nobody"),
    Exit("pause -w nobody"),
    # Nothing could be kept, or a policy says no.
    Exit(f"crawl {SITE}:81/ -w dead"),
    Exit(f"crawl {SITE}/missing.html -w missing"),
    Exit(f"crawl {SITE}/broken -w broken"),
    Exit(f"crawl {SITE}/private/plans.html -w private"),
    Exit("crawl http://127.0.0.1/ -w refused"),
    Exit("crawl --log-json http://127.0.0.1/ -w refused"),
    Exit(f"supervise -- crawl {SITE}:81/ -w dead"),
    Exit(f"scrape {SITE}/missing.html"),
    Exit(f"scrape {SITE}:81/"),
    Exit(f"map {SITE}:81/"),
    Exit(f"plan {SITE}:81/"),
    Exit(f"check-policy {SITE}/private/x -w harbour"),
    Exit("import broken.warc -w broken"),
    # Usage and configuration.
    Exit("no-such-command"),
    Exit("crawl --no-such-option"),
    Exit("crawl -w empty"),
    Exit("crawl http://[ -w empty"),
    Exit("crawl mailto:a@b.test -w empty"),
    Exit(f"crawl {SITE}/ -w empty --deny harbour"),
    Exit(f"crawl {SITE}/ -w empty --deny ["),
    Exit(f"crawl {SITE}/ -w empty --max-pages many"),
    Exit(f"crawl {SITE}/ -w empty --budget 3"),
    Exit(f"crawl {SITE}/ -w empty --profile none"),
    Exit("crawl -w empty --log-json"),
    Exit("crawl -w misspelt"),
    Exit("configure -w misspelt --show"),
    Exit(f"configure {SITE}/ -w configured"),
    Exit("configure mailto:a@b.test -w empty"),
    Exit("supervise -- crawl -w empty"),
    Exit("supervise -- pages"),
    Exit("status -w nowhere"),
    Exit("pages -w nowhere"),
    Exit("resume -w nowhere"),
    Exit("index -w nowhere"),
    Exit("search boat -w nowhere"),
    Exit("export jsonl -w nowhere -o x"),
    Exit("reset -w nowhere --yes"),
    Exit("replay -w nowhere"),
    Exit("reprocess -w nowhere"),
    Exit("search -w harbour"),
    Exit("search boat -w exits --since yesterday"),
    Exit("search boat -w papers"),
    Exit("search boat -w harbour --mode vector"),
    Exit(f"similar {SITE}/boats.html -w harbour"),
    Exit("get -w harbour"),
    Exit(f"get {SITE}/never.html -w harbour"),
    Exit(f"get {SITE}/ --at soon -w harbour"),
    Exit("get --sha256 xyz -w harbour"),
    Exit(f"history {SITE}/never.html -w harbour"),
    Exit(f"diff {SITE}/boats.html -w exits"),
    Exit("report elsewhere.test -w harbour"),
    Exit("export wacz -w harbour -o x.zip"),
    Exit("export markdown -w harbour -o -"),
    Exit("import gone.jsonl -w papers"),
    Exit("import list.html -w papers"),
    Exit("extract gone.html"),
    Exit("pagination list.html"),
    Exit("check-policy mailto:a@b.test"),
    Exit("urls canonical http://["),
    Exit("urls canonical --jsonl", stdin="no json\n"),
    Exit("embed test cat"),
    Exit("pages -w foreign"),
    Exit(f"crawl {SITE}/ -w foreign"),
    Exit("status -w newer"),
    Exit(f"crawl {SITE}/ -w newer"),
    Exit(f"crawl {SITE}/ -w locked"),
    # Stopped with work left.
    Exit(f"crawl {SITE}/ -w stopped {_SLOW}"),
    Exit("reset -w few", stdin="n\n"),
    # The store cannot be written, or is damaged.
    Exit("replay -w damaged --check"),
    Exit(f"get {SITE}/boats.html -w damaged"),
    Exit("export warc -w damaged -o damaged.warc"),
    Exit("export jsonl -w harbour -o list.html/x"),
    # More memory than it may have.
    Exit(f"crawl {SITE}/ -w heavy {_SLOW}", settings=((_MOST_MEMORY, "1"),)),
)


@contextmanager
def surroundings_of_exits(folder: Path, site: HarbourSite) -> Iterator[None]:
    """What these commands find: broken workspaces, a locked one, and one that is told to stop."""
    (folder / "broken.warc").write_bytes(b"WARC/1.1\r\nno record\r\n\r\n")
    (folder / "misspelt").mkdir()
    (folder / "misspelt" / "crawl4r.yaml").write_text("limits:\n  page: 3\n")
    _make_foreign(folder / "foreign")
    _make_newer(folder / "few", folder / "newer")
    _make_damaged(folder / "harbour", folder / "damaged")
    site.when_asked["/robots.txt"] = lambda: _ask_to_stop(folder / "stopped")
    with crawl4r.open(folder / "locked"):
        yield
    del site.when_asked["/robots.txt"]


def _make_foreign(workspace: Path) -> None:
    workspace.mkdir()
    with closing(sqlite3.connect(workspace / "state.db")) as database:
        database.execute("CREATE TABLE theirs (id INTEGER)")


def _make_newer(source: Path, workspace: Path) -> None:
    shutil.copytree(source, workspace)
    (workspace / "state.sum").unlink()
    with closing(sqlite3.connect(workspace / "state.db")) as database:
        database.execute("PRAGMA user_version = 9999")


def _make_damaged(source: Path, workspace: Path) -> None:
    """The bytes of all pages but the first are others."""
    shutil.copytree(source, workspace)
    (segment,) = (workspace / "store" / "segments").iterdir()
    data = segment.read_bytes()
    segment.write_bytes(data[:1000] + bytes(len(data) - 1000))


def _ask_to_stop(workspace: Path) -> None:
    if workspace.exists():
        (workspace / "stop").touch()
