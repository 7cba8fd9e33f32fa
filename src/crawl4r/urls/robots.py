"""robots.txt by RFC 9309: parse it, ask it, and know which line answered.

Written here because `why` must name the line, and because a group must match the whole product
token (section 2.2.1), which the libraries relax to a prefix. The tests hold it against protego and
against the RFC's own examples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_BYTES = 512 * 1024  # RFC 9309 2.5 asks for at least 500 KiB
MAX_RULES = 20_000
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_NEVER_ESCAPED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_FIELDS = {
    "user-agent": "user-agent",
    "useragent": "user-agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "crawl-delay": "crawl-delay",
    "sitemap": "sitemap",
}


class RobotsRuling(NamedTuple):
    """Whether a path may be fetched, and the line of the file that decided (0: no line did)."""

    allowed: bool
    rule: str
    line: int = 0


@dataclass(slots=True)
class _Rule:
    allows: bool
    pattern: str
    line: int
    parts: list[str]
    anchored: bool

    def matches(self, path: str) -> bool:
        """Greedy and linear: each part is looked for once, left to right."""
        first, *rest = self.parts
        if not path.startswith(first):
            return False
        position = len(first)
        if not rest:
            return not self.anchored or position == len(path)
        last = rest[-1]
        for part in rest[:-1] if self.anchored else rest:
            found = path.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        return not self.anchored or (len(path) - len(last) >= position and path.endswith(last))


@dataclass(slots=True)
class _Group:
    rules: list[_Rule] = field(default_factory=list)
    crawl_delay: float | None = None


class RobotsFile:
    """A parsed robots.txt. Never fails to parse: what cannot be read is passed over."""

    def __init__(self, content: bytes | str) -> None:
        if isinstance(content, bytes):
            content = content[:MAX_BYTES].decode("utf-8-sig", "replace")
        self.sitemaps: list[str] = []
        self._groups: dict[str, _Group] = {}
        self._parse(content.removeprefix("\ufeff"))
        for group in self._groups.values():
            # The longest pattern wins and allow wins a tie (2.2.2), so the first match decides.
            group.rules.sort(key=lambda rule: (-len(rule.pattern), not rule.allows))

    def judge(self, path: str, agents: Sequence[str]) -> RobotsRuling:
        """Ask for a path with its query. `agents` are our product tokens, the first preferred."""
        if path == "/robots.txt":
            return RobotsRuling(True, "robots.txt itself is always allowed")
        group = self._group(agents)
        if group is None:
            return RobotsRuling(True, "no group for this agent")
        path = _normalize(path)
        for rule in group.rules:
            if rule.matches(path):
                name = "Allow" if rule.allows else "Disallow"
                return RobotsRuling(rule.allows, f"{name}: {rule.pattern}", rule.line)
        return RobotsRuling(True, "no rule matches")

    def crawl_delay(self, agents: Sequence[str]) -> float | None:
        """Seconds between requests that the site asks for, or None."""
        group = self._group(agents)
        return group.crawl_delay if group else None

    def _group(self, agents: Sequence[str]) -> _Group | None:
        for agent in agents:
            if group := self._groups.get(agent.lower()):
                return group
        return self._groups.get("*")

    def _parse(self, text: str) -> None:
        current: list[_Group] = []
        naming_agents = False
        rules = 0
        for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            name, colon, value = raw.partition("#")[0].partition(":")
            key = _FIELDS.get(name.strip().lower()) if colon else None
            value = value.strip()
            if key is None:
                continue
            if key == "sitemap":  # belongs to no group and ends none
                self.sitemaps.append(value)
            elif key == "user-agent":
                current = current if naming_agents else []
                current.extend(self._groups_named(value))
                naming_agents = True
            else:
                naming_agents = False
                rules += 1
                if rules <= MAX_RULES:
                    _add(current, key, value, number)

    def _groups_named(self, value: str) -> list[_Group]:
        """Groups of the same agent are merged (2.2.1): one object for each name."""
        if value.startswith("*"):
            names = ["*"]
        else:
            # `crawl4r` is no RFC token, yet a site that writes it means us: keep both readings.
            word = value.split("/", maxsplit=1)[0].split(" ", maxsplit=1)[0].lower()
            token = _TOKEN.match(value)
            names = list(
                dict.fromkeys(filter(None, [word, token.group().lower() if token else ""]))
            )
        return [self._groups.setdefault(name, _Group()) for name in names]


def _add(groups: list[_Group], key: str, value: str, line: int) -> None:
    if key == "crawl-delay":
        delay = _delay(value)
        for group in groups:
            group.crawl_delay = delay if group.crawl_delay is None else group.crawl_delay
    elif value:  # an empty Disallow forbids nothing
        rule = _rule(key == "allow", value, line)
        for group in groups:
            group.rules.append(rule)


def _delay(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _rule(allows: bool, value: str, line: int) -> _Rule:
    pattern = _normalize(value)
    if not pattern.startswith(("/", "*")):
        pattern = "/" + pattern
    anchored = pattern.endswith("$")
    parts = re.sub(r"\*+", "*", pattern.removesuffix("$") if anchored else pattern).split("*")
    return _Rule(allows, value, line, parts, anchored)


def _normalize(path: str) -> str:
    """One spelling of escapes on both sides of a comparison (2.2.2)."""
    if not path.isascii():
        path = "".join(c if c.isascii() else _escape(c) for c in path)
    return _ESCAPE.sub(_respell, path) if "%" in path else path


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _respell(match: re.Match[str]) -> str:
    character = chr(int(match.group()[1:], 16))
    return character if character in _NEVER_ESCAPED else match.group().upper()
