"""What found URLs change, by the rules of `SqliteFrontier.add`: decided in memory, one after another.

The rows that the URLs have already are read before, and the changed ones are written after, both in one
statement however many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from msgspec import Struct

from crawl4r.frontier.guesses import is_guessed
from crawl4r.model import GUESSED, Found, UrlState, Verdict, verdict_of

_OURS = frozenset([Verdict.OUT_OF_SCOPE, Verdict.CAPPED])  # refusals that may be taken back
Name = tuple[int, str]  # of a row: its crawl, and the key of its URL
Group = tuple[int, str]  # a crawl, and the name of a group of its URLs


class CrawlRules(Struct, frozen=True):
    """The options of a crawl that decide about its URLs."""

    priority: Callable[[int, float], float]  # by depth and score; lower is sooner
    caps: Mapping[str, int] = {}  # the maximum number of admitted URLs by cap name
    keeps_to_known: bool = False  # only kept pages are leased


class LinkMention(NamedTuple):
    """A found URL. `place` counts the visits of the unit."""

    crawl: int
    key: str
    place: int
    referrer: int | None
    found: Found

    @property
    def name(self) -> Name:
        return self.crawl, self.key


class UrlRow(Struct):
    """A row of `urls`; one without an id is new."""

    id: int | None
    values: dict[str, Any]  # by column
    change: str = ""  # again: it is pending by this mention; named: it is no guess any more


class Admitted(NamedTuple):
    """A URL that a mention made pending, with the groups that count it from now on."""

    mention: LinkMention
    groups: Sequence[str]


def key_of(url: str) -> str:
    """A name of fixed length for a URL, as the digits of a UUID."""
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def groups_to_lock(
    mentions: Sequence[LinkMention],
    rows: Mapping[Name, UrlRow],
    rules_of: Callable[[int], CrawlRules],
) -> set[Group]:
    """The groups whose caps may refuse one of these URLs."""
    return {
        (mention.crawl, group)
        for mention in mentions
        if mention.found.admitted and mention.found.groups
        if (row := rows.get(mention.name)) is None or _may_come_back(row)
        for group in mention.found.groups
        if group.partition(" ")[0] in rules_of(mention.crawl).caps
    }


def _may_come_back(row: UrlRow) -> bool:
    return row.values["state"] == UrlState.REFUSED and row.values["verdict"] in _OURS


class LinkChanges:
    """The rows of found URLs while mentions are applied to them."""

    def __init__(
        self,
        rows: dict[Name, UrlRow],
        counts: Mapping[Group, int],
        rules_of: Callable[[int], CrawlRules],
        now: float,
    ) -> None:
        """`counts` has the number of admitted URLs of each group that has a cap."""
        self._rows = rows  # by crawl and key
        self._counts = Counter(counts)
        self._rules_of = rules_of
        self._now = now
        self.admitted: list[Admitted] = []

    def of(self, change: str) -> list[UrlRow]:
        """The rows with this change, of those that are not new."""
        return [row for row in self._rows.values() if row.change == change]

    def new(self) -> list[UrlRow]:
        return [row for row in self._rows.values() if row.id is None]

    def apply(self, mention: LinkMention) -> None:
        item, row = mention.found, self._rows.get(mention.name)
        is_pending = row is not None and row.values["state"] == UrlState.PENDING
        is_counted = is_pending and bool(item.groups)
        refusal = self._refusal(mention, is_counted)
        if row is None:
            self._rows[mention.name] = UrlRow(None, self._values(mention, refusal))
        elif not refusal and (
            _may_come_back(row) or (is_pending and item.depth < row.values["depth"])
        ):
            row.values |= self._values_again(mention)
            row.change = "again" if row.id is not None else ""
        else:
            _name(row, mention)
            return
        if not refusal:
            groups = () if is_counted else item.groups
            self._counts.update((mention.crawl, group) for group in groups)
            self.admitted.append(Admitted(mention, groups))

    def _refusal(self, mention: LinkMention, is_counted: bool) -> tuple[Verdict, str] | None:
        item = mention.found
        if not item.admitted:
            return verdict_of(item.rule), item.rule
        if is_counted:  # a URL that counts already, with a smaller depth
            return None
        caps = self._rules_of(mention.crawl).caps
        for group in item.groups:
            maximum = caps.get(group.partition(" ")[0])
            if maximum is not None and self._counts[mention.crawl, group] >= maximum:
                return Verdict.CAPPED, f"cap of {maximum} reached for {group}"
        return None

    def _values_again(self, mention: LinkMention) -> dict[str, Any]:
        item = mention.found
        priority = self._rules_of(mention.crawl).priority(item.depth, item.score)
        return {
            "host": item.host,
            "state": UrlState.PENDING.value,
            "priority": priority,
            "depth": item.depth,
            "found_by": item.by,
            "referrer": mention.referrer,
            "rule": item.rule,
            "page_type": item.page_type,
            "written": item.written,
            "verdict": None,
            "reason": None,
        }

    def _values(self, mention: LinkMention, refusal: tuple[Verdict, str] | None) -> dict[str, Any]:
        item = mention.found
        values = self._values_again(mention) | {
            "crawl_id": mention.crawl,
            "key": mention.key,
            "url": item.url,
            "found_at": self._now,
            "nofollow": item.nofollow,
            "redirects": item.redirects,
        }
        if refusal:
            verdict, reason = refusal
            values |= {"state": UrlState.REFUSED.value, "verdict": verdict, "reason": reason}
        return values


def _name(row: UrlRow, mention: LinkMention) -> None:
    """A guess that a page names is no guess any more, unless it names itself."""
    item, values = mention.found, row.values
    if not item.admitted or item.by in GUESSED:
        return
    is_itself = row.id is not None and row.id == mention.referrer
    if not is_itself and is_guessed(values["found_by"], values["rule"]):
        values |= {"found_by": item.by, "referrer": mention.referrer, "rule": item.rule}
        row.change = row.change or ("named" if row.id is not None else "")
