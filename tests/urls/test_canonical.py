"""One spelling for each URL (G2)."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st

from crawl4r.errors import InvalidUrl
from crawl4r.urls.canonical import (
    CanonicalRules,
    canonicalize,
    canonicalize_any,
    host_of_netloc,
    split,
)

SPELLINGS = {
    "scheme and host case": ("HTTP://EXAMPLE.com/Path", "http://example.com/Path"),
    "surrounding blanks": ("  http://e.org/a\n", "http://e.org/a"),
    "a tab and a newline inside": ("http://e.org/a\t/\nb", "http://e.org/a/b"),
    "backslashes": ("http:\\\\e.org\\a\\b", "http://e.org/a/b"),
    "no path": ("http://e.org", "http://e.org/"),
    "default port of http": ("http://e.org:80/", "http://e.org/"),
    "default port of https": ("https://e.org:443/", "https://e.org/"),
    "the other scheme's port stays": ("http://e.org:443/", "http://e.org:443/"),
    "empty port": ("http://e.org:/", "http://e.org/"),
    "leading zeros in a port": ("http://e.org:0080/", "http://e.org/"),
    "dot segments": ("http://e.org/a/./b/../c", "http://e.org/a/c"),
    "dot segments above the root": ("http://e.org/../../a", "http://e.org/a"),
    "escaped dot segments": ("http://e.org/a/%2e%2E/b/%2E/c", "http://e.org/b/c"),
    "a final dot segment": ("http://e.org/a/b/..", "http://e.org/a/"),
    "IDNA": ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
    "IDNA dots": ("http://a。example/", "http://a.example/"),
    "wide letters in a host": (
        "http://\uff25\uff38\uff21\uff2d\uff30\uff2c\uff25.com/",
        "http://example.com/",
    ),
    "escaped host": ("http://%65xample.com/", "http://example.com/"),
    "decimal IPv4": ("http://2130706433/", "http://127.0.0.1/"),
    "hexadecimal IPv4": ("http://0x7f.1/", "http://127.0.0.1/"),
    "octal IPv4": ("http://0177.0.0.01/", "http://127.0.0.1/"),
    "short IPv4": ("http://10.1/", "http://10.0.0.1/"),
    "IPv4 with the root's dot": ("http://127.0.0.1./", "http://127.0.0.1/"),
    "IPv6": ("http://[0:0::0001]:8080/", "http://[::1]:8080/"),
    "IPv4 in IPv6": ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    "the DNS root's dot": ("http://e.org./a", "http://e.org/a"),
    "the DNS root's dot and a port": ("http://e.org.:81/a", "http://e.org:81/a"),
    "credentials": ("http://user:secret@e.org/a", "http://e.org/a"),
    "an @ in the password": ("http://user:p%40ss@e.org/", "http://e.org/"),
    "a host disguised as a user": ("http://good.org@evil.org/", "http://evil.org/"),
    "fragment": ("http://e.org/a?b#c?d", "http://e.org/a?b"),
    "empty query and fragment": ("http://e.org/a?#", "http://e.org/a"),
    "escapes in upper case": ("http://e.org/%c3%a9?q=%e9", "http://e.org/%C3%A9?q=%E9"),
    "non-ASCII in a path": ("http://e.org/é", "http://e.org/%C3%A9"),
    "needless escapes": ("http://e.org/%7Ejoe/%61?%62=%63", "http://e.org/~joe/a?b=c"),
    "reserved characters stay escaped": ("http://e.org/a%2fb%3F", "http://e.org/a%2Fb%3F"),
    "a lone percent sign": ("http://e.org/100%/x%zz", "http://e.org/100%/x%zz"),
    "an escaped percent sign": ("http://e.org/%2541", "http://e.org/%2541"),
    "a blank": ("http://e.org/a b", "http://e.org/a%20b"),
    "doubled slashes": ("http://e.org//a///b//", "http://e.org/a/b/"),
    "an embedded URL": ("http://e.org/web/http://f.org//a", "http://e.org/web/http://f.org/a"),
    "session in the path": ("http://e.org/a;jsessionid=1A2B?x=1", "http://e.org/a?x=1"),
    "session before a segment": ("http://e.org/a;JSESSIONID=1/b", "http://e.org/a/b"),
    "a session that hid dot segments": ("http://e.org/a/b/..;jsessionid=1", "http://e.org/a/"),
    "other path parameters stay": ("http://e.org/a;v=1", "http://e.org/a;v=1"),
    "a trailing slash is another page": ("http://e.org/a/", "http://e.org/a/"),
}


@pytest.mark.parametrize(("given", "expected"), SPELLINGS.values(), ids=SPELLINGS)
def test_each_url_has_one_spelling(given: str, expected: str) -> None:
    assert canonicalize(given) == expected
    assert canonicalize(expected) == expected


QUERIES = {
    "campaign tags": ("utm_source=x&UTM_Medium=y&id=1", "id=1"),
    "click ids": ("fbclid=1&gclid=2&msclkid=3&id=1", "id=1"),
    "a tracking name in disguise": ("%75tm_source=x&utm%5Fmedium=y", ""),
    "sessions": ("PHPSESSID=1&jsessionid=2&sessid=3&id=1", "id=1"),
    "sid that is a token": ("sid=4f3c2b1a09d8e7f64f3c2b1a&id=1", "id=1"),
    "sid that is a story": ("sid=12&id=1", "id=1&sid=12"),
    "sid that is a word": ("sid=internationalisation", "sid=internationalisation"),
    "token that is long and numeric": ("token=12345678901234567890", ""),
    "sorted by name": ("c=1&a=2&b=3", "a=2&b=3&c=1"),
    "sorting keeps the order of equal names": ("b=2&a=z&b=1&a=y", "a=z&a=y&b=2&b=1"),
    "names without a value": ("b&a=&c", "a=&b&c"),
    "empty parameters": ("&&a=1&&b=2&", "a=1&b=2"),
    "nothing left": ("utm_id=1", ""),
    "escaped & stays": ("a=1%262", "a=1%262"),
}


@pytest.mark.parametrize(("given", "expected"), QUERIES.values(), ids=QUERIES)
def test_each_query_has_one_spelling(given: str, expected: str) -> None:
    spelled = canonicalize(f"http://e.org/?{given}")
    assert spelled == ("http://e.org/?" + expected if expected else "http://e.org/")


RULES = {
    "drop_all_params": (CanonicalRules(drop_all_params=True), "a?b=1&c=2", "a"),
    "drop all but the kept": (
        CanonicalRules(drop_all_params=True, keep_params=frozenset(["page"])),
        "a?b=1&Page=2&page=3",
        "a?Page=2&page=3",
    ),
    "drop_params": (CanonicalRules(drop_params=frozenset(["view"])), "a?VIEW=1&b", "a?b"),
    "keep before drop": (
        CanonicalRules(drop_params=frozenset(["b"]), keep_params=frozenset(["b"])),
        "a?b=1",
        "a?b=1",
    ),
    "keep before tracking": (
        CanonicalRules(keep_params=frozenset(["utm_id", "sid"])),
        "a?sid=4f3c2b1a09d8e7f64f3c2b1a&utm_id=1&utm_source=2",
        "a?sid=4f3c2b1a09d8e7f64f3c2b1a&utm_id=1",
    ),
    "tracking kept": (CanonicalRules(drop_tracking=False), "a?utm_id=1&sid=2", "a?sid=2&utm_id=1"),
    "order kept": (CanonicalRules(sort_params=False), "a?c&b&a", "a?c&b&a"),
    "strip_trailing_slash": (CanonicalRules(strip_trailing_slash=True), "a/b//?c", "a/b?c"),
    "the root keeps its slash": (CanonicalRules(strip_trailing_slash=True), "", ""),
}


@pytest.mark.parametrize(("rules", "given", "expected"), RULES.values(), ids=RULES)
def test_a_profile_changes_the_spelling(rules: CanonicalRules, given: str, expected: str) -> None:
    assert canonicalize(f"http://e.org/{given}", rules=rules) == f"http://e.org/{expected}"


REFUSED = {
    "mailto": ("mailto:a@e.org", "scheme"),
    "javascript": ("javascript:alert(1)", "scheme"),
    "ftp": ("ftp://e.org/", "scheme"),
    "file": ("file:///etc/passwd", "scheme"),
    "data": ("data:text/html,hi", "scheme"),
    "relative without a base": ("/a/b", "unparsable"),
    "nothing": ("", "unparsable"),
    "no host": ("http://", "unparsable"),
    "a blank in the host": ("http://a b/", "unparsable"),
    "a port too high": ("http://e.org:65536/", "unparsable"),
    "IPv4 out of range": ("http://256.1.1.1/", "unparsable"),
    "IPv6 unclosed": ("http://[::1/", "unparsable"),
    "an empty label": ("http://a..b/", "host"),
    "a leading dot": ("http://.e.org/", "host"),
    "only dots": ("http://../", "host"),
    "too long": ("http://e.org/" + "a" * 2048, "too-long"),
    "far too long": ("http://e.org/" + "a" * 9000, "too-long"),
    "too long once escaped": ("http://e.org/" + "é" * 400, "too-long"),
}


@pytest.mark.parametrize(("given", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_can_never_be_fetched_is_refused_with_a_reason(given: str, reason: str) -> None:
    with pytest.raises(InvalidUrl) as refusal:
        canonicalize(given)
    assert refusal.value.reason == reason


def test_an_unescaped_character_never_completes_another_escape() -> None:
    """`%%32e` is a percent sign and `2e`, not a dot: a second decoding names another page."""
    assert canonicalize("http://e.org/%%32e/a") != canonicalize("http://e.org/a")


def test_a_search_for_words_and_digits_is_no_session() -> None:
    """`?s=` is how every WordPress site spells a search."""
    url = "http://e.org/?s=windows11installation"
    assert canonicalize(url) == url


def test_a_canonical_url_is_cut_at_its_seams() -> None:
    parts = split("http://[::1]:8080/a/b?c=http://d/")
    assert parts == ("http", "[::1]:8080", "/a/b?c=http://d/")
    assert (parts.host, parts.origin) == ("[::1]", "http://[::1]:8080")


def test_the_host_of_a_netloc_has_no_port() -> None:
    assert host_of_netloc("e.org:81") == "e.org"
    assert host_of_netloc("[::1]:81") == "[::1]"


PIECES = st.sampled_from(
    [
        "a",
        "B",
        "0",
        "_",
        "~",
        "-",
        ".",
        "..",
        "a.b",
        ".a",
        "a.",
        "/",
        "//",
        "é",
        "%41",
        "%2e",
        ":",
        ";",
    ]
    + [
        "../",
        "../../",
        "?",
        "#",
        " ",
        "\\",
        "\t",
        "@",
        "jsessionid=1",
        "+",
        "*",
        "http:",
        "x-y_z",
        "1/2/",
    ]
)
ORIGINS = st.sampled_from(
    ["", "http://", "https://", "https:///", "http://f.org", "http://F.org", "https://f.org:443"]
    + ["http://f.org:81", "http://u@f.org", "http://f.org.", "http://[::1]", "http://2130706433"]
    + ["http://a..b", "http://a b", "http://f.org\\@g.org", "HTTP://f.org", "http:/f.org"]
)
PATHS = st.builds("{}{}".format, ORIGINS, st.lists(PIECES, max_size=6).map("".join))
BASES = st.sampled_from(
    ["http://e.org/", "http://e.org/a/b", "https://e.org:81/a/b/?q=/x/y", "http://e.org/a/#/f/g"]
    + [
        "http://E.org/a/",
        "http://u:p@e.org/a/",
        "http://e.org./a/",
        "http://e.org",
        "http://e.org/%7Ea/",
    ]
    + [
        "http://e.org/a//b/",
        "http://e.org/a/../b/",
        "http://[::1]:80/a",
        "http://0x7f.1/a/b",
        "no URL",
    ]
)
RULES = st.builds(
    CanonicalRules, strip_trailing_slash=st.booleans(), max_length=st.sampled_from([20, 2048])
)


@for_any(PATHS, BASES, RULES)
def test_what_is_spelled_without_the_parser_is_what_the_parser_says(
    path: str, base: str, rules: CanonicalRules
) -> None:
    def spelled(function: Callable[..., str]) -> str:
        try:
            return function(path, base, rules)
        except InvalidUrl as problem:
            return problem.reason

    assert spelled(canonicalize) == spelled(canonicalize_any)


@pytest.mark.parametrize(
    "path",
    ["/", "/a", "/a/b.html", "x", "a/b/", "../", "../../../x", "a-b_c.d/e~f", "/0/1#x"]
    + ["http://e.org/", "https://f.org/a/b.html#x", "http://f.org:81/a/"],
)
def test_plain_paths_need_no_parser(path: str) -> None:
    base = "http://e.org/dir/page?q=1"
    expected = canonicalize(path, base)  # which also looks at the base
    called: set[str] = set()
    sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
    try:
        spelled = canonicalize(path, base)
    finally:
        sys.setprofile(None)
    assert spelled == expected
    assert "canonicalize" in called
    assert canonicalize_any.__name__ not in called
