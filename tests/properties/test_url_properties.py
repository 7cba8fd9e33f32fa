"""Canonical URLs: what holds for any text at all (G2)."""

import ada_url
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crawl4r.errors import InvalidUrl
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split
from tests.properties import steady

PIECES = (
    ["/", "/", "\\", ".", "..", "%2e", "%2F", "%25", "%", "%%32e", "?", "&", "=", "#", ";", ":"]
    + ["http://", "https:", "//", "[::1]", "127.1", "e.org", "@", "é", "ß", "。", "a", "b", "A"]
    + [" ", "\t", "utm_id=1", "sid=0123456789abcdef", ";jsessionid=1", ":443", "\ud800", "\x00"]
)
HOSTS = (
    ["e.org", "E.ORG.", "e.org:80", "e.org.:81", "u:p@e.org", "u@v@e.org:443", "0x7f.1"]
    + ["[::1]:80", "[::ffff:1.2.3.4]", "BÜCHER.example", "a。b", "xn--bcher-kva.example"]
    + ["127.0.0.1.", "%65.org", "a_b.org"]
)
urlish = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
absolute = st.builds(
    "{}{}/{}{}".format,
    st.sampled_from(["http://", "https://", "HTTPS:\\\\", "http:"]),
    st.sampled_from(HOSTS),
    urlish,
    st.text(max_size=6),
)
anything = st.one_of(absolute, urlish, st.text(max_size=40))
bases = st.sampled_from(
    ["http://e.org/", "https://e.org:81/a/b?c=d", "http://[::1]/x/", "http://e.org/a//b/http://f/"]
)
names = st.frozensets(st.sampled_from(["a", "b", "sid", "utm_id"]))
rules = st.builds(
    CanonicalRules,
    drop_all_params=st.booleans(),
    drop_tracking=st.booleans(),
    drop_params=names,
    keep_params=names,
    sort_params=st.booleans(),
    strip_trailing_slash=st.booleans(),
)


def spelled(text: str, base: str | None = None, rules: CanonicalRules | None = None) -> str:
    """The canonical URL; an input that is refused is no example."""
    try:
        return canonicalize(text, base, rules or CanonicalRules())
    except InvalidUrl:
        assume(False)
        raise


def without_root_dot(host: str) -> str:
    return host.removesuffix(".")


@steady
@given(absolute, rules)
@example("http://e.org/a/..;jsessionid=1/..//b", CanonicalRules())
@example("http://e.org/a/.;jsessionid=1", CanonicalRules(strip_trailing_slash=True))
@example("http://e.org/?&=&a", CanonicalRules())
def test_the_canonical_spelling_is_a_fixed_point(text: str, rules: CanonicalRules) -> None:
    once = spelled(text, None, rules)
    assert canonicalize(once, None, rules) == once


@steady
@given(absolute)
@example("http://e.org.@f.org./")
def test_no_edit_crosses_to_another_host(text: str) -> None:
    once = spelled(text)
    parsed = ada_url.parse_url(text)
    assert split(once).host == without_root_dot(parsed["hostname"])
    assert split(once).scheme + ":" == parsed["protocol"]
    assert split(once).netloc.removeprefix(split(once).host).removeprefix(":") == parsed["port"]


@steady
@given(absolute, rules)
def test_the_result_is_what_a_browser_would_ask_for(text: str, rules: CanonicalRules) -> None:
    once = spelled(text, None, rules)
    assert ada_url.normalize_url(once) == once
    parsed = ada_url.parse_url(once)
    assert once == split(once).origin + split(once).path
    assert (parsed["username"], parsed["password"], parsed["hash"]) == ("", "", "")
    assert once.isascii()
    assert len(once) <= rules.max_length


@steady
@given(urlish, bases)
def test_relative_links_resolve_as_in_a_browser(href: str, base: str) -> None:
    try:
        joined = ada_url.join_url(base, href)
    except ValueError:
        assume(False)
    assert spelled(href, base) == spelled(joined)


@steady
@given(anything, st.one_of(st.none(), bases))
def test_any_text_is_spelled_or_refused_and_nothing_else(text: str, base: str | None) -> None:
    try:
        canonicalize(text, base)
    except InvalidUrl as refusal:
        assert refusal.reason in {"unparsable", "scheme", "host", "too-long"}


@steady
@given(st.permutations(["a=1", "b=2", "c=3", "d", "e="]))
def test_the_order_of_distinct_parameters_does_not_matter(params: list[str]) -> None:
    assert canonicalize("http://e.org/?" + "&".join(params)) == "http://e.org/?a=1&b=2&c=3&d&e="
