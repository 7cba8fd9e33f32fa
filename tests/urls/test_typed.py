"""URLs as people type them: a scheme may be missing, and what is none is refused with the reason."""

from __future__ import annotations

import pytest

from crawl4r.errors import InvalidUrl
from crawl4r.urls.canonical import as_seed, canonicalize, has_scheme, with_scheme


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.org", "https://example.org/"),
        ("  example.org/path ", "https://example.org/path"),
        ("example.org?q=1", "https://example.org/?q=1"),
        ("example.org/a:b@c", "https://example.org/a:b@c"),
        ("localhost:8000", "https://localhost:8000/"),
        ("127.0.0.1:8000/a", "https://127.0.0.1:8000/a"),
        ("[::1]:8000", "https://[::1]:8000/"),
        ("http:8000", "https://http:8000/"),
        ("example.org:81/?to=http://a/", "https://example.org:81/?to=http://a/"),
        ("HTTP://example.org", "http://example.org/"),
    ],
)
def test_a_url_may_be_typed_without_a_scheme(typed: str, url: str) -> None:
    assert canonicalize(as_seed(typed)) == canonicalize(with_scheme(typed)) == url
    assert has_scheme(typed) == typed.startswith("HTTP:")


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("mailto:x", "scheme"),
        ("mailto:x@example.org", "scheme"),
        ("foo:bar", "scheme"),
        ("tel:112", "scheme"),
        ("ftp://a/", "scheme"),
        ("C:\\x", "scheme"),
        ("", "host"),
        ("/etc/passwd", "host"),
        ("//example.org/", "host"),
        ("http:", "host"),
        ("http://", "host"),
        ("http:///x", "host"),
        ("http:/x", "host"),
        ("http://./", "host"),
        ("a..b", "host"),
        ("http://a b/", "unparsable"),
        ("http://[::1", "unparsable"),
        ("localhost:99999", "unparsable"),
        ("http://user:hunter2@h/", "credentials"),
        ("user:hunter2@h/x", "credentials"),
        ("ftp://user:hunter2@h/", "credentials"),
        ("http://h/" + "x" * 9000, "too-long"),
    ],
)
def test_what_is_no_url_to_crawl_from_is_refused_with_the_reason(typed: str, reason: str) -> None:
    with pytest.raises(InvalidUrl) as refusal:
        canonicalize(as_seed(typed))
    assert refusal.value.reason == reason
    assert "hunter2" not in str(refusal.value)
    assert "not a URL that can be crawled: " in str(refusal.value)


def test_a_name_and_a_password_do_no_harm_where_nothing_is_fetched() -> None:
    """A link may hold them, and be pasted into `why` as it was found."""
    assert canonicalize(with_scheme("http://user:secret@h/")) == "http://h/"
