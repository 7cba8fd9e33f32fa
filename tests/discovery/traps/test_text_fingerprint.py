"""When do two pages have the same text? On copies and on real differences."""

from __future__ import annotations

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.discovery.traps.text_fingerprint import TextFingerprints

BOILERPLATE = (
    "<p>Orders are sent on the same day when they reach us before noon, and may be returned within"
    " thirty days in whatever box they came in, free of charge and without a reason.</p>"
)


def product(number: int) -> str:
    word = "".join("bcdfghjklm"[int(digit)] + "a" for digit in str(number))
    rows = f"<tr><td>Wood</td><td>{word}</td></tr><tr><td>Price</td><td>{number}</td></tr>"
    return f"<h1>Chair</h1><table>{rows}</table>{BOILERPLATE}<a href=/p/{number + 1}>Next</a>"


def marks(pages: list[tuple[str, str]]) -> list[int]:
    sayings = TextFingerprints()
    return [sayings.of(LinkDocument(html.encode()), f"http://e.org{path}") for path, html in pages]


def test_pages_that_differ_in_a_table_alone_say_something_of_their_own() -> None:
    found = marks([(f"/p/{number}/", product(number)) for number in range(100)])
    assert len(set(found)) >= 98  # the second counts as equal to the first


def test_a_copy_under_another_address_says_nothing_new() -> None:
    copies = [(f"/p?sid={n:x}f00d", product(7).replace("/p/8", f"/?sid={n:x}")) for n in range(50)]
    assert len(set(marks(copies))) == 1


def test_numbers_links_and_words_of_the_address_are_nothing_new() -> None:
    pages = [
        (
            f"/calendar/?year={year}&color=blue{'ish' * (year % 2)}",
            f"<h1>{year}: blue{'ish' * (year % 2)}</h1>{BOILERPLATE}<a href=/{year}>to {year} A</a>"
            f"<table><td>{year}<td>{year * 7}</table>",
        )
        for year in range(1900, 2100)
    ]
    assert len(set(marks(pages))) == 1


def test_the_order_of_paragraphs_does_not_matter() -> None:
    first, second = BOILERPLATE, BOILERPLATE.replace("Orders", "Letters")
    there_and_back = marks([("/?sort=a", first + second), ("/?sort=d", second + first)])
    assert len(set(there_and_back)) == 1
