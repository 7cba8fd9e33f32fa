"""May we visit this URL, what kind of page is it, and which rule says so?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from crawl4r.errors import InvalidUrl, SettingsError
from crawl4r.urls.canonical import canonicalize, host_of_netloc, split
from crawl4r.urls.patterns import compile_pattern

_NO_ALLOW = "no allow pattern matches"
_NO_PAGE_TYPE = "no page type matches"
_DENIED_HOST = "denied host "
_FOREIGN_HOST = re.compile("host (.+) is not in scope")


class Ruling(NamedTuple):
    """The decision of the scope about a URL, with the rule that made it."""

    admitted: bool
    rule: str
    page_type: str = ""
    groups: Sequence[str] = ()


class GroupCap(Struct, frozen=True):
    """At most `maximum` URLs for each distinct text that `pattern` captures (its first group)."""

    name: str
    pattern: str
    maximum: int
    ignore_case: bool = False  # of the captured text, for sites that ignore case


class ScopeRules(Struct, frozen=True):
    """The scope as data; `Scope` is its compiled form. It crosses to the reading process as JSON."""

    hosts: Sequence[str] = ()  # host or host:port; empty admits every host
    include_subdomains: bool = False
    denied_hosts: Sequence[str] = ()  # these and everything below them
    allow: Sequence[str] = ()  # when given, one must match
    deny: Sequence[str] = ()
    page_types: Mapping[str, str] | None = None
    only_page_types: bool = False  # refuse URLs that match no page type
    caps: Sequence[GroupCap] = ()


class Scope:
    """Judges canonical URLs. Patterns are searched in the whole URL, deny before allow."""

    def __init__(self, rules: ScopeRules) -> None:
        self.rules = rules
        self._hosts = frozenset(_spell_all(rules.hosts, "scope.hosts"))
        self._denied_hosts = _spell_all(rules.denied_hosts, "scope.denied_hosts")
        self._allow = _compile_all(rules.allow, "scope.allow")
        self._deny = _compile_all(rules.deny, "scope.deny")
        self._page_types = [
            (name, compile_pattern(pattern, f"scope.page_types.{name}"))
            for name, pattern in (rules.page_types or {}).items()
        ]
        self._caps = [
            (cap, compile_pattern(cap.pattern, f"limits.groups.{cap.name}.per"))
            for cap in rules.caps
        ]

    def judge(self, url: str) -> Ruling:
        """Admit or refuse a canonical URL. The ruling names the rule in both cases."""
        if refusal := self._refusal_of_host(split(url).netloc):
            return Ruling(False, refusal)
        for pattern, expression in self._deny:
            if expression.search(url):
                return Ruling(False, f"deny {pattern}")
        allowed_by = self._allowed_by(url)
        if allowed_by is None:
            return Ruling(False, _NO_ALLOW)
        page_type = self.page_type(url)
        if not page_type and self.rules.only_page_types:
            return Ruling(False, _NO_PAGE_TYPE)
        return Ruling(True, allowed_by, page_type, self.groups(url))

    def still_says(self, rule: str, before: ScopeRules) -> bool:
        """Whether these rules refuse every URL that `rule` refused under the rules `before`."""
        rules = self.rules
        kind, _, about = rule.partition(" ")
        if kind == "deny":
            return about in rules.deny
        if rule == _NO_ALLOW:
            return bool(rules.allow) and set(rules.allow) <= set(before.allow)
        if rule == _NO_PAGE_TYPE:
            return rules.only_page_types and rules.page_types == before.page_types
        if rule.startswith(_DENIED_HOST):
            return rule.removeprefix(_DENIED_HOST) in self._denied_hosts
        if match := _FOREIGN_HOST.fullmatch(rule):
            return self._refusal_of_host(match[1]) is not None
        return False

    def page_type(self, url: str) -> str:
        """The first page type whose pattern matches, or an empty string."""
        return next((name for name, pattern in self._page_types if pattern.search(url)), "")

    def groups(self, url: str) -> Sequence[str]:
        """The keys (`cap-name captured-text`) of the caps that this URL counts against."""
        if not self._caps:
            return ()
        keys = []
        for cap, pattern in self._caps:
            if match := pattern.search(url):
                text = (match.group(1) or "") if match.groups() else ""
                keys.append(f"{cap.name} {text.lower() if cap.ignore_case else text}".rstrip())
        return keys

    def _allowed_by(self, url: str) -> str | None:
        if not self._allow:
            return "host in scope" if self._hosts else "no host limit"
        return next((f"allow {text}" for text, pattern in self._allow if pattern.search(url)), None)

    def _refusal_of_host(self, netloc: str) -> str | None:
        host = host_of_netloc(netloc)
        for denied in self._denied_hosts:
            if denied in {host, netloc} or host.endswith("." + denied):
                return f"{_DENIED_HOST}{denied}"
        if not self._hosts or netloc in self._hosts:
            return None
        if self.rules.include_subdomains and any(
            parent in self._hosts for parent in _parents(netloc)
        ):
            return None
        return f"host {netloc} is not in scope"


def _spell_all(hosts: Sequence[str], key: str) -> list[str]:
    """Hosts as canonical URLs spell them; `https://e.org/` and `e.org:443` mean e.org."""
    return [_spell(host, f"{key}[{index}]") for index, host in enumerate(hosts)]


def _spell(host: str, key: str) -> str:
    try:
        url = canonicalize(host if "://" in host else f"http://{host.strip()}/")
    except InvalidUrl:
        raise SettingsError(key, f"{host!r} is not a host or host:port") from None
    return split(url).netloc.removesuffix(":443").removesuffix(":80")


def _parents(netloc: str) -> Iterator[str]:
    """`a.b.example:81` is below `b.example:81` and `example:81`."""
    while "." in netloc:
        netloc = netloc.partition(".")[2]
        yield netloc


def _compile_all(patterns: Iterable[str], key: str) -> list[tuple[str, Any]]:
    return [(text, compile_pattern(text, f"{key}[{index}]")) for index, text in enumerate(patterns)]
