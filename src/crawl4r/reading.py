"""One page's bytes to everything we learn from it. Pure, and run inside the sandbox.

Almost every link on a site was seen before. So the raw href is looked up first, and only a link that
is new here is parsed, spelled, judged by the scope and sent back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crawl4r.content.decode import decode, guess_encoding
from crawl4r.discovery.links import Document, Mention
from crawl4r.discovery.score import LinkScorer
from crawl4r.errors import InvalidUrl
from crawl4r.model import Found, FoundBy
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split
from crawl4r.urls.scope import GroupCap, Scope, ScopeRules

_SEEN_LINKS = 60_000  # in each of two generations
_MOST_LINKS = 10_000  # new ones from one page
_ANCHOR_CHARACTERS = 200
_SCHEMES = ("http:", "https:", "HTTP:", "HTTPS:")


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """Everything that decides what a page's links become."""

    scope: ScopeRules = field(default_factory=ScopeRules)
    canonical: CanonicalRules = field(default_factory=CanonicalRules)
    keywords: Sequence[str] = ()
    max_depth: int | None = None
    follow_nofollow: bool = True

    def as_json(self) -> dict[str, Any]:
        plain = asdict(self)
        for name in ("drop_params", "keep_params"):
            plain["canonical"][name] = sorted(plain["canonical"][name])
        return plain

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> ReadingRules:
        scope = dict(plain["scope"])
        scope["caps"] = [GroupCap(**cap) for cap in scope["caps"]]
        canonical = dict(plain["canonical"])
        for name in ("drop_params", "keep_params"):
            canonical[name] = frozenset(canonical[name])
        return ReadingRules(
            ScopeRules(**scope),
            CanonicalRules(**canonical),
            plain["keywords"],
            plain["max_depth"],
            plain["follow_nofollow"],
        )


class LinkJudge:
    """Turns a mention into a `Found`: spelled, judged, scored."""

    def __init__(self, rules: ReadingRules) -> None:
        self.rules = rules
        self._scope = Scope(rules.scope)
        self._scorer = LinkScorer(rules.keywords)

    def judge(
        self,
        href: str,
        base: str | None,
        depth: int,
        by: FoundBy,
        *,
        nofollow: bool = False,
        anchor: Callable[[], str] | None = None,
        redirects: int = 0,
    ) -> Found | None:
        """None when the text is no URL that could ever be fetched."""
        try:
            url = canonicalize(href, base, self.rules.canonical)
        except InvalidUrl:
            return None
        admitted, rule, page_type, groups = self._scope.judge(url)
        if admitted and self.rules.max_depth is not None and depth > self.rules.max_depth:
            admitted, rule = False, f"depth {depth} is past the limit of {self.rules.max_depth}"
        elif admitted and nofollow and not self.rules.follow_nofollow:
            admitted, rule = False, "nofollow"
        text = anchor() if anchor and self._scorer.reads_anchors else ""
        score = self._scorer.score(url, text)
        return Found(
            url,
            split(url).host,
            depth,
            by.value,
            admitted,
            rule,
            page_type,
            score,
            nofollow,
            groups,
            redirects,
        )


class Reader:
    """Reads pages one after the other and reports each link once for each depth it improves on."""

    def __init__(self, rules: ReadingRules) -> None:
        self._judge = LinkJudge(rules)
        self._seen: dict[str, int] = {}
        self._seen_before: dict[str, int] = {}

    def read(self, url: str, depth: int, content_type: str, body: bytes) -> dict[str, Any]:
        """The page's encoding, its robots directives and the links that are new."""
        encoding = guess_encoding(body, content_type)
        document = Document(body if encoding == "utf-8" else decode(body, encoding), url)
        found = self._new_links(document, depth + 1)
        return {
            "encoding": encoding,
            "noindex": document.noindex,
            "nofollow": document.nofollow,
            "found": found,
        }

    def _new_links(self, document: Document, depth: int) -> list[Found]:
        base = _base_of(document)
        prefixes = _Prefixes(base)
        found: list[Found] = []
        mentions = list(document.mentions())
        for mention in mentions:
            key = prefixes.key(mention.href)
            if key is None or self._was_seen(key, depth):
                continue
            item = self._judged(mention, base, depth, document.nofollow)
            if item is not None:
                found.append(item)
                if len(found) == _MOST_LINKS:
                    break
        return found

    def _judged(self, mention: Mention, base: str, depth: int, page_nofollow: bool) -> Found | None:
        anchor = mention.anchor
        # What a page calls its own address, or sends the reader on to, is no deeper than the page.
        is_same_page = mention.by in {FoundBy.CANONICAL, FoundBy.REFRESH}
        return self._judge.judge(
            mention.href,
            base,
            depth - 1 if is_same_page else depth,
            mention.by,
            nofollow=mention.nofollow or page_nofollow,
            anchor=(lambda: anchor.text()[:_ANCHOR_CHARACTERS]) if anchor else None,
        )

    def _was_seen(self, key: str, depth: int) -> bool:
        best = self._seen.get(key)
        if best is None:
            best = self._seen_before.get(key)
            if best is None or best > depth:
                self._remember(key, depth)
                return False
            self._remember(key, best)
            return True
        if best <= depth:
            return True
        self._seen[key] = depth
        return False

    def _remember(self, key: str, depth: int) -> None:
        if (
            len(self._seen) >= _SEEN_LINKS
        ):  # two generations: what is used survives, memory is bounded
            self._seen_before = self._seen
            self._seen = {}
        self._seen[key] = depth


class _Prefixes:
    """Text to put before a raw href so that equal keys mean equal URLs; nothing is resolved."""

    def __init__(self, base: str) -> None:
        address = base.partition("#")[0]
        self._page = address.partition("?")[0]
        parts = split(self._page)
        self._scheme = parts.scheme + ":"
        self._origin = parts.origin
        self._folder = self._page[: self._page.rindex("/") + 1]

    def key(self, href: str) -> str | None:
        """None for what leads nowhere: empty, a fragment, another scheme."""
        if not href:
            return None
        hash_at = href.find("#")
        if hash_at >= 0:
            href = href[:hash_at]
            if not href:
                return None
        first = href[0]
        if first == "/":
            return (self._scheme if href.startswith("//") else self._origin) + href
        if first == "?":
            return self._page + href
        colon = href.find(":")
        if colon > 0 and href[:colon].isalnum():
            return href if href.startswith(_SCHEMES) else self._odd_scheme(href, colon)
        return self._folder + href

    def _odd_scheme(self, href: str, colon: int) -> str | None:
        """`mailto:` leads nowhere; `hTTp:` and `page:2` are left to the parser."""
        scheme = href[:colon].lower()
        return None if scheme in _NOWHERE else self._folder + "\n" + href


_NOWHERE = frozenset(
    ["mailto", "javascript", "tel", "data", "ftp", "file", "about", "blob", "sms", "geo"]
    + ["callto", "skype", "whatsapp", "ws", "wss"]
)


def _base_of(document: Document) -> str:
    if not document.base_href:
        return document.url
    try:
        return canonicalize(document.base_href, document.url, _BASE_RULES)
    except InvalidUrl:
        return document.url


_BASE_RULES = CanonicalRules(drop_tracking=False, sort_params=False)


def make_reader(plain_rules: Mapping[str, Any]) -> Callable[[list[Any], bytes], dict[str, Any]]:
    """The sandbox's entry: `(head, body) -> reading`, with head as `[url, depth, content_type]`."""
    reader = Reader(ReadingRules.from_json(plain_rules))

    def read(head: list[Any], body: bytes) -> dict[str, Any]:
        url, depth, content_type = head
        return reader.read(url, depth, content_type, body)

    return read
