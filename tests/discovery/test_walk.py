"""A whole site walked with nothing but the trap guard and speculation: all of it, and little else."""

from __future__ import annotations

import json
from collections import Counter, deque
from datetime import date

from crawl4r.discovery.links import Document
from crawl4r.discovery.pagination import find_pagination
from crawl4r.discovery.speculation import PageSeen, SiteBelief, Speculation
from crawl4r.discovery.traps import TrapGuard, TrapRules
from crawl4r.urls.canonical import canonicalize
from crawl4r.urls.patterns import compile_pattern
from tests.discovery.simulated_site import HOST, SECTIONS, Site

TODAY = date(2025, 11, 16)


class Walk:
    """A crawler without a network: breadth first, every URL once."""

    def __init__(self) -> None:
        self.site = Site()
        self.guard = TrapGuard(TrapRules(), TODAY)
        self.belief = SiteBelief()
        self.lists: dict[str, Speculation] = {}
        self.known: set[str] = set()
        self.queue: deque[str] = deque()
        self.fetched: list[str] = []
        self.refused: dict[str, str] = {}
        self.said: set[str] = set()
        self.tried: list[str] = []

    def find(self, url: str) -> bool:
        if url in self.known:
            return False
        self.known.add(url)
        if reason := self.guard.judge(url):
            self.refused[url] = reason
            return False
        self.guard.admit(url)
        self.queue.append(url)
        return True

    def run(self, *, with_restarts: bool = False) -> None:
        self.find(HOST + "/")
        while self.queue:
            assert len(self.fetched) < 20_000, "the walk does not end"
            url = self.queue.popleft()
            if reason := self.guard.recheck(url):
                self.refused[url] = reason
                continue
            self.visit(url)
            if with_restarts and len(self.fetched) % 50 == 0:
                self.restart()

    def restart(self) -> None:
        """Everything that is remembered goes through JSON, as over a crash."""
        plain = json.loads(json.dumps(self.guard.as_json()))
        self.guard = TrapGuard.from_json(plain, TrapRules(), TODAY)
        self.belief = SiteBelief.from_json(json.loads(json.dumps(self.belief.as_json())))
        self.lists = {
            key: Speculation.from_json(json.loads(json.dumps(one.as_json())), self.belief)
            for key, one in self.lists.items()
        }

    def visit(self, url: str) -> None:
        self.fetched.append(url)
        answer = self.site.get(url)
        document = Document(answer.html)
        links = [canonicalize(href, url) for href, _, _ in document.mentions]
        found = [link for link in links if self.find(link)]
        if answer.location:
            self.find(answer.location)
        is_new = bool(answer.text - self.said)
        self.said |= answer.text
        self.guard.observe(url, is_new, found)
        self.speculate(url, document, answer.status, answer.location, links, len(found))

    def speculate(
        self, url: str, document: Document, status: int, location: str, links: list[str], new: int
    ) -> None:
        pagination = find_pagination(document, url)
        if pagination.rule:
            rule = pagination.rule
            one = self.lists.setdefault(rule.key, Speculation(rule, self.belief))
            one.saw([page.number for page in pagination.pages])
        for one in self.lists.values():
            number = one.rule.number_of(url)
            if number is None:
                continue
            seen = PageSeen(status, location, links, new)
            if outcome := one.outcome_of(number, seen):
                one.record(number, outcome, seen)
            following = one.next_to_try()
            if following is not None and self.find(one.rule.url_of(following)):
                self.tried.append(one.rule.url_of(following))


def test_every_real_page_is_visited_and_few_others() -> None:
    walk = Walk()
    walk.run()
    real = walk.site.real_pages()
    assert real - set(walk.fetched) == set()
    wasted = [url for url in walk.fetched if url not in real]
    kinds = Counter(url.removeprefix(HOST).split("/")[1].partition("?")[0] for url in wasted)
    assert {url.partition("?")[0] for url in wasted if "/app/" in url} == {
        f"{HOST}/app/{n}" for n in range(1, SECTIONS + 1)
    }
    assert kinds["app"] <= 4 * SECTIONS
    assert kinds["calendar"] <= 60
    assert kinds["shop"] <= 200
    assert len(wasted) < len(real) / 3


def test_a_walk_that_is_restarted_all_the_time_is_the_same_walk() -> None:
    plain, restarted = Walk(), Walk()
    plain.run()
    restarted.run(with_restarts=True)
    assert restarted.fetched == plain.fetched
    assert restarted.refused == plain.refused


def test_pages_that_nobody_links_to_are_found_by_trying() -> None:
    walk = Walk()
    walk.run()
    hidden = {f"{HOST}/blog/page/{n}/" for n in range(3, 41)}
    assert hidden <= set(walk.tried)
    assert len(walk.tried) <= len(hidden) + 8  # one past the end of each list, or little more
    endings = {one.rule.key: one.reason for one in walk.lists.values()}
    assert "page 41 is not there" in endings[f"{HOST}/news?page={{n}}"]
    assert "page 41 repeats an earlier page" in endings[f"{HOST}/forum?f=1&start={{n}}"]
    assert "page 41 leads back" in endings[f"{HOST}/gallery/{{n}}"]
    assert "page 41 names nothing new" in endings[f"{HOST}/log?skip={{n}}"]


def test_what_is_suggested_to_be_excluded_are_the_traps_and_nothing_real() -> None:
    walk = Walk()
    walk.run()
    patterns = [
        compile_pattern(pattern, reason) for pattern, reason in walk.guard.suggest_excludes()
    ]
    assert any(pattern.search(f"{HOST}/calendar/2031/05/") for pattern in patterns)
    assert any(pattern.search(f"{HOST}/shop?color=red&size=m") for pattern in patterns)
    assert any(pattern.search(f"{HOST}/app/3?key=0123456789abcdef0123") for pattern in patterns)
    lists = {url for url in walk.site.real_pages() if "/calendar/" not in url}
    assert [url for url in lists if any(pattern.search(url) for pattern in patterns)] == []


def test_what_is_refused_is_refused_in_words() -> None:
    walk = Walk()
    walk.run()
    assert walk.refused
    kinds = ("a calendar without end", "dates more than a year ahead", "brought nothing new")
    kinds += ("the same page but for the session id", "is used up")
    assert [why for why in walk.refused.values() if not any(kind in why for kind in kinds)] == []
