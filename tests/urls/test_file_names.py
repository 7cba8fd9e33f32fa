"""A URL is one path of a file, a path is one URL, and every file system can hold it."""

import re
import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.urls.file_names import file_of

RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
PARTS = st.one_of(
    st.sampled_from(["a", "A", "a.md", "index", "con", "AUX.txt", "..", ".", "", "a.", "x" * 300]),
    st.sampled_from(["a-" + "a" * 21, "+deep", "~", "-rf", "%2e%2e", "caf%C3%A9", "cafe%CC%81"]),
    st.text("aAbB.-_~%012", max_size=12),
    st.text(max_size=8),
)
HOSTS = st.sampled_from(
    ["e.org", "e.org:8080", "[::1]", "[1::]", "[::1]:8080", "example.md", "e.org+http", "aux.org"]
)


def urls() -> st.SearchStrategy[str]:
    paths = st.lists(PARTS, min_size=1, max_size=20).map("/".join)
    queries = st.one_of(st.just(""), st.text("ab=&", max_size=5).map("?{}".format))
    schemes = st.sampled_from(["http", "https"])
    return st.builds("{}://{}/{}{}".format, schemes, HOSTS, paths, queries)


def folded(path: PurePosixPath) -> str:
    """As a file system compares names that minds neither case nor composition."""
    return unicodedata.normalize("NFD", str(path)).casefold()


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://e.org/", "e.org/index.md"),
        ("https://e.org/a/b.html", "e.org/a/b.html.md"),
        ("https://e.org/a/", "e.org/a/index.md"),
        ("https://e.org:8443/a", "e.org+8443/a.md"),
        ("http://e.org/a", "e.org+http/a.md"),
        ("http://e.org:8080/a", "e.org+http+8080/a.md"),
        ("https://example.md/a_b-c.d", "example.md/a_b-c.d.md"),
    ],
)
def test_an_ordinary_url_is_read_in_its_path(url: str, path: str) -> None:
    assert str(file_of(url)) == path


def test_what_is_not_ordinary_is_still_readable() -> None:
    assert file_of("https://e.org/About?x=1").name.startswith("About_x=1-")
    assert file_of("https://e.org/%E6%97%A5%E6%9C%AC").name.startswith("日本-")
    deep = file_of("https://e.org/" + "a/" * 1000 + "end")
    assert deep.parts[:2] == ("e.org", "+deep") and deep.name.startswith("end-")


@given(st.lists(urls(), min_size=2, max_size=30, unique=True))
def test_no_two_urls_share_a_path_and_no_file_is_a_folder_of_another(found: list[str]) -> None:
    paths = {url: file_of(url) for url in found}
    files = {folded(path) for path in paths.values()}
    assert len(files) == len(found)
    folders = {folded(parent) for path in paths.values() for parent in path.parents}
    assert not files & folders


@given(urls())
def test_every_name_can_be_made_everywhere(url: str) -> None:
    path = file_of(url)
    assert not path.is_absolute() and len(str(path)) <= 260
    assert path.suffix == ".md"
    for name in path.parts:
        assert 0 < len(name.encode()) <= 143  # what encrypted folders take
        assert name not in {".", ".."} and name[0] not in ".-~" and name[-1] not in ". "
        assert not RESERVED.fullmatch(name)
        assert not set(name) & set('<>:"/\\|?*%') and name.isprintable()
        name.encode()
