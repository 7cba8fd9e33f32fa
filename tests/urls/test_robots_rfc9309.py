"""RFC 9309's own examples, section by section (G3)."""

import pytest

from crawl4r.urls.robots import RobotsFile

SECTION_5_1 = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot

EOF
"""


def allowed(text: str | bytes, path: str, agent: str = "ExampleBot") -> bool:
    return RobotsFile(text).judge(path, (agent,)).allowed


@pytest.mark.parametrize(
    ("agent", "path", "expected"),
    [
        ("examplebot", "/publications/", True),
        ("examplebot", "/publications/a.html", True),
        ("examplebot", "/example/page.html", False),
        ("examplebot", "/picture.gif", False),
        ("examplebot", "/picture.gif?size=1", True),
        ("foobot", "/", False),
        ("foobot", "/publications/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/example/other.gif", False),
        ("barbot", "/example/page.html", False),
        ("barbot", "/picture.gif", True),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/example/", True),
        ("quxbot", "/example/page.html", True),
        ("quxbot", "/picture.gif", True),
    ],
)
def test_section_5_1_simple_example(agent: str, path: str, expected: bool) -> None:
    assert allowed(SECTION_5_1, path, agent) is expected


def test_section_5_2_longest_match() -> None:
    text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    assert not allowed(text, "/example/page/disallowed.gif", "foobot")
    assert allowed(text, "/example/page/allowed.gif", "foobot")


SECTION_2_2_1 = """
user-agent: ExampleBot
disallow: /foo
disallow: /bar

user-agent: ExampleBot
disallow: /baz
"""


@pytest.mark.parametrize("path", ["/foo", "/bar", "/baz"])
def test_section_2_2_1_groups_of_one_agent_are_merged(path: str) -> None:
    assert not allowed(SECTION_2_2_1, path)


def test_section_2_2_1_agents_are_matched_without_case() -> None:
    text = "User-agent: eXaMpLeBoT\nDisallow: /\n"
    assert not allowed(text, "/", "ExampleBot")
    assert not allowed(text, "/", "EXAMPLEBOT")


def test_section_2_2_1_another_groups_rules_are_not_ours() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nAllow: /none\n"
    assert allowed(text, "/anything")
    assert not allowed(text, "/anything", "OtherBot")


def test_section_2_2_1_without_a_group_everything_is_allowed() -> None:
    text = "User-agent: OtherBot\nDisallow: /\n"
    assert allowed(text, "/anything")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
    ],
)
def test_section_2_2_2_table_of_encodings(pattern: str, path: str) -> None:
    text = f"User-agent: *\nDisallow: {pattern}\n"
    assert not allowed(text.encode(), path)


def test_section_2_2_2_paths_are_matched_with_case() -> None:
    text = "User-agent: *\nDisallow: /Private\n"
    assert allowed(text, "/private")
    assert not allowed(text, "/Private")


@pytest.mark.parametrize("order", [("Allow", "Disallow"), ("Disallow", "Allow")])
def test_section_2_2_2_allow_wins_between_equal_rules(order: tuple[str, str]) -> None:
    text = "User-agent: *\n" + "".join(f"{name}: /page\n" for name in order)
    assert allowed(text, "/page")


def test_section_2_2_2_robots_txt_is_always_allowed() -> None:
    assert allowed("User-agent: *\nDisallow: /\n", "/robots.txt")


SECTION_2_2_3 = """
User-Agent: *
Disallow: /path/file-with-a-%2A.html
Disallow: /path/foo-%24
Disallow: /this/path/exactly$
Disallow: /this/*/end  # a comment
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/path/file-with-a-*.html", False),
        ("/path/file-with-a-%2A.html", False),
        ("/path/file-with-a-b.html", True),
        ("/path/foo-$", False),
        ("/path/foo-", True),
        ("/this/path/exactly", False),
        ("/this/path/exactly/not", True),
        ("/this/one/or/two/end", False),
        ("/this/one/or/two/en", True),
    ],
)
def test_section_2_2_3_special_characters(path: str, expected: bool) -> None:
    assert allowed(SECTION_2_2_3, path) is expected


def test_section_2_2_4_other_records_end_no_group() -> None:
    text = (
        "User-agent: ExampleBot\n"
        "Sitemap: https://e.org/sitemap.xml\n"
        "Host: e.org\n"
        "Crawl-delay: 5\n"
        "User-agent: OtherBot\n"
        "Disallow: /\n"
    )
    assert not allowed(text, "/", "ExampleBot")


def test_section_2_2_4_a_sitemap_between_agents_ends_no_group() -> None:
    text = "User-agent: ExampleBot\nSitemap: /s.xml\nUser-agent: OtherBot\nDisallow: /\n"
    assert not allowed(text, "/", "ExampleBot")


def test_section_2_5_every_rule_in_the_first_500_kib_counts() -> None:
    filler = "User-agent: OtherBot\n" + "Disallow: /a\n" * 30_000
    text = filler + "User-agent: ExampleBot\nDisallow: /\n"
    assert len(text) < 500 * 1024
    assert not allowed(text.encode(), "/")
