"""Workspaces from strangers: a configuration that is none, and links where files should be."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.errors import SettingsError, WorkspaceError
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.hostile.commanding_site import Reply, html, serving
from tests.interfaces.cli.running import LOOPBACK, Answer, crawl, run
from tests.site.process import SiteProcess

PAGES = 4
MERGED = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)
)
# name: what stands in crawl4r.yaml, words of the answer
CONFIGURATIONS: dict[str, tuple[bytes, str]] = {
    "brackets": (b"[" * 100_000, "line 1, column 51: nested more than 50 deep"),
    "braces": (b"{" * 100_000, "nested more than 50 deep"),
    "lists": (b"seeds:\n" + b"- " * 100_000, "line 2, column"),
    "keys": (b"? " * 100_000, "nested more than 50 deep"),
    "indents": (b"\n".join(b" " * n + b"a:" for n in range(300)), "line 50"),
    "merges": (MERGED.encode(), "line 6, column 5: merges more than 10000 keys"),
    "a date that is none": (b"seeds:\n- 2026-13-45", "line 2, column 3: not a value"),
    "a number without end": (b"limits: {pages: " + b"9" * 5_000 + b"}", "line 1, column 17"),
    "a number of sixties": (b"limits: {pages: " + b":59" * 100_000 + b"}", "crawl4r.yaml"),
    "a tag of Python": (b"a: !!python/object/apply:os.system [id]", "line 1, column 4"),
    "a tag that lies": (b"a: !!bool x", "line 1, column 4: not a value of type bool"),
    "a control": (b"a: 1\nb: \0", "line 2 holds U+0000"),
    "another encoding": ("a: é".encode("utf-16"), "line 1 is not UTF-8"),
    "a broken letter": (b"a: 1\nb: \xff", "line 2 is not UTF-8"),
    "half a pair": (b'agent: {contact: "\\ud800"}', "agent.contact: is not Unicode"),
    "half a pair as a name": (b'fetch: {headers: {"\\ud800": a}}', "fetch.headers"),
    "itself": (b"&a [*a]", "must be a mapping"),
    "itself as a setting": (b"seeds: &a [*a]", "seeds.0: must be text"),
    "too much": (b"# " + b"x" * 1024**2, "is larger than 1024 KiB"),
    "nothing but a list": (b"- a", "must be a mapping"),
    "a key that is a list": (b"? [a]\n: b", "line 1, column 3"),
    "a quote that does not end": (b'a: "', "line 1, column 5"),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_that_is_none_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    written, words = CONFIGURATIONS[name]
    (tmp_path / "crawl4r.yaml").write_bytes(written)
    with pytest.raises(SettingsError) as met:
        crawl4r.load_settings(tmp_path / "crawl4r.yaml", environment={})
    assert words in str(met.value)
    assert len(str(met.value)) < 400


def test_a_command_ends_with_that_word_and_the_next_one_works(tmp_path: Path) -> None:
    written, words = CONFIGURATIONS["brackets"]
    (tmp_path / "crawl4r.yaml").write_bytes(written)
    for command in (["configure", "--show"], ["crawl", "http://127.0.0.1:9/"]):
        answer = run(*command, "-w", tmp_path)
        assert answer.code == 2
        assert f"crawl4r.yaml: is not YAML: {words}" in answer.err
    assert run("configure", "http://127.0.0.1:9/", "-w", tmp_path, "--force").code == 0
    assert run("configure", "--show", "-w", tmp_path).code == 0


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "lost link"])
def test_what_is_no_file_is_no_configuration_and_nobody_waits_for_it(
    tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "crawl4r.yaml"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero" if kind == "device" else tmp_path / "none")
    answer = run("configure", "--show", "-w", tmp_path)
    assert (answer.code, "crawl4r.yaml: cannot be read" in answer.err) == (2, True)


def test_a_secret_in_a_broken_configuration_is_not_repeated(tmp_path: Path) -> None:
    for text in ("embedder: {api_key: *hunter2}", "a: !hunter2 x", "a: 'hunter2", "a: &hunter2"):
        (tmp_path / "crawl4r.yaml").write_text(text + "\nb: [")
        answer = run("configure", "--show", "-w", tmp_path)
        assert (answer.code, "hunter2" in answer.err) == (2, False), answer.err


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.fixture(scope="module")
def crawled(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("crawled") / "ws"
    assert crawl(site.url(f"/site/{PAGES}/"), workspace, "--logs").code == 0
    return workspace


@pytest.fixture
def workspace(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "ws"))


def crawl_again(site: SiteProcess, workspace: Path) -> Answer:
    return crawl(site.url(f"/site/{PAGES}/"), workspace, "--logs", "--refresh")


def link_away(place: Path, elsewhere: Path) -> Callable[[], object]:
    """Make a link of what is there, so that writing through it would work; tells what it leads to."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.rename(elsewhere)
    elif "." in place.name.strip("."):
        elsewhere.write_text("mine")
    else:
        elsewhere.mkdir()
        (elsewhere / "mine").write_text("mine")
    place.symlink_to(elsewhere)
    return lambda: tree_of(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


TOP = ["crawl.lock", "state.db", "state.db-wal", "state.sum", "health.json", "health.json.new"]
TOP += ["store", "logs", "metadata", "index", "spool", "stop", "orders", ".replay"]
BELOW = ["store/segments", "store/segments/000001.seg", "logs/pages.csv", "spool/hosts/0"]
BELOW += ["metadata/crawl_metadata.jsonl", "index/generation-1/keyword", "spool/discover/state.db"]


@pytest.mark.parametrize("name", TOP + BELOW)
def test_a_workspace_with_a_link_inside_is_not_opened(
    workspace: Path, tmp_path: Path, name: str
) -> None:
    what_is_there = link_away(workspace / name, tmp_path / "elsewhere")
    before = what_is_there()
    for read_only in (False, True):
        with pytest.raises(WorkspaceError, match="symbolic link"):
            crawl4r.open(workspace, read_only=read_only)
    assert what_is_there() == before


def test_every_command_says_which_link_it_does_not_write_through(
    site: SiteProcess, workspace: Path, tmp_path: Path
) -> None:
    before = link_away(workspace / "store", tmp_path / "elsewhere")()
    others = ("index", "reprocess", "replay", "status")
    for answer in [crawl_again(site, workspace), *(run(name, "-w", workspace) for name in others)]:
        assert (answer.code, f"{workspace / 'store'} is a symbolic link" in answer.err) == (2, True)
    assert tree_of(tmp_path / "elsewhere") == before


def test_reset_removes_all_links_and_nothing_that_they_point_to(
    site: SiteProcess, workspace: Path, tmp_path: Path
) -> None:
    looks = [link_away(workspace / name, tmp_path / f"elsewhere-{name}") for name in TOP]
    (workspace / "pause").symlink_to(tmp_path / "none")  # leads nowhere
    before = [look() for look in looks]
    dry = run("reset", "--dry-run", "-w", workspace, "--json").json["paths"]
    assert {Path(path).name for path in dry} == {*TOP, "pause"}
    done = run("reset", "--yes", "-w", workspace, "--json")
    assert (done.code, sorted(done.json["paths"])) == (0, sorted(dry))
    assert [look() for look in looks] == before
    assert [path.name for path in workspace.iterdir()] == ["crawl.lock"]
    assert not (workspace / "crawl.lock").is_symlink()
    assert crawl_again(site, workspace).json["new_pages"] == PAGES
    assert_every_page_is_stored_once(workspace, expected_bodies(site, PAGES))


def test_a_link_to_the_whole_workspace_is_fine(
    site: SiteProcess, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(workspace)
    (tmp_path / "shared.yaml").write_text("politeness: {rate: 0}\n")
    (workspace / "crawl4r.yaml").symlink_to(tmp_path / "shared.yaml")  # is only read
    (workspace / "notes").symlink_to(tmp_path)  # none of crawl4r's
    assert crawl_again(site, tmp_path / "link").json["verdicts"] == {"not-modified": PAGES}


def test_pause_and_stop_make_no_file_elsewhere(workspace: Path, tmp_path: Path) -> None:
    for order in ("pause", "stop"):
        (workspace / order).symlink_to(tmp_path / "elsewhere")
        answer = run(order, "-w", workspace)
        assert (answer.code, "cannot write" in answer.err) == (2, True)
        assert not (tmp_path / "elsewhere").exists()


def test_configure_replaces_a_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "crawl4r.yaml").symlink_to(tmp_path / "precious")
    assert run("configure", "https://e.org/", "-w", tmp_path).code == 2
    assert run("configure", "https://e.org/", "-w", tmp_path, "--force").code == 0
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "crawl4r.yaml").is_symlink()


def test_reset_says_what_it_could_not_delete_and_deletes_the_rest(
    site: SiteProcess, workspace: Path
) -> None:
    """Even root deletes nothing from a folder that is marked as unchangeable."""
    held = workspace / "logs"
    if subprocess.run(["chattr", "+i", held], capture_output=True, check=False).returncode:
        pytest.skip("this file system or user cannot mark a folder as unchangeable")
    try:
        answer = run("reset", "--yes", "-w", workspace)
    finally:
        subprocess.run(["chattr", "-i", held], check=True)
    assert answer.code == 4
    assert f"could not delete {held}" in answer.err
    assert {path.name for path in workspace.iterdir()} == {"crawl.lock", "logs"}
    assert run("reset", "--yes", "-w", workspace).code == 0
    assert crawl(site.url(f"/site/{PAGES}/"), workspace).json["new_pages"] == PAGES


def test_json_nested_without_end_is_a_mistake_wherever_it_is_read(tmp_path: Path) -> None:
    """A user may pass on a file or a cursor from another person."""
    deep = tmp_path / "deep.jsonl"
    deep.write_text("[" * 100_000 + "\n")
    with serving({"/": Reply(html("Front", "words"))}) as url:
        run("crawl", url, "-w", tmp_path / "ws", *LOOPBACK, "--json")
    run("index", "-w", tmp_path / "ws", "--no-vectors")
    cursor = base64.urlsafe_b64encode(b"[" * 60_000).decode()
    (tmp_path / "ws" / "health.json").write_text("[" * 100_000)
    answers = [
        run("search", "--queries", deep, "-w", tmp_path / "ws"),
        run("search", "words", "--cursor", cursor, "-w", tmp_path / "ws"),
        run("extract", "--jsonl", stdin=deep.read_text()),
        run("urls", "canonical", "--jsonl", stdin=deep.read_text()),
        run("import", deep, "-w", tmp_path / "other"),
    ]
    assert [answer.code for answer in answers] == [2] * len(answers)
    assert run("status", "-w", tmp_path / "ws").code == 0


def test_questions_that_are_no_valid_text_are_answered_with_valid_text(tmp_path: Path) -> None:
    """Half of a character and bytes that are no UTF-8 become U+FFFD, as everywhere else."""
    file = tmp_path / "questions.jsonl"
    file.write_bytes(
        b'{"id": "a\\udfff", "text": "lighthouse"}\n{"id": "b\xfe", "text": "lighthouse"}\n'
    )
    with serving({"/": Reply(html("Front", "The keeper paints the lighthouse."))}) as url:
        run("crawl", url, "-w", tmp_path / "ws", *LOOPBACK, "--index", "--json")
    words = ("search", "--queries", file, "-w", tmp_path / "ws", "--mode", "keyword", "--json")
    lines = run(*words).lines
    assert [line["query"] for line in lines] == ["a\ufffd", "b\ufffd"]
