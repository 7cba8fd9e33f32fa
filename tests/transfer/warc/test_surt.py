"""Keys of index lines, beside the library that replay tools compute them with."""

from __future__ import annotations

import contextlib
import string

import pytest
import surt
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl4r.archive.warc.surt import surt_key
from crawl4r.errors import InvalidUrl
from crawl4r.urls.canonical import DEFAULT_RULES, CanonicalRules, canonicalize

AS_WRITTEN = CanonicalRules(drop_tracking=False, sort_params=False)
REAL = [
    "https://en.wikipedia.org/wiki/Main_Page",
    "https://www.example.org/",
    "https://www2.example.org:8443/a/b/?x=1",
    "http://WWW.Example.ORG/Path/INDEX.html?B=2&a=1&b=1&a",
    "https://bücher.example/straße?größe=1#top",
    "http://127.0.0.1:8080/site/p/1.html",
    "http://[2001:db8::1]:99/",
    "http://192.0.2.7/",
    "https://example.org/a%20b/%7Euser/%2e%2e/c",
    "https://example.org/search?q=%E6%97%A5%E6%9C%AC+x&lang=ja",
    "https://example.org/?q=100%25&r=%2525&s=%26&t=%3D%3d",
    "https://example.org/page;v=1.2;jsessionid=0123",
    "https://example.org/app/(S(0123456789abcdefghijklmn))/default.aspx?x=1",
    "https://example.org/app/(0123456789abcdefghijklmn)/default.aspx",
    "https://example.org/p?jsessionid=0123456789abcdef0123456789abcdef&a=1",
    "https://example.org/p?a=1&PHPSESSID=0123456789ABCDEF0123456789ABCDEF",
    "https://example.org/p?sid=0123456789abcdef0123456789abcdef",
    "https://example.org/p?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&b=2",
    "https://example.org/p?cfid=12&cftoken=34&z=1",
    "https://example.org/a//b///c/",
    "https://example.org/%2F%2Fx/%2e/%2E%2e/y",
    'https://example.org/"quoted"<tag>{brace}|pipe^hat`tick',
    "https://example.org/?a=1?b=2&c=http://other.example/?d=3",
    "https://sub.domain.co.uk:443/UP/down/",
    "https://example.org/%E2%82%AC/%e2%82%ac/€",
    "https://example.org/100%/50%2/ok%zz",
]


@pytest.mark.parametrize("url", REAL)
@pytest.mark.parametrize("rules", [DEFAULT_RULES, AS_WRITTEN], ids=["canonical", "as written"])
def test_a_real_url_has_the_key_that_others_give_it(url: str, rules: CanonicalRules) -> None:
    canonical = canonicalize(url, None, rules)
    assert surt_key(canonical) == surt.surt(canonical)


PIECES = st.one_of(
    st.sampled_from(
        [
            "/",
            "//",
            ".",
            "..",
            "%2e",
            "%2E%2e",
            "%2f",
            "%25",
            "%2525",
            "%",
            "%2",
            "?",
            "&",
            "=",
            "#",
        ]
        + [
            "jsessionid=" + "a" * 32,
            "SID=" + "0" * 32,
            "cfid=1&cftoken=2",
            ".aspx",
            ";",
            "+",
            "%20",
        ]
        + ["(S(" + "a" * 24 + "))/", "(" + "B" * 24 + ")/", "ASPSESSIONIDABCDEFGH=" + "A" * 24]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=6),
    st.text(string.printable, max_size=6),
)
HOSTS = st.sampled_from(
    ["example.org", "www.example.org", "www12.a.b.example", "wwwx.example", "www.org", "127.0.0.1"]
    + [
        "[::1]",
        "bücher.example",
        "xn--bcher-kva.example",
        "a_b.example",
        "0x7f.0.0.1",
        "3232235777",
    ]
)


@settings(max_examples=600, deadline=None)
@given(
    scheme=st.sampled_from(["http", "https"]),
    host=HOSTS,
    port=st.sampled_from(["", ":80", ":443", ":8080"]),
    rest=st.lists(PIECES, max_size=10),
)
def test_any_url_has_the_key_that_others_give_it(
    scheme: str, host: str, port: str, rest: list[str]
) -> None:
    url = f"{scheme}://{host}{port}/{''.join(rest)}"
    for rules in (DEFAULT_RULES, AS_WRITTEN):
        with contextlib.suppress(InvalidUrl):
            canonical = canonicalize(url, None, rules)
            assert surt_key(canonical) == surt.surt(canonical)


def test_a_key_is_one_word() -> None:
    """A blank in it would end the key of its line."""
    key = surt_key(canonicalize("https://example.org/a b\u3000c?d e=%20%0A%09"))
    assert key.split() == [key]
    assert key.isascii()
