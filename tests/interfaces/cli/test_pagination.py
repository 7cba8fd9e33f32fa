"""`crawl4r pagination`: what it says to people and to scripts, and what it does with bad pages."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.cli.running import run

URL = "https://example.org/news?page=2"
PAGE = """<html><head><title>News</title></head><body>
<nav class="pagination"><a href="/news">1</a> 2 <a href="?page=3">3</a> <a href="?page=3">Next</a></nav>
</body></html>"""


def test_a_script_gets_the_pages_and_the_rule(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGE)
    answer = run("pagination", file, "--url", URL, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json == {
        "url": URL,
        "next": "https://example.org/news?page=3",
        "previous": "https://example.org/news",
        "current": 2,
        "pages": [
            {"number": 1, "url": "https://example.org/news"},
            {"number": 3, "url": "https://example.org/news?page=3"},
        ],
        "rule": {
            "style": "query",
            "template": "https://example.org/news?page={n}",
            "first": 1,
            "step": 1,
            "key": "https://example.org/news?page={n}",
        },
    }


def test_a_person_gets_them_in_words(tmp_path: Path) -> None:
    answer = run("pagination", "-", "--url", "example.org/news?page=2", stdin=PAGE)
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.text.splitlines()]
    assert ["next", "https://example.org/news?page=3"] in lines
    assert ["previous", "https://example.org/news"] in lines
    assert lines[-1][:2] == ["rule", "https://example.org/news?page={n}"]


def test_a_page_without_a_list_is_no_error() -> None:
    answer = run("pagination", "--url", URL, "--json", stdin="<p>nothing")
    assert answer.code == 0
    assert answer.json["rule"] is answer.json["next"] is answer.json["previous"] is None
    assert answer.json["pages"] == []
    assert "no list" in run("pagination", "--url", URL, stdin="<p>nothing").text


def test_words_in_another_encoding_are_read(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    link = (
        '<meta charset="windows-1251"><div class="pager"><a href="/novosti/2">Следующая</a></div>'
    )
    file.write_bytes(link.encode("windows-1251"))
    answer = run("pagination", file, "--url", "https://example.org/novosti", "--json")
    assert answer.json["next"] == "https://example.org/novosti/2"
    assert answer.json["rule"]["template"] == "https://example.org/novosti/{n}"


def test_a_long_page_is_read_elsewhere_and_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGE.replace("</body>", "<p>much text</p>" * 6_000))
    answer = run("pagination", file, "--url", URL, "--json")
    assert (answer.code, answer.json["current"]) == (0, 2)
    assert answer.json["rule"]["template"] == "https://example.org/news?page={n}"


def test_a_page_that_cannot_be_read_in_time_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    nested = "".join(f"<b a={n}><p>" for n in range(30_000)) + "</b>" * 30_000
    file.write_text(nested)
    few = {"CRAWL4R_CONTENT__SECONDS": "1"}
    answer = run("pagination", file, "--url", URL, env=few)
    assert (answer.code, answer.out) == (1, b"")
    assert "cannot be read" in answer.err
    assert "content.seconds" in answer.err


def test_what_cannot_be_used_is_a_usage_error(tmp_path: Path) -> None:
    missing = run("pagination", tmp_path / "absent.html", "--url", URL)
    assert (missing.code, missing.out) == (2, b"")
    assert "cannot be read" in missing.err
    for url in ("mailto:a@example.org", "https://", ""):
        answer = run("pagination", "--url", url, stdin=PAGE)
        assert (answer.code, answer.out) == (2, b"")
    assert "--url" in run("pagination", stdin=PAGE).err
