"""`crawl4r replay` and `export csv`: words, files and exit codes that scripts rely on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import crawl4r
from tests.interfaces.cli.running import LOOPBACK, Background, crawl, run
from tests.logs.tables import ALL, EDGES, METADATA, METRICS, PAGES, contents, rows
from tests.site.pages import page_path
from tests.site.process import SiteProcess

SIZE = 12  # pages


@pytest.fixture(scope="module", params=["segments", "files"])
def logged(
    site: SiteProcess, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """A finished crawl that wrote logs. Only for tests that leave it as it is."""
    workspace = tmp_path_factory.mktemp("logged") / "ws"
    options = ["--logs", "--no-extract", "--store", request.param]
    assert crawl(site.url(f"/site/{SIZE}/"), workspace, *options).code == 0
    return workspace


@pytest.fixture
def copied(logged: Path, tmp_path: Path) -> Path:
    return shutil.copytree(logged, tmp_path / "ws")


def test_a_crawl_writes_logs_when_it_is_asked_to(logged: Path, crawled: Path) -> None:
    names = {path.name for path in (logged / "logs").iterdir()}
    assert names == {PAGES.name, EDGES.name, METRICS.name}
    assert len(rows(logged / PAGES)) == SIZE
    assert not (crawled / "logs").exists()


def test_resume_goes_on_writing_logs(site: SiteProcess, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    assert crawl(site.url("/site/9/"), workspace, "--logs", "--max-pages", "3").code == 0
    assert len(rows(workspace / PAGES)) == 3
    assert run("resume", "-w", workspace, "--max-pages", "9", "--json").code == 0
    assert len(rows(workspace / PAGES)) == 9
    assert run("replay", "-w", workspace, "--check", "--json").json["absent"] == []


def test_a_replay_writes_the_same_files_and_says_how_much(copied: Path) -> None:
    live = contents(copied)
    for path in ALL:
        (copied / path).unlink()
    answer = run("replay", "-w", copied, "--no-documents", "--json")
    assert answer.code == 0
    assert answer.json["captures"] == SIZE
    assert answer.json["edges"] == len(rows(copied / EDGES))
    assert set(answer.json["files"]) == {str(copied / path) for path in ALL}
    assert (answer.json["damaged"], answer.json["unreadable"]) == ([], [])
    assert contents(copied) == live
    words = run("replay", "-w", copied, "--no-documents").text
    assert f"{SIZE} captures" in words and str(copied / EDGES) in words


def test_missing_documents_are_made_and_all_of_them_when_asked(copied: Path) -> None:
    first = run("replay", "-w", copied, "--json").json["documents"]
    assert first == {"new": SIZE}
    assert run("replay", "-w", copied, "--json").json["documents"] == {}
    assert run("replay", "-w", copied, "--documents", "--json").json["documents"] == {"new": SIZE}
    with crawl4r.open(copied, read_only=True) as opened:
        assert len(list(opened.documents())) == SIZE


def test_out_writes_elsewhere_and_leaves_the_workspace_alone(copied: Path, tmp_path: Path) -> None:
    live = contents(copied)
    (copied / PAGES).write_text("mine\n")
    answer = run("replay", "-w", copied, "--out", tmp_path / "out", "--json")
    assert answer.code == 0
    assert "documents" not in answer.json
    assert (copied / PAGES).read_text() == "mine\n"
    for path, content in live.items():
        assert (tmp_path / "out" / path.name).read_bytes() == content
    assert run("replay", "-w", copied, "--check", "--out", tmp_path / "out").code == 0
    assert run("replay", "-w", copied, "--check").code == 1


def test_check_writes_nothing_and_is_content_with_what_is_there(copied: Path) -> None:
    before = snapshot(copied)
    answer = run("replay", "-w", copied, "--check", "--json")
    assert (answer.code, answer.json["differences"], answer.json["absent"]) == (0, [], [])
    assert set(answer.json["files"]) == {str(copied / path) for path in ALL}
    (copied / EDGES).unlink()
    answer = run("replay", "-w", copied, "--check", "--json")
    assert (answer.code, answer.json["absent"]) == (0, [str(copied / EDGES)])
    assert "is not there" in run("replay", "-w", copied, "--check").text
    after = snapshot(copied)
    assert after == {path: data for path, data in before.items() if path != copied / EDGES}


def snapshot(workspace: Path) -> dict[Path, bytes]:
    files = (path for path in workspace.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.name.startswith("state.db-")}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_check_names_the_first_line_that_differs(copied: Path, path: Path) -> None:
    whole = (copied / path).read_bytes().splitlines(keepends=True)
    for changed, line in (
        ([*whole[:4], b"x" + whole[4], *whole[5:]], 5),
        (whole[:6], 7),
        ([*whole, b"one more\n"], len(whole) + 1),
        (whole[:-1] + [whole[-1][:-3]], len(whole)),
        ([], 1),
    ):
        (copied / path).write_bytes(b"".join(changed))
        answer = run("replay", "-w", copied, "--check", "--json")
        assert answer.code == 1
        (found,) = answer.json["differences"]
        assert (found["file"], found["line"]) == (str(copied / path), line)
        assert f"line {line}" in run("replay", "-w", copied, "--check").text


def test_damaged_bytes_are_named_and_the_rest_is_done(
    site: SiteProcess, logged: Path, copied: Path
) -> None:
    live = contents(copied)
    victim = site.url(page_path(SIZE, 5))
    damage(copied, victim)
    answer = run("replay", "-w", copied, "--no-documents", "--json")
    assert answer.code == 4
    assert [page["url"] for page in answer.json["damaged"]] == [victim]
    assert contents(copied)[PAGES] == live[PAGES]
    assert contents(copied)[METADATA] == live[METADATA]
    left = [row for row in rows(logged / EDGES) if row["source"] != victim]
    assert rows(copied / EDGES) == left
    words = run("replay", "-w", copied, "--no-documents")
    assert (words.code, victim in words.text) == (4, True)
    assert run("replay", "-w", copied, "--check").code == 4
    assert run("export", "csv", "-w", copied, "--out", copied / "csv").code == 4
    documents = run("replay", "-w", copied, "--json")
    assert (documents.code, "stopped" in documents.json["documents"]) == (4, True)


def damage(workspace: Path, url: str) -> None:
    """Change one byte in the middle of a page's frame, wherever it is kept."""
    with crawl4r.open(workspace, read_only=True) as opened:
        sha256 = next(row.sha256 for row in opened.pages() if row.url == url)
        assert sha256
        where = opened.blobs.locate(sha256)
    name, _, offset = where.partition("@")
    (file,) = workspace.glob(f"store/*/{name}")
    data = bytearray(file.read_bytes())
    data[int(offset) + 200 if offset else len(data) // 2] ^= 1
    file.write_bytes(data)


def test_csv_is_exported_with_no_log_before(crawled: Path, tmp_path: Path) -> None:
    answer = run("export", "csv", "-w", crawled, "--out", tmp_path / "tables", "--json")
    assert (answer.code, answer.json["captures"]) == (0, 12)
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "edges.csv",
        "pages.csv",
    ]
    assert len(rows(tmp_path / "tables" / "edges.csv")) == answer.json["edges"]
    alone = tmp_path / "deep" / "only.csv"
    assert run("export", "csv", "-w", crawled, "--out", alone).code == 0
    assert alone.read_bytes() == (tmp_path / "tables" / "pages.csv").read_bytes()
    assert [path.name for path in alone.parent.iterdir()] == ["only.csv"]


def test_what_cannot_be_is_refused(crawled: Path, tmp_path: Path) -> None:
    nowhere = run("replay", "-w", tmp_path / "none")
    assert (nowhere.code, "no crawl" in nowhere.err) == (2, True)
    for other in (["--check"], ["--out", str(tmp_path / "out")]):
        refused = run("replay", "-w", crawled, "--documents", *other)
        assert (refused.code, "--documents" in refused.err) == (2, True)


def test_a_workspace_that_is_crawled_is_only_replayed_elsewhere(
    site: SiteProcess, tmp_path: Path
) -> None:
    url, workspace = site.url("/site/40/"), tmp_path / "ws"
    site.hold(after=3)
    options = [*LOOPBACK, "--logs", "--no-extract", "-v"]
    with Background("crawl", url, "-w", workspace, *options) as running:
        running.wait_until_it_says("page_kept")
        refused = run("replay", "-w", workspace)
        assert (refused.code, "is using" in refused.err) == (2, True)
        refused = run("replay", "-w", workspace, "--check")
        assert (refused.code, "is writing" in refused.err) == (2, True)
        assert run("replay", "-w", workspace, "--out", tmp_path / "out").code == 0
    assert rows(tmp_path / "out" / "pages.csv")
