"""Two readings of RFC 9309 agree wherever the RFC leaves no choice (G3)."""

from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from crawl4r.urls.robots import RobotsFile
from tests.properties import steady

# No name is the beginning of another (protego matches by prefix), no `$` stands inside a pattern,
# and `index.html` cannot be spelled (protego gives it a meaning of its own).
AGENTS = ["*", "crawlr", "otherbot", "Third-Bot"]
pieces = st.sampled_from(
    ["a", "b", "ab", "/", "*", ".", "-", "~", "_", "%C3%A9", "%2F", "é", "?a=b"]
)
patterns = st.builds(
    "/{}{}".format, st.lists(pieces, max_size=5).map("".join), st.sampled_from(["", "", "$"])
)
plain = st.sampled_from(["a", "b", "ab", "/", ".", "-", "~", "_", "%C3%A9", "%2F"])
paths = st.builds(
    "/{}{}".format,
    st.lists(plain, max_size=6).map("".join),
    st.sampled_from(["", "", "?a=b", "?b"]),
)
rule = st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow", "disallow"]), patterns)
group = st.builds(
    lambda agents, rules: [*(f"User-agent: {agent}" for agent in agents), *rules],
    st.lists(st.sampled_from(AGENTS), min_size=1, max_size=2, unique=True),
    st.lists(st.one_of(rule, st.just("Disallow:"), st.just("# a comment")), min_size=1, max_size=5),
)
files = st.lists(group, max_size=4).map(lambda groups: [line for group in groups for line in group])


@steady
@given(files, paths, st.sampled_from(["crawlr", "otherbot", "Third-Bot", "unnamed"]))
@example(["User-agent: *", "Disallow: /a*b$"], "/aab/ab", "crawlr")
@example(["User-agent: crawlr", "Allow: /a", "Disallow: /*a"], "/a", "crawlr")
@example(["User-agent: *", "Disallow:"], "/", "crawlr")
def test_both_give_the_same_answer(lines: list[str], path: str, agent: str) -> None:
    text = "\n".join(lines)
    ours = RobotsFile(text).judge(path, (agent,)).allowed
    theirs = Protego.parse(text).can_fetch("https://e.org" + path, agent)
    assert ours == theirs, text


@steady
@given(st.text("aab/*", max_size=7), st.sampled_from(["", "$"]), st.text("aab/", max_size=8))
def test_both_match_the_same_paths(pattern: str, end: str, path: str) -> None:
    text = f"User-agent: *\nDisallow: /{pattern}{end}"
    ours = RobotsFile(text).judge("/" + path, ("crawlr",)).allowed
    assert ours == Protego.parse(text).can_fetch("https://e.org/" + path, "crawlr")


@steady
@given(files, st.sampled_from(["\n", "\r\n", "\r"]), paths)
def test_line_endings_and_comments_change_no_answer(
    lines: list[str], newline: str, path: str
) -> None:
    noisy = newline.join(f"  {line}\t# {number}" for number, line in enumerate(lines))
    for agent in ("crawlr", "unnamed"):
        plain_ruling = RobotsFile("\n".join(lines)).judge(path, (agent,))
        assert RobotsFile(b"\xef\xbb\xbf" + noisy.encode()).judge(path, (agent,)) == plain_ruling


@steady
@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_bytes_and_no_path_can_break_it(body: bytes, path: str) -> None:
    file = RobotsFile(b"User-agent: *\n" + body)
    file.judge("/" + path, ("crawlr",))
    file.crawl_delay(("crawlr",))


@steady
@given(st.lists(patterns, max_size=5), paths)
def test_a_file_that_only_allows_forbids_nothing(allowed: list[str], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"Allow: {pattern}\n" for pattern in allowed)
    assert RobotsFile(text).judge(path, ("crawlr",)).allowed


copied = st.lists(
    st.sampled_from(["a", "b", "/", "=", "?", "%2F", "%2f", "%C3%A9", "é"]), max_size=8
)


@steady
@given(copied, st.integers(0, 8))
@example(["?", "a", "=", "%2F"], 1)
def test_a_pattern_forbids_the_path_it_was_copied_from(pieces: list[str], cut: int) -> None:
    """Whole, and with any part of its beginning replaced by a star."""
    path = "/" + "".join(pieces)
    for pattern in (path, path + "$", "/*" + "".join(pieces[cut:])):
        text = f"User-agent: *\nDisallow: {pattern}"
        assert not RobotsFile(text).judge(path, ("crawlr",)).allowed, text
