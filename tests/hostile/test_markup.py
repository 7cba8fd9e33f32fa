"""Square brackets that a site, a file or a query sends are words, and never rich's markup."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hostile.commanding_site import MARKUP, Reply, html, serving
from tests.hostile.terminals import WIDE, in_terminal, live_links
from tests.interfaces.cli.running import LOOPBACK, run

WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none"}
TAGS = ["[/bold]", "[link=http://evil.example/]click[/link]", "[red]x[/red]", ":bomb:"]
QUERIES = ["lighthouse -tag:[/b]", "lighthouse [/bold]", "keeper site:[link=x]"]


@pytest.mark.parametrize("tag", TAGS)
def test_a_header_in_the_summary_is_shown_as_it_was_sent(tag: str, tmp_path: Path) -> None:
    pages = {
        "/": Reply(html("Front", '<a href="/coded">words</a>')),
        "/coded": Reply(b"words", {"Content-Type": "text/html", "Content-Encoding": tag}),
    }
    with serving(pages) as url:
        code, seen = in_terminal("crawl", url, "-w", tmp_path / "ws", *LOOPBACK)
        again = in_terminal(
            "status", "--watch", "-w", tmp_path / "ws", until="unknown content coding"
        )
    assert (code, again[0]) == (0, 0)
    for output in (seen, again[1]):
        assert repr(tag.lower())[1:-1] in output
        assert "\x1b]8" not in output, "no live link"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("markup")
    record = {"id": MARKUP, "title": MARKUP, "text": f"The keeper {MARKUP} paints the lighthouse."}
    (folder / "records.jsonl").write_text(json.dumps(record))
    assert run("import", folder / "records.jsonl", "-w", folder / "ws").code == 0
    assert run("index", "-w", folder / "ws", env=WORDS_ONLY).code == 0
    return folder / "ws"


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_with_brackets_is_answered(query: str, workspace: Path) -> None:
    assert run("search", query, "-w", workspace, env=WORDS_ONLY).code == 0
    code, _ = in_terminal("search", query, "--explain", "-w", workspace, env=WORDS_ONLY)
    assert code == 0


def test_a_title_with_brackets_is_shown_as_it_is(workspace: Path) -> None:
    answer = run("search", "lighthouse", "-w", workspace, env={**WORDS_ONLY, **WIDE})
    assert MARKUP in answer.text
    code, seen = in_terminal("search", "lighthouse", "-w", workspace, env=WORDS_ONLY)
    assert (code, MARKUP in seen) == (0, True)
    (link,) = live_links(seen)
    assert link.startswith("https://imported.invalid/"), "ours, and not the one in the title"


def test_a_folder_with_brackets_can_be_crawled_into(tmp_path: Path) -> None:
    folder = tmp_path / "[bold]x[" / "red]"
    folder.parent.mkdir()
    with serving({"/": Reply(html("Front", "words"))}) as url:
        code, seen = in_terminal("crawl", url, "-w", folder, *LOOPBACK)
    assert code == 0
    assert f"into {folder}" in seen
