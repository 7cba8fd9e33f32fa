"""robots.txt as it is found in the wild (G3)."""

import pytest

from crawl4r.urls.robots import MAX_BYTES, RobotsFile, RobotsRuling

US = ("crawlr", "crawl4r")


def judge(text: str | bytes, path: str) -> RobotsRuling:
    return RobotsFile(text).judge(path, US)


def denies(rules: str, path: str) -> bool:
    return not judge("User-agent: *\n" + rules, path).allowed


WILDCARDS = {
    "a prefix": ("/a", "/abc", True),
    "not in the middle": ("/a", "/b/a", False),
    "a star in the middle": ("/a*/c", "/ab/x/c/d", True),
    "a star that must find its part": ("/a*c", "/ab", False),
    "a star at the start": ("*.php", "/x/y.php?z", True),
    "a star at the end changes nothing": ("/a*", "/abc", True),
    "many stars are one": ("/a***c", "/abc", True),
    "parts in order": ("/*a*b", "/xbxa", False),
    "an end": ("/a$", "/a", True),
    "an end that is not reached": ("/a$", "/ab", False),
    "an end after a star": ("/*.gif$", "/a.gif.gif", True),
    "an end after a star, elsewhere": ("/*.gif$", "/a.gif?", False),
    "an end may not reuse a part": ("/*aba$", "/xaba", True),
    "parts may not overlap": ("/ab*ba$", "/aba", False),
    "a star before the end": ("/a*$", "/abc", True),
    "a dollar inside is itself": ("/a$b", "/a$b", True),
    "no leading slash": ("private", "/private/x", True),
    "a query": ("/*?", "/a?b", True),
    "the root alone": ("/$", "/", True),
    "the root alone, elsewhere": ("/$", "/a", False),
    "dots and parentheses are themselves": ("/a.(b)+", "/a.(b)+", True),
}


@pytest.mark.parametrize(("pattern", "path", "matches"), WILDCARDS.values(), ids=WILDCARDS)
def test_patterns_match_by_the_rfc(pattern: str, path: str, matches: bool) -> None:
    assert denies(f"Disallow: {pattern}", path) is matches


ESCAPES = {
    "case of hexadecimal digits": ("/%c3%a9", "/%C3%A9"),
    "raw on one side": ("/é", "/%c3%a9"),
    "needlessly escaped in the file": ("/%7Ejoe", "/~joe"),
    "needlessly escaped in the URL": ("/~joe", "/%7ejoe"),
    "an escaped slash on both sides": ("/a%2fb", "/a%2Fb"),
    "a lone percent sign": ("/100%", "/100%"),
    "a four-byte character": ("/\U0001f600", "/%F0%9F%98%80"),
}


@pytest.mark.parametrize(("pattern", "path"), ESCAPES.values(), ids=ESCAPES)
def test_equivalent_escapes_are_equal(pattern: str, path: str) -> None:
    assert denies(f"Disallow: {pattern}", path)


def test_an_escaped_slash_is_no_slash() -> None:
    assert not denies("Disallow: /a%2Fb", "/a/b")


def test_the_longest_pattern_is_the_one_with_most_octets() -> None:
    """One character of three octets is longer than `*?` (2.2.2)."""
    assert denies("Disallow: /\u30c4\nAllow: /*?", "/%E3%83%84?x")


def test_equivalent_rules_tie_however_they_are_escaped() -> None:
    assert not denies("Disallow: /%7Ejoe\nAllow: /~joe", "/~joe")


def test_the_ruling_names_the_rule_and_its_line() -> None:
    text = "# hello\nUser-agent: *\nDisallow: /a\nAllow: /a/b\n"
    assert judge(text, "/a/x") == (False, "Disallow: /a", 3)
    assert judge(text, "/a/b") == (True, "Allow: /a/b", 4)
    assert judge(text, "/c") == (True, "no rule matches", 0)
    assert judge("", "/c") == (True, "no group for this agent", 0)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_any_line_ending_and_a_byte_order_mark_are_read(newline: str, bom: bytes) -> None:
    lines = ["User-agent: *", "", "Disallow: /a", "Disallow: /b"]
    ruling = judge(bom + newline.join(lines).encode(), "/b")
    assert ruling == (False, "Disallow: /b", 4)


def test_line_endings_may_be_mixed() -> None:
    text = "User-agent: *\r\nDisallow: /a\rDisallow: /b\n\rDisallow: /c"
    assert [judge(text, path).allowed for path in ("/a", "/b", "/c", "/d")] == [
        *(False, False, False),
        True,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Disallow: /a # because",
        "  disallow :/a",
        "DISALLOW:\t/a\t",
        "Disallow: /a#b",
        "dissallow: /a",
    ],
)
def test_comments_blanks_and_case_do_not_hide_a_rule(line: str) -> None:
    assert denies(line, "/a")


@pytest.mark.parametrize("name", ["crawlr", "Crawlr/2.1", "CRAWLR bot", "crawlr # us", "crawl4r"])
def test_a_group_that_names_us_is_ours(name: str) -> None:
    text = f"User-agent: *\nAllow: /\n\nUser-agent: {name}\nDisallow: /\n"
    assert not judge(text, "/a").allowed


@pytest.mark.parametrize("name", ["crawl", "crawlrr", "crawlr-news", "mycrawlr", "crawler", ""])
def test_a_group_that_names_another_is_not_ours(name: str) -> None:
    text = f"User-agent: {name}\nDisallow: /\n\nUser-agent: *\nDisallow: /only\n"
    assert judge(text, "/a").allowed
    assert not judge(text, "/only").allowed


def test_rules_before_any_agent_bind_nobody() -> None:
    assert judge("Disallow: /\nUser-agent: *\nDisallow: /a\n", "/b").allowed


def test_an_empty_disallow_forbids_nothing() -> None:
    assert not denies("Disallow:", "/a")
    assert not denies("Disallow: # all welcome", "/a")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("0", 0.0),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds(value: str, seconds: float | None) -> None:
    text = f"User-agent: *\nDisallow: /a\nCrawl-delay: {value}\n"
    assert RobotsFile(text).crawl_delay(US) == seconds


def test_the_crawl_delay_is_that_of_our_group() -> None:
    text = "User-agent: *\nCrawl-delay: 9\n\nUser-agent: crawlr\nCrawl-delay: 2\nDisallow: /a\n"
    assert RobotsFile(text).crawl_delay(US) == 2
    assert RobotsFile(text).crawl_delay(("other",)) == 9
    assert RobotsFile("").crawl_delay(US) is None


def test_sitemaps_belong_to_no_group() -> None:
    text = "Sitemap: https://e.org/a.xml\nUser-agent: x\nSITEMAP : /b.xml # second\nDisallow: /\n"
    assert RobotsFile(text).sitemaps == ["https://e.org/a.xml", "/b.xml"]


def test_only_the_first_512_kib_are_read() -> None:
    head = b"User-agent: *\nDisallow: /early\n"
    filler = b"#" * (MAX_BYTES - len(head) - 1) + b"\n"
    file = RobotsFile(head + filler + b"Disallow: /late\n")
    assert not file.judge("/early", US).allowed
    assert file.judge("/late", US).allowed


def test_a_line_cut_in_two_by_the_cap_is_no_rule() -> None:
    """Half of `Disallow: /private/x` would be `Disallow: /`: the whole site."""
    head = b"User-agent: *\n"
    tail = b"Disallow: /"
    filler = b"#" * (MAX_BYTES - len(head) - len(tail) - 1) + b"\n"
    assert judge(head + filler + tail + b"private/x\n", "/public").allowed


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00" * 1000,
        bytes(range(256)) * 40,
        b"<!DOCTYPE html><html><body>404</body></html>",
        b"User-agent: *\nDisallow: \xff\xfe/\n",
        b"\xff\xfeU\x00s\x00e\x00r\x00",
        b":::\n" * 100,
        b"User-agent\nDisallow\n",
        b"Disallow: " + b"%" * 5000,
        "User-agent: *\nDisallow: /\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_garbage_is_passed_over(garbage: bytes) -> None:
    assert judge(garbage, "/page").allowed


def test_many_stars_take_linear_time() -> None:
    """A backtracking matcher would not end."""
    text = "User-agent: *\n" + f"Disallow: /{'*a' * 500}*b$\n" * 20
    assert judge(text, "/" + "a" * 4000).allowed


@pytest.mark.parametrize(
    "line", ["disallow /x", "Disallow\t/x", "DISALLOW   /x  # why", "disallow /x:y"]
)
def test_a_line_that_lacks_its_colon_counts(line: str) -> None:
    file = RobotsFile(f"user-agent *\n{line}\nallow all of it\n")
    assert not file.judge("/x:y", ["crawlr"]).allowed
    assert file.judge("/y", ["crawlr"]).allowed
