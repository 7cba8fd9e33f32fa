"""`crawl4r gc` on workspaces of real crawls: what every command says of bytes that were dropped."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

import crawl4r
from crawl4r.errors import BytesDropped, UsageError
from tests.archive.visits import files_of
from tests.documents.test_documenter import PROSE, WORDS_ONLY, Site, article, serving
from tests.interfaces.cli.running import LOOPBACK, Background, run, wait_until
from tests.site.process import SiteProcess

VISITS = 4
TODAY = datetime.now(UTC).date().isoformat()
LIVELY, STILL = "/lively", "/still"


class Crawled:
    """A workspace whose start page and one other changed at each visit, and one did not."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.lively = f"{url}{LIVELY}"

    def copy(self, place: Path) -> Crawled:
        return Crawled(Path(shutil.copytree(self.folder, place)), self.url)

    def gc(self, *options: str) -> dict[str, Any]:
        answer = run("gc", "-w", self.folder, "--json", *options)
        assert answer.code == 0, answer.err
        return dict(answer.json)

    def ask(self, command: str, *words: str | Path, code: int = 0) -> str:
        answer = run(command, *words, "-w", self.folder, env=WORDS_ONLY)
        assert answer.code == code, answer.err
        return answer.text if code == 0 else answer.err

    def documents(self) -> dict[str, tuple[str, int]]:
        with crawl4r.open(self.folder, read_only=True) as workspace:
            return {
                stored.document.url: (stored.document.markdown, stored.capture)
                for stored in workspace.documents()
            }

    def history(self) -> list[crawl4r.HistoryEntry]:
        with crawl4r.open(self.folder, read_only=True) as workspace:
            return workspace.history(self.lively)


def text_of(visit: int) -> str:
    return f"Visit {visit} found the words of day number {visit}. {PROSE * 4}"


async def crawl(folder: Path, url: str, kind: str, *, refresh: bool) -> None:
    pace = {"rate": 0, "allow_private": ["127.0.0.1"], "probe": False, "logs": True, "store": kind}
    async with crawl4r.open(folder, **pace) as workspace, asyncio.timeout(90):
        await workspace.crawl(url, refresh=refresh).finish()


def make(folder: Path, kind: str, site: Site) -> Crawled:
    for visit in range(VISITS):
        links = f"<a href={LIVELY}>Lively</a> <a href={STILL}>Still</a>"
        site.put("/", article("Start", text_of(visit), links))
        site.put(LIVELY, article("A lively page", text_of(visit)))
        site.put(STILL, article("A still page", f"It stays as it is. {PROSE * 4}"))
        asyncio.run(crawl(folder, site.url, kind, refresh=visit > 0))
    return Crawled(folder, site.url)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Crawled]]:
    with serving(Site()) as site:
        folder = tmp_path_factory.mktemp("gc")
        yield {kind: make(folder / kind, kind, site) for kind in ("segments", "files")}


@pytest.fixture(params=["segments", "files"])
def whole(request: pytest.FixtureRequest, made: dict[str, Crawled], tmp_path: Path) -> Crawled:
    return made[request.param].copy(tmp_path / "ws")


@pytest.fixture
def pruned(whole: Crawled) -> Crawled:
    """After a gc that keeps the newest capture of each page."""
    assert whole.gc("--keep-captures", "1")["dropped"] == 2 * (VISITS - 1)
    return whole


def test_without_dead_bytes_it_says_so(whole: Crawled) -> None:
    assert "nothing to remove: all 9 blobs" in whole.ask("gc")
    assert whole.ask("gc").count("\n") == 1


def test_a_dry_run_changes_no_byte_and_says_what_a_run_does(whole: Crawled) -> None:
    before = files_of(whole.folder)
    told = whole.ask("gc", "--dry-run", "--keep-captures", "2")
    foreseen = whole.gc("--dry-run", "--keep-captures", "2")
    assert files_of(whole.folder) == before
    assert "would be dropped: --keep-captures 2" in told
    assert "would be freed" in told
    done = whole.gc("--keep-captures", "2")
    assert foreseen == done | {"dry_run": True}
    assert done["freed"] == size_of(before) - size_of(files_of(whole.folder))
    assert done["freed"] > 0


def size_of(files: dict[str, bytes]) -> int:
    return sum(len(data) for path, data in files.items() if path.startswith("store"))


def test_it_says_what_it_did(whole: Crawled) -> None:
    told = whole.ask("gc", "--keep-captures", "1").splitlines()
    assert told[0].split()[:4] == ["stored", "before", "9", "blobs"]
    assert told[1].split()[:4] == ["of", "captures", "6", "blobs"]
    assert told[1].endswith("dropped: --keep-captures 1")
    assert told[-1].endswith("on disk freed")


def test_days_keep_what_is_younger(whole: Crawled) -> None:
    assert whole.gc("--keep-days", "1")["dropped"] == 0
    with crawl4r.open(whole.folder) as workspace:
        workspace.database.write(
            "UPDATE captures SET fetched_at = fetched_at - 200000 WHERE id < 7"
        )
        workspace.database.commit()
    assert whole.gc("--keep-days", "1", "--keep-captures", "9")["dropped"] == 0
    assert whole.gc("--keep-days", "1")["dropped"] == 4


def test_why_and_history_tell_when_and_by_which_option(pruned: Crawled) -> None:
    words = f"bytes dropped by gc on {TODAY}: --keep-captures 1"
    assert pruned.ask("why", pruned.lively).count(words) == VISITS - 1
    assert pruned.ask("history", pruned.lively).count(words) == VISITS - 1
    assert "dropped" not in pruned.ask("why", f"{pruned.url}{STILL}")
    rows = json.loads(pruned.ask("history", pruned.lively, "--json"))
    assert [row["dropped_by"] for row in rows] == ["--keep-captures 1"] * (VISITS - 1) + [""]
    assert rows[0]["dropped_at"].startswith(TODAY)
    assert rows[-1]["dropped_at"] is None
    captures = json.loads(pruned.ask("why", pruned.lively, "--json"))["captures"]
    assert [capture.get("dropped_by") for capture in captures] == [
        *["--keep-captures 1"] * (VISITS - 1),
        None,
    ]
    assert [entry.change for entry in pruned.history()] == ["new", *["changed"] * (VISITS - 1)]


def test_get_names_what_was_dropped(pruned: Crawled) -> None:
    assert f"of day number {VISITS - 1}" in pruned.ask("get", pruned.lively, "--raw")
    first = pruned.history()[0]
    at = ("--at", str(first.captured_at + 0.001))
    words = f"were dropped by gc on {TODAY}: --keep-captures 1"
    assert f"the bytes of {pruned.lively} {words}" in pruned.ask(
        "get", pruned.lively, "--raw", *at, code=2
    )
    assert "content-type" in pruned.ask("get", pruned.lively, "--headers", *at)
    assert words in pruned.ask("get", "--sha256", str(first.sha256), code=2)
    with crawl4r.open(pruned.folder, read_only=True) as workspace:
        page = workspace.get(pruned.lively, at=first.captured_at + 0.001)
        assert page is not None
        with pytest.raises(BytesDropped, match="--keep-captures 1"):
            page.body  # noqa: B018


def test_diff_compares_what_is_left_and_names_what_is_not(whole: Crawled) -> None:
    whole.gc("--keep-captures", "2")
    assert "+Visit 3 found" in whole.ask("diff", whole.lively)
    first, *_, last = (str(entry.capture_id) for entry in whole.history())
    said = whole.ask("diff", whole.lively, "--from", first, "--to", last, code=2)
    assert f"the bytes of capture {first}" in said
    assert f"dropped by gc on {TODAY}: --keep-captures 2" in said
    whole.gc("--keep-captures", "1")
    said = whole.ask("diff", whole.lively, code=2)
    assert "has only one capture with text" in said
    assert "--keep-captures 2" in said
    assert "--keep-captures 1" in said


@pytest.mark.parametrize("form", ["warc", "wacz", "csv", "jsonl"])
def test_exports_leave_out_what_was_dropped_and_say_so(
    pruned: Crawled, tmp_path: Path, form: str
) -> None:
    out = tmp_path / f"out.{form}" if form != "csv" else tmp_path / "tables"
    told = pruned.ask("export", form, "--out", out)
    if form in {"warc", "wacz"}:
        assert f"{2 * (VISITS - 1)} captures left out: gc has dropped their bytes" in told
    if form == "warc":
        with out.open("rb") as file:
            records = [
                (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
                for record in ArchiveIterator(file)
            ]
        assert records.count(("response", pruned.lively)) == 1
        assert records.count(("response", f"{pruned.url}{STILL}")) == 1
        assert records.count(("revisit", f"{pruned.url}{STILL}")) == VISITS - 1


def test_a_replay_reports_no_damage_and_writes_the_new_places(pruned: Crawled) -> None:
    answer = run("replay", "-w", pruned.folder, "--json", "--no-documents")
    assert answer.code == 0
    assert answer.json["damaged"] == []
    assert answer.json["dropped"] == 2 * (VISITS - 1)
    assert "captures without links: gc has dropped" in pruned.ask("replay", "--no-documents")
    lines = (pruned.folder / "metadata" / "crawl_metadata.jsonl").read_text().splitlines()
    with crawl4r.open(pruned.folder, read_only=True) as workspace:
        for line in map(json.loads, lines):
            path = next(value for name, value in line.items() if "path" in name)
            assert path == workspace.blobs.locate(line["sha256"])
    assert run("replay", "-w", pruned.folder, "--check").code == 0


def test_reprocess_loses_no_document_and_no_history(pruned: Crawled) -> None:
    documents = pruned.documents()
    before = pruned.history()
    assert len(documents) == 3
    told = pruned.ask("reprocess")
    assert f"{2 * (VISITS - 1)} dropped" in told
    assert pruned.documents() == documents
    assert pruned.history()[:-1] == before[:-1]


def test_a_capture_that_was_never_read_is_passed_over(pruned: Crawled) -> None:
    with crawl4r.open(pruned.folder) as workspace:
        workspace.database.write("DELETE FROM extractions")
        workspace.database.commit()
    documents = pruned.documents()
    pruned.ask("reprocess")
    assert pruned.documents() == documents
    assert [entry.change for entry in pruned.history()] == [*["dropped"] * (VISITS - 1), "new"]
    told = pruned.ask("history", pruned.lively)
    assert told.count("dropped by gc") == VISITS - 1


def test_the_index_and_a_later_crawl_go_on(pruned: Crawled, made: dict[str, Crawled]) -> None:
    pruned.ask("index")
    assert pruned.lively in pruned.ask("search", "lively")
    pruned.ask("index", "--rebuild")
    assert pruned.lively in pruned.ask("search", "lively")
    assert "127.0.0.1" in pruned.ask("report", "127.0.0.1")
    assert run("crawl", "-w", pruned.folder, "--refresh", *LOOPBACK, "--logs").code == 0
    assert len(pruned.history()) == VISITS + 1


def test_links_beside_a_crawl_pass_over_what_was_dropped(pruned: Crawled) -> None:
    """A new table of links begins with the first capture."""
    (pruned.folder / "logs" / "edges.csv").unlink()
    assert run("crawl", "-w", pruned.folder, "--refresh", *LOOPBACK, "--logs").code == 0
    rows = (pruned.folder / "logs" / "edges.csv").read_text().splitlines()
    assert sum(LIVELY in row for row in rows) == 1


def test_an_import_brings_dropped_bytes_back(whole: Crawled, tmp_path: Path) -> None:
    out = tmp_path / "all.warc.gz"
    whole.ask("export", "warc", "--out", out)
    whole.gc("--keep-captures", "1")
    whole.ask("import", out)
    assert all(entry.dropped_at is None for entry in whole.history())
    first = whole.history()[0]
    assert "of day number 0" in whole.ask(
        "get", whole.lively, "--raw", "--at", str(first.captured_at + 0.001)
    )


def test_from_python(whole: Crawled) -> None:
    with crawl4r.open(whole.folder) as workspace:
        steps: list[str] = []
        foreseen = workspace.gc(keep_captures=1, dry_run=True)
        done = workspace.gc(keep_captures=1, on_step=lambda work, done, total: steps.append(work))
        assert isinstance(done, crawl4r.GcReport)
        assert (foreseen.dropped, done.dropped) == (6, 6)
        assert "removing" in steps
        assert [page.body for url in (whole.lively, whole.url) if (page := workspace.get(url))]
        with pytest.raises(UsageError, match="keep_captures: 0"):
            workspace.gc(keep_captures=0)
    with crawl4r.open(whole.folder, read_only=True) as reader:
        assert reader.gc(dry_run=True).dropped == 0
        with pytest.raises(UsageError, match="open for reading"):
            reader.gc()


def test_a_damaged_segment_is_named_and_left(made: dict[str, Crawled], tmp_path: Path) -> None:
    workspace = made["segments"].copy(tmp_path / "damaged")
    segment = workspace.folder / "store" / "segments" / "000001.c4s"
    data = bytearray(segment.read_bytes())
    data[-5] ^= 1
    segment.write_bytes(data)
    answer = run("gc", "-w", workspace.folder, "--keep-captures", "1")
    assert answer.code == 4
    assert f"damaged, and left as it is: {segment}" in answer.text
    assert segment.read_bytes() == data


def test_no_workspace_is_a_clear_error(tmp_path: Path) -> None:
    assert run("gc", "-w", tmp_path / "nothing").code == 2
    assert run("gc", "-w", tmp_path / "nothing", "--keep-captures", "0").code == 2


def test_it_is_refused_by_name_while_a_crawl_runs(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    with SiteProcess() as site:
        site.hold(after=5)
        words = ("crawl", site.url("/site/30/"), "-w", str(workspace), *LOOPBACK)
        with Background(*words) as running:
            wait_until(lambda: site.held() > 0)
            answer = run("gc", "-w", workspace)
            assert answer.code == 2
            assert f"another crawl (process {running.process.pid}) is using" in answer.err
            assert run("gc", "-w", workspace, "--dry-run").code == 0
            running.send(signal.SIGKILL)
            site.release()
