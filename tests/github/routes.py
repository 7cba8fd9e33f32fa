"""Which path is what, and the answer to it. The tests hold the crawl against `kind_of`."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from tests.github import pages
from tests.github.repositories import (
    GONE,
    LANGUAGES,
    MEMBERS,
    OLD_NAME,
    REPOSITORIES,
    SECRET,
    TOPICS,
    Repository,
)

# In the style of a big site's file: other agents first, then many patterns, few of them prefixes.
ROBOTS = """\
# Write to us before you crawl.
User-agent: hastybot
Crawl-delay: 30
Disallow: /

User-agent: *
Disallow: /*/*/pulse
Disallow: /*/*/projects
Disallow: /*/*/forks
Disallow: /*/*/issues/new
Disallow: /*/*/commits/
Disallow: /*/*/branches
Disallow: /*/*/stargazers
Disallow: /*/*/network
Disallow: /*/tree/
Disallow: /*/archive/
Disallow: /*/blame/
Disallow: /*/raw/
Disallow: /gist/
Disallow: /*.git$
Disallow: /search$
Disallow: /*q=
Disallow: /*return_to=
Allow: /*?tab=readme-ov-file
"""
# For the tests: what the file above forbids among the pages that the profile would take.
FORBIDDEN = re.compile(r"/(?:tree|archive|blame|raw)/|\.git$")
_COOKIE = ("Set-Cookie", "visit=0123abcd; Path=/; Secure; HttpOnly; SameSite=Lax")


class Answer(NamedTuple):
    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html; charset=utf-8"


def kind_of(path: str) -> str:
    """The kind of page that lives at a path, or an empty string for a forbidden path."""
    first, _, rest = path.strip("/").partition("/")
    if first in {"topics", "trending"}:
        return {"topics": "topic", "trending": "trending"}[first] if "/" not in rest else ""
    if path in {OLD_NAME, GONE, MEMBERS, SECRET}:
        return "repo_root"
    root, tail = _split(_moved(path))
    repository = REPOSITORIES.get(root)
    if repository is None:
        return ""
    if not tail:
        return "repo_root"
    if tail in {"issues", "pulls"} or re.fullmatch(r"(?:issues|pull)/\d+", tail):
        return "issues" if tail.startswith("issues") else "pull"
    return "blob" if tail.startswith("blob/main/") else ""


def answer(target: str, etag: str | None) -> Answer:
    """The answer to a path with its query; 304 where `etag` is the page's own."""
    path, _, query = target.partition("?")
    if path == "/robots.txt":
        return Answer(200, ROBOTS.encode(), content_type="text/plain; charset=utf-8")
    if path.startswith(OLD_NAME):
        return _redirect(_moved(path), 301)
    if path == SECRET:
        return _redirect(f"/login?return_to={quote(path, safe='')}", 302)
    body = _body(path)
    if body is None:
        return Answer(404, pages.missing_page(), (_COOKIE,))
    own = f'W/"{hashlib.sha256(body + query.encode()).hexdigest()[:32]}"'
    if etag == own:
        return Answer(304, headers=(("ETag", own), _COOKIE))
    headers = (("ETag", own), ("Cache-Control", "max-age=0, private, must-revalidate"), _COOKIE)
    return Answer(200, body, headers)


def _redirect(where: str, status: int) -> Answer:
    return Answer(status, headers=(("Location", f"https://github.com{where}"), _COOKIE))


def _moved(path: str) -> str:
    return path.replace(OLD_NAME, "/lantern/kite", 1) if path.startswith(OLD_NAME) else path


def _split(path: str) -> tuple[str, str]:
    """`/Owner/name/and/the/Rest` as `/owner/name` and `and/the/Rest`."""
    parts = path.split("/", 3)
    return "/".join(parts[:3]).lower(), parts[3] if len(parts) > 3 else ""


def _body(path: str) -> bytes | None:
    first, _, rest = path.strip("/").partition("/")
    if first == "topics" and (not rest or rest in TOPICS):
        return pages.topic_page(rest) if rest else pages.topics_page()
    if first == "trending" and (not rest or rest in LANGUAGES):
        return pages.trending_page(rest)
    if path == MEMBERS or first == "login":
        return pages.wall_page()
    root, tail = _split(path)
    if repository := REPOSITORIES.get(root):
        return _body_of(repository, tail)
    return pages.owner_page(first) if not rest and first in _OWNERS else None


def _body_of(repository: Repository, tail: str) -> bytes | None:
    if not tail:
        return pages.repository_page(repository)
    word, _, rest = tail.partition("/")
    if tail in {"issues", "pulls"}:
        count = repository.issues if word == "issues" else repository.pulls
        return pages.list_page(repository, tail, count)
    if word in {"issues", "pull"} and rest.isdecimal():
        count = repository.issues if word == "issues" else repository.pulls
        return pages.talk_page(repository, word, int(rest)) if int(rest) <= count else None
    if tail.startswith("blob/main/"):
        file = unquote(tail.removeprefix("blob/main/"))
        known = file in repository.files or file in repository.mentioned
        return pages.blob_page(repository, file) if known else None
    # All other paths exist and answer, so that the log shows a request for them.
    return pages.list_page(repository, tail, 0)


_OWNERS = {repository.owner for repository in REPOSITORIES.values()}
