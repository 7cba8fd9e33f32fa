"""Control characters that a site or a file sends are shown, and never obeyed by a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from crawl4r.search.embed.minilm import is_installed
from tests.hostile.commanding_site import (
    BIDI,
    C1,
    CLIPBOARD,
    LINK,
    MARKUP,
    RULE_PATH,
    TITLE,
    WORDS,
    Reply,
    commanding_pages,
    html,
    serving,
)
from tests.hostile.terminals import WIDE, in_terminal, on_terminal, smuggled
from tests.interfaces.cli.running import LOOPBACK, run
from tests.transfer.warc.files import response

INDEXED = {"CRAWL4R_INDEX__ENABLED": "true", "CRAWL4R_FETCH__RETRIES": "0"}
ESCAPED_TITLE = r"\x1b]0;evil\x07"


class Crawled(NamedTuple):
    url: str
    workspace: Path


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving(commanding_pages()) as url:
        yield url


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    workspace = tmp_path_factory.mktemp("commanding") / "ws"
    answer = run("crawl", site, "-w", workspace, *LOOPBACK, "--json", env=INDEXED)
    assert (answer.code, answer.json["documents"]) == (0, 2)
    return Crawled(site, workspace)


SHOWN = {  # command: words that must stand in its output, as escapes
    "get {url}/": (r"\x1b]52;c;c3Vkbw==\x07", r"\u202eevil\u202c", r"\x9b5;7;8m"),
    "get {url}/ --headers": (r"\x1b]52;c;c3Vkbw==\x07", r"\x9b5;7;8m"),
    "get {url}/ --markdown": (r"\x07", r"\u202eevil\u202c"),
    "pages": ("Disallow: /" + ESCAPED_TITLE + r"\u202e[/bold]",),
    "why {url}/said": (ESCAPED_TITLE, r"\u202eevil\u202c"),
    "why {url}" + RULE_PATH: ("Disallow: /" + ESCAPED_TITLE + r"\u202e[/bold]",),
    "status": ("Disallow: /" + ESCAPED_TITLE,),
    "report 127.0.0.1": ("Disallow: /" + ESCAPED_TITLE,),
    "history {url}/said": ("new",),
    "search keeper --explain": (ESCAPED_TITLE, r"\u202eevil\u202c"),
    "search evil": (r"\x9b5;7;8m", r"\u202e"),
    "scrape {url}/said --allow-private 127.0.0.1": (r"\x07", r"\u202eevil\u202c"),
    "map {url}/ --rate 0 --allow-private 127.0.0.1": ("%1B]0;evil%07",),
    "check-policy {url}" + RULE_PATH: ("Disallow: /" + ESCAPED_TITLE,),
    "replay --no-documents": ("captures",),
}
NO_WORKSPACE = ("scrape", "map")


def words_of(command: str, crawled: Crawled) -> list[str]:
    words = [word.format(url=crawled.url) for word in command.split()]
    return words if words[0] in NO_WORKSPACE else [*words, "-w", str(crawled.workspace)]


@pytest.mark.parametrize("command", SHOWN)
def test_what_a_command_shows_commands_no_terminal(crawled: Crawled, command: str) -> None:
    words = words_of(command, crawled)
    piped = run(*words, env=WIDE)
    ends_with = int(words[0] == "check-policy")  # which denies it
    assert (piped.code, smuggled(piped.text), smuggled(piped.err)) == (ends_with, [], [])
    code, seen = in_terminal(*words)
    assert (code, smuggled(seen)) == (ends_with, [])
    for shown in SHOWN[command]:
        assert shown in piped.text, "the words themselves are there, as escapes"
        assert shown in seen


def test_what_is_similar_commands_no_terminal(crawled: Crawled) -> None:
    if not is_installed():
        pytest.skip("the model's package is not installed")
    words = ("similar", f"{crawled.url}/", "-w", crawled.workspace)
    piped = run(*words, env=WIDE)
    code, seen = in_terminal(*words)
    assert (piped.code, smuggled(piped.text), code, smuggled(seen)) == (0, [], 0, [])
    assert ESCAPED_TITLE in piped.text and ESCAPED_TITLE in seen


def test_a_status_that_is_watched_commands_no_terminal(crawled: Crawled) -> None:
    ending = f"Disallow: /{ESCAPED_TITLE}"
    code, seen = in_terminal("status", "--watch", "-w", crawled.workspace, until=ending)
    assert (code, smuggled(seen)) == (0, [])
    assert ending in seen


def test_what_has_changed_commands_no_terminal(tmp_path: Path) -> None:
    pages = {"/": Reply(html("News", f"yesterday {WORDS}"))}
    crawl = ("-w", tmp_path / "ws", *LOOPBACK, "--json")
    with serving(pages) as url:
        assert run("crawl", url, *crawl).code == 0
        pages["/"] = Reply(html("News", f"today {WORDS} {WORDS}"))
        assert run("crawl", *crawl, "--refresh").code == 0
    words = ("diff", f"{url}/", "-w", tmp_path / "ws")
    piped = run(*words)
    code, seen = in_terminal(*words)
    assert (piped.code, smuggled(piped.text), code, smuggled(seen)) == (0, [], 0, [])
    for output in (piped.text, seen):
        assert r"+today Ev\x1b" in output
    assert "\x1b[32m+today" in seen, "our own colours stay"


def test_what_a_crawl_says_commands_no_terminal(site: str, tmp_path: Path) -> None:
    piped = run("crawl", site, "-w", tmp_path / "piped", *LOOPBACK, "--verbose", env=WIDE)
    assert (piped.code, smuggled(piped.text), smuggled(piped.err)) == (0, [], [])
    assert r"Disallow: /\u001b]0;evil\u0007\u202e[/bold]" in piped.err, "a value in a line is JSON"
    code, seen = in_terminal("crawl", site, "-w", tmp_path / "seen", *LOOPBACK)
    assert (code, smuggled(seen)) == (0, [])
    for output in (piped.text, seen):
        assert f"robots.txt: Disallow: /{ESCAPED_TITLE}" in output


JSON_COMMANDS = (
    "pages --json",
    "get {url}/ --json",
    "get {url}/said --markdown --json",
    "why {url}/said --json",
    "search evil --json",
    "report 127.0.0.1 --json",
    "status --json",
    "scrape {url}/said --allow-private 127.0.0.1 --json",
    "map {url}/ --rate 0 --allow-private 127.0.0.1 --json",
)


@pytest.mark.parametrize("command", JSON_COMMANDS)
def test_json_commands_no_terminal_and_means_the_same(crawled: Crawled, command: str) -> None:
    answer = run(*words_of(command, crawled))
    assert (answer.code, smuggled(answer.text)) == (0, [])
    values = json.dumps(answer.lines, ensure_ascii=False)
    assert smuggled(values) or "map" in command, (
        "a reader of the JSON gets the site's own characters"
    )


def test_events_as_json_mean_the_same(site: str, tmp_path: Path) -> None:
    answer = run(
        "crawl", site, "-w", tmp_path / "ws", *LOOPBACK, "--verbose", "--log-json", "--json"
    )
    assert (answer.code, smuggled(answer.text + answer.err)) == (0, [])
    reasons = [json.loads(line).get("reason") or "" for line in answer.err.splitlines()]
    assert any(TITLE in reason for reason in reasons)
    assert any(TITLE in ending["reason"] for ending in answer.json["endings"])


def test_exact_bytes_go_into_a_pipe_and_not_to_a_terminal(crawled: Crawled) -> None:
    page = commanding_pages()["/said"].body
    said = ("get", f"{crawled.url}/said", "-w", crawled.workspace)
    assert run(*said, "--raw").out == page
    sha256 = run("why", f"{crawled.url}/said", "-w", crawled.workspace, "--json").json["captures"][
        -1
    ]
    by_hash = ("get", "--sha256", sha256["sha256"], "-w", crawled.workspace)
    assert run(*by_hash).out == page
    for words in ((*said, "--raw"), by_hash):
        code, seen = in_terminal(*words)
        assert (code, smuggled(seen)) == (2, [])
        assert "could take over your terminal" in seen and "> FILE" in seen


def test_plain_bytes_are_shown_on_a_terminal(tmp_path: Path) -> None:
    plain = Reply(html("Grüße", "nothing to hide\r\n"))
    with serving({"/": plain}) as url:
        run("crawl", url, "-w", tmp_path / "ws", *LOOPBACK, "--json")
    code, seen = in_terminal("get", f"{url}/", "--raw", "-w", tmp_path / "ws")
    assert code == 0
    assert "Grüße" in seen


def test_names_in_a_package_command_no_terminal(tmp_path: Path) -> None:
    package = tmp_path / "a.wacz"
    with zipfile.ZipFile(package, "w") as opened:
        good = response("http://a.example/", html("Good", "words"))
        opened.writestr("archive/good.warc", good)
        opened.writestr(f"archive/{CLIPBOARD}\n{BIDI}{C1}[/bold].warc", b"rubbish")
    piped = run("import", package, "-w", tmp_path / "piped", env=WIDE)
    code, seen = in_terminal("import", package, "-w", tmp_path / "seen")
    assert (piped.code, smuggled(piped.text), code, smuggled(seen)) == (0, [], 0, [])
    for output in (piped.text, seen):
        assert r"\x1b]52;c;c3Vkbw==\x07\n\u202eevil" in output, "and it adds no line of its own"
        assert "[/bold].warc" in output


def imported(tmp_path: Path, **record: str) -> Path:
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({"text": "The keeper paints the lighthouse.", **record}))
    assert run("import", file, "-w", tmp_path / "ws").code == 0
    words_only = {"CRAWL4R_EMBEDDER__KIND": "none"}
    assert run("index", "-w", tmp_path / "ws", env=words_only).code == 0
    return tmp_path / "ws"


def test_a_row_of_many_queries_has_the_cells_that_it_should_have(tmp_path: Path) -> None:
    workspace = imported(tmp_path, id=f"one\t{TITLE}\r\nforged")
    queries = tmp_path / "queries.jsonl"
    queries.write_text(json.dumps({"id": f"q{LINK}", "text": "lighthouse"}))
    options = ("--queries", queries, "-w", workspace, "--mode", "keyword")
    answer = run("search", *options, env={"CRAWL4R_EMBEDDER__KIND": "none"})
    assert (answer.code, smuggled(answer.text)) == (0, [])
    (row,) = answer.text.splitlines()
    cells = row.split("\t")
    assert len(cells) == 4
    assert cells[2] == rf"one\t{ESCAPED_TITLE}\r\nforged"


def test_files_that_are_read_command_no_terminal(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    links = f'<a rel=next href="?p=2">{WORDS}</a>'
    file.write_bytes(html(WORDS, WORDS + links))
    for words in (
        ("extract", file),
        ("pagination", file, "--url", "http://a.example/?p=1"),
    ):
        piped = run(*words)
        code, seen = in_terminal(*words)
        assert (piped.code, smuggled(piped.text), code, smuggled(seen)) == (0, [], 0, [])


ERRORS: dict[str, list[str]] = {
    "an option": ["pages", f"--{TITLE}"],
    "a URL": ["urls", "canonical", f"http://[{WORDS}"],
    "a folder": ["pages", "-w", f"{CLIPBOARD}{BIDI}{C1}"],
    "a date": ["report", "a.example", "--since", WORDS],
    "a profile": ["check-policy", "http://a.example/", "--profile", WORDS],
}


@pytest.mark.parametrize("arguments", ERRORS.values(), ids=ERRORS)
def test_errors_that_quote_command_no_terminal(arguments: list[str]) -> None:
    piped = run(*arguments)
    code, seen = in_terminal(*arguments)
    assert (piped.code, code) == (2, 2)
    assert (smuggled(piped.err), smuggled(seen)) == ([], [])
    assert r"\x1b]" in piped.err and r"\x1b]" in seen


def test_settings_that_are_quoted_command_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    (tmp_path / "crawl4r.yaml").write_text(f'politeness: {{rate: "\\e]0;evil\\a{MARKUP}"}}\n')
    code, seen = in_terminal("search", "x", "-w", tmp_path)
    assert (code, smuggled(seen)) == (2, [])
    assert "politeness.rate" in seen


def test_what_goes_past_our_own_words_commands_no_terminal() -> None:
    """Tracebacks, warnings and logs of libraries are written straight to stderr."""
    program = (
        "import logging, sys, warnings\n"
        "from crawl4r.interfaces.cli.output import guard_streams\n"
        "guard_streams()\n"
        f"words = {WORDS!r} + chr(0xd800)\n"
        "logging.getLogger('a library').warning('it says %s', words)\n"
        "warnings.warn(words)\n"
        "print(words)\n"
        "sys.stdout.writelines([words])\n"
        "raise ValueError(words)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (smuggled(ended.stdout.decode()), smuggled(ended.stderr.decode())) == ([], [])
    assert ended.stdout.decode().count(ESCAPED_TITLE) == 2
    assert ended.stderr.decode().count(ESCAPED_TITLE) == 3


def test_what_is_written_beside_a_live_view_commands_no_terminal() -> None:
    """Rich reads what is printed meanwhile, with its colours and its links, and draws it itself."""
    program = (
        "import sys\n"
        "from rich.text import Text\n"
        "from crawl4r.interfaces.cli.output import guard_streams\n"
        "from crawl4r.interfaces.cli.screen import Screen, live\n"
        "guard_streams()\n"
        "with live(Screen(stderr=True)) as drawn:\n"
        f"    words = {WORDS!r}\n"
        "    drawn.update(Text(words, 'link http://evil.example/'), refresh=True)\n"
        "    print(words)\n"
        "    print(words, file=sys.stderr)\n"
    )
    code, seen = on_terminal([sys.executable, "-c", program])
    assert (code, smuggled(seen)) == (0, [])
    assert "\x1b]8" not in seen
    assert seen.count("il [/bold]") >= 3
