"""Search results as a pipe and a terminal get them, and what a search refuses to guess."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.cells import cell_len

from crawl4r.safe_text import visible
from tests.hostile.terminals import in_terminal, live_links, on_terminal, smuggled
from tests.interfaces.cli.running import run

WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none"}
NARROW = {**WORDS_ONLY, "COLUMNS": "40"}
URL = "https://docs.example.org/a/rather/long/path/that/is/wider/than/forty/columns.html"
FILLER = " ".join(f"word{n}" for n in range(60))
RECORDS = [
    {
        "url": URL,
        "title": "Harbour",
        "text": f"{FILLER}. The keeper paints the lighthouse. {FILLER}",
    },
    {"id": "valley", "title": "Valley", "text": "A train leaves every morning and brings letters."},
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screen")
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, RECORDS)))
    assert run("import", folder / "records.jsonl", "-w", folder / "w").code == 0
    assert run("index", "-w", folder / "w", env=WORDS_ONLY).code == 0
    return folder / "w"


def snippet_in(text: str) -> str:
    (line,) = (line for line in text.splitlines() if "lighthouse" in line and "://" not in line)
    return line.strip()


def test_a_url_stands_whole_at_the_start_of_its_line_in_a_pipe(workspace: Path) -> None:
    text = run("search", "lighthouse", "-w", workspace, env=NARROW).text
    (line,) = (line for line in text.splitlines() if line.startswith("https://"))
    assert line.startswith(f"{URL}#:~:text=")
    assert len(line.split()) == 1
    assert text.count("://") == 1


def test_a_snippet_is_cut_at_words_and_the_link_leads_to_them(workspace: Path) -> None:
    text = run("search", "lighthouse", "-w", workspace, env=NARROW).text
    before, *words, after = snippet_in(text).split()
    assert (before, after) == ("...", "...")
    assert set(words) <= set(RECORDS[0]["text"].split())
    (fragment,) = re.findall(r":~:text=(\S+)", text)
    assert unquote(fragment) in snippet_in(text)
    hit = run("search", "lighthouse", "-w", workspace, "--json", env=NARROW).json["results"][0]
    assert hit["snippet"] == snippet_in(text)
    assert hit["link"].endswith(fragment)


def test_a_terminal_gets_a_live_link_that_nothing_of_ours_breaks(workspace: Path) -> None:
    code, seen = in_terminal("search", "lighthouse", "-w", workspace, env=NARROW)
    assert code == 0
    (link,) = live_links(seen)
    assert link.startswith(f"{URL}#:~:text=")
    shown = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", seen)
    assert f"\n{URL}\r\n" in shown, "whole, and at the start of its line"


def test_a_long_title_hangs_below_itself_with_its_score_beside_it(tmp_path: Path) -> None:
    title = "港の手引き" * 8 + " and the lighthouses of a long coast"
    record = {"url": URL, "title": title, "text": "The keeper paints the lighthouse."}
    (tmp_path / "r.jsonl").write_text(json.dumps(record))
    run("import", tmp_path / "r.jsonl", "-w", tmp_path / "w")
    run("index", "-w", tmp_path / "w", "--language", "all", env=WORDS_ONLY)
    env = {**WORDS_ONLY, "COLUMNS": "60"}
    _, seen = in_terminal("search", "keeper", "-w", tmp_path / "w", env=env)
    first, second, *_ = re.sub(r"\x1b\[[0-9;]*m", "", seen).replace("\r", "").split("\n")
    assert re.fullmatch(r" 1\. 港.*  \d\.\d{3}", first.rstrip())
    assert re.match(r"    \S", second)
    assert max(cell_len(line) for line in (first, second)) <= 60


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://a.example/x",
        "https://a.example/\x1b\\evil",
        "https://a.example/\x07evil",
        "https://a.example/\x9cevil",
        "https://a.example/ evil",
        "https://a.example/" + "x" * 3_000,
    ],
)
def test_only_an_address_of_a_web_page_becomes_a_live_link(address: str) -> None:
    program = "import sys; from crawl4r.interfaces.cli.screen import Screen;"
    program += " Screen().print_link(sys.argv[1], sys.argv[1])"
    code, seen = on_terminal([sys.executable, "-c", program, address])
    assert (code, live_links(seen), smuggled(seen)) == (0, [], [])
    assert visible(address) in seen


def test_no_style_of_a_stranger_makes_a_live_link() -> None:
    program = (
        "from rich.text import Text; from crawl4r.interfaces.cli.screen import Screen;"
        "from rich.style import Style; screen = Screen();"
        "evil = Text('click', Style(link='http://evil.example/')); screen.print(evil);"
        "screen.print_link('https://a.example/', 'ours'); screen.print(evil)"
    )
    code, seen = on_terminal([sys.executable, "-c", program])
    assert (code, live_links(seen)) == (0, ["https://a.example/"])


def test_a_dumb_terminal_and_a_pipe_get_no_control_sequence(workspace: Path) -> None:
    assert b"\x1b" not in run("search", "lighthouse", "-w", workspace, env=WORDS_ONLY).out
    _, seen = in_terminal("search", "lighthouse", "-w", workspace, env={**NARROW, "TERM": "dumb"})
    assert not live_links(seen)
    assert URL in seen


def test_words_without_quotes_are_one_query(workspace: Path) -> None:
    loose = run("search", "keeper", "lighthouse", "-w", workspace, "--json", env=WORDS_ONLY).json
    quoted = run("search", "keeper lighthouse", "-w", workspace, "--json", env=WORDS_ONLY).json
    assert loose["results"] == quoted["results"] != []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((" ",), "the query is empty"),
        (("x" * 1001,), "1,001 characters; shorten it to 1,000"),
        (("train", "type:spreadsheet"), "there are html, pdf,"),
        (("train", "--type", "spreadsheet"), "there are html, pdf,"),
        (("train", "lang:english"), " de "),
        (("train", "--language", "english"), " de "),
        (("train", "after:lunch"), "after:2026-05-31"),
        (("train", "before:2026-13"), "before:2026-05-31"),
        (("train", "--since", "lunch"), "2026-05-31"),
        (("type:table",), "add a word"),
        (("train", "-letters"), "quote the whole query"),
        (("train", "--min-score", "7"), "0<=x<=1"),
        (("train", "--rrf-k", "0"), "x>=1"),
        (("train", "--keyword-weight", "0", "--vector-weight", "0"), "weights"),
        (("train", "--vector-weight", "nan"), "weights"),
    ],
)
def test_a_mistake_is_refused_with_what_to_write_instead(
    workspace: Path, arguments: tuple[str, ...], said: str
) -> None:
    answer = run("search", *arguments, "-w", workspace, env=WORDS_ONLY)
    assert (answer.code, answer.text) == (2, "")
    assert said in answer.err
    assert len(answer.err) < 2_500


def test_a_query_that_only_looks_like_a_mistake_can_be_quoted(workspace: Path) -> None:
    answer = run("search", '"type:spreadsheet" train', "-w", workspace, "--json", env=WORDS_ONLY)
    assert (answer.code, len(answer.json["results"])) == (0, 1)


def test_a_mistake_among_many_queries_is_named_before_any_is_answered(
    workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": "1", "text": "train"}\n{"id": "2", "text": "train type:cake"}\n')
    answer = run("search", "--queries", file, "-w", workspace, env=WORDS_ONLY)
    assert (answer.code, answer.text) == (2, "")
    assert "line 2: 'cake' is not a type" in answer.err
    file.write_text(json.dumps({"id": "1", "text": "train " * 300}))
    answer = run("search", "--queries", file, "-w", workspace, env=WORDS_ONLY)
    assert (answer.code, "first 1,000 characters" in answer.err) == (0, True)
    assert "valley" in answer.text


def test_nothing_near_is_said_and_not_scored(workspace: Path) -> None:
    answer = run("search", "xyzzy", "frobnicate", "-w", workspace, env=WORDS_ONLY)
    assert answer.code == 0
    assert answer.text.startswith("Nothing found.\nnone of these words occur")
    found = run("search", "xyzzy", "-w", workspace, "--json", env=WORDS_ONLY).json
    assert (found["results"], found["candidates"]) == ([], 0)
    assert "none of these words occur" in found["notes"][0]


def test_a_score_means_the_same_for_every_query(workspace: Path) -> None:
    def best(*query: str) -> float:
        found = run("search", *query, "-w", workspace, "--json", env=WORDS_ONLY).json
        return float(found["results"][0]["score"])

    assert best("train morning letters") == 1
    assert best("train morning xyzzy frobnicate") < 0.6
    few = ("train morning xyzzy frobnicate", "--min-score", "0.6")
    assert run("search", *few, "-w", workspace, "--json", env=WORDS_ONLY).json["results"] == []


def test_fusion_weights_and_k_are_options_with_settings_as_their_defaults(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, RECORDS)))
    run("import", tmp_path / "r.jsonl", "-w", tmp_path / "w")
    if not run("index", "-w", tmp_path / "w", "--json").json["embedded"]:
        pytest.skip("the model's package is not installed")

    def best(*options: str, env: dict[str, str] | None = None) -> float:
        words = ("search", "morning train", "-w", tmp_path / "w", "--json", *options)
        return float(run(*words, env=env).json["results"][0]["score"])

    by_words = best("--keyword-weight", "1", "--vector-weight", "0")
    assert by_words > best() > best("--keyword-weight", "0", "--vector-weight", "1")
    weights = {"CRAWL4R_SEARCH__KEYWORD_WEIGHT": "1", "CRAWL4R_SEARCH__VECTOR_WEIGHT": "0"}
    assert best(env=weights) == by_words

    def last(*options: str, env: dict[str, str] | None = None) -> float:
        words = ("search", "keeper train", "-w", tmp_path / "w", "--json", "--fusion", "rrf")
        return float(run(*words, *options, env=env).json["results"][-1]["score"])

    assert last("--rrf-k", "1") < last() < last("--rrf-k", "5000")
    assert last(env={"CRAWL4R_SEARCH__RRF_K": "5000"}) == last("--rrf-k", "5000")
