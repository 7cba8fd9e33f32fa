"""robots.txt by RFC 9309: parse it, query it, and name the line that decided.

crawl4r has its own parser because `why` must name the line, and because a group must match the whole
product token (section 2.2.1), while the libraries accept a prefix. The tests compare it with protego
and with the RFC's own examples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from msgspec import Struct, field

MAX_BYTES = 512 * 1024  # RFC 9309 2.5 asks for at least 500 KiB
_TOKEN = re.compile(r"[A-Za-z_-]+")
_STARS = re.compile(r"\*+")
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


class _Spellings(NamedTuple):
    """A path or pattern in octets, in the two ways that RFC 9309 2.2.2 can be read.

    In a path `%2F` is no separator. In a query `%2F` may mean a slash or itself.
    """

    kept: bytes  # %2F stays everywhere
    loose: bytes  # %2F after a `?` is a slash


class _Rule(Struct):
    allows: bool
    text: str  # as the file has it
    line: int
    octets: int  # length of the unescaped pattern; the longest match wins
    parts: list[_Spellings]  # between the stars
    anchored: bool

    def matches(self, path: _Spellings) -> bool:
        return self._matches([part.kept for part in self.parts], path.kept) or self._matches(
            [part.loose for part in self.parts], path.loose
        )

    def _matches(self, parts: list[bytes], path: bytes) -> bool:
        """Match greedily in linear time: search each part once, left to right."""
        first, *rest = parts
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


class _Group(Struct):
    rules: list[_Rule] = field(default_factory=list)
    crawl_delay: float | None = None


class RobotsFile:
    """A parsed robots.txt. Parsing never fails: it skips lines that it cannot read."""

    def __init__(self, content: bytes | str) -> None:
        if isinstance(content, bytes):
            content = _within_cap(content).decode("utf-8-sig", "replace")
        self.sitemaps: list[str] = []
        self._groups: dict[str, _Group] = {}
        self._parse(content.removeprefix("\ufeff"))
        for group in self._groups.values():
            # The longest pattern wins and allow wins a tie (2.2.2), so the first match decides.
            group.rules.sort(key=lambda rule: (-rule.octets, not rule.allows))

    def judge(self, path: str, agents: Sequence[str]) -> RobotsRuling:
        """Rule on a path with its query. `agents` are our product tokens, the preferred one first."""
        if path == "/robots.txt":
            return RobotsRuling(True, "robots.txt itself is always allowed")
        group = self._group(agents)
        if group is None:
            return RobotsRuling(True, "no group for this agent")
        spelled = _spellings(path)
        for rule in group.rules:
            if rule.matches(spelled):
                name = "Allow" if rule.allows else "Disallow"
                return RobotsRuling(rule.allows, f"{name}: {rule.text}", rule.line)
        return RobotsRuling(True, "no rule matches")

    def judge_spellings(self, path: str, written: str, agents: Sequence[str]) -> RobotsRuling:
        """Rule on a path and on the spelling that a page used (or ""). A denial of either denies."""
        ruling = self.judge(path, agents)
        if written and ruling.allowed:
            as_written = self.judge(written, agents)
            if not as_written.allowed:
                return as_written._replace(rule=f"{as_written.rule}, for the link {written[:200]}")
        return ruling

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
        for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            key, value = _field(raw.partition("#")[0])
            if key is None:
                continue
            if key == "sitemap":  # belongs to no group and ends none
                self.sitemaps.append(value)
            elif key == "user-agent":
                current = current if naming_agents else []
                current.extend(self._groups_named(value))
                naming_agents = True
            elif key == "crawl-delay":  # not in the RFC: ends no list of agents (2.2.4)
                _set_delay(current, value)
            else:
                naming_agents = False
                _add(current, key == "allow", value, number)

    def _groups_named(self, value: str) -> list[_Group]:
        """Merge groups of the same agent (2.2.1): one object for each name."""
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


def _field(line: str) -> tuple[str | None, str]:
    """The name and value of a line. The colon may be missing; large search engines allow that too."""
    name, colon, value = line.partition(":")
    key = _FIELDS.get(name.strip().lower()) if colon else None
    if key is None and len(words := line.split()) == 2:
        name, value = words
        key = _FIELDS.get(name.lower())
    return key, value.strip()


def _within_cap(content: bytes) -> bytes:
    """Cut at a line end: half of `Disallow: /private/` would be `Disallow: /`."""
    if len(content) < MAX_BYTES:
        return content
    ends = (content.rfind(b"\n", 0, MAX_BYTES), content.rfind(b"\r", 0, MAX_BYTES))
    return content[: max(ends) + 1]


def _add(groups: list[_Group], allows: bool, value: str, line: int) -> None:
    if value:  # an empty Disallow forbids nothing
        rule = _rule(allows, value, line)
        for group in groups:
            group.rules.append(rule)


def _set_delay(groups: list[_Group], value: str) -> None:
    for group in groups:
        if group.crawl_delay is None:
            group.crawl_delay = _delay(value)


def _delay(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _rule(allows: bool, value: str, line: int) -> _Rule:
    """Stars and the final `$` are special; percent-escaped, they are plain characters (2.2.3)."""
    pattern = value if value.startswith(("/", "*")) else "/" + value
    anchored = pattern.endswith("$")
    texts = _STARS.split(pattern.removesuffix("$") if anchored else pattern)
    parts, in_query = [], False
    for text in texts:
        parts.append(_spellings(text, in_query))
        in_query |= "?" in text
    octets = sum(len(part.kept) for part in parts) + len(parts) - 1 + anchored
    return _Rule(allows, value, line, octets, parts, anchored)


def _spellings(text: str, in_query: bool = False) -> _Spellings:
    if "%" not in text:
        octets = text.encode("utf-8", "surrogatepass")
        return _Spellings(octets, octets)
    path, mark, query = ("", "", text) if in_query else text.partition("?")
    path = _keep_escaped_slashes(path)
    kept = _octets(path + mark + _keep_escaped_slashes(query))
    return _Spellings(kept, _octets(path + mark + query))


def _keep_escaped_slashes(text: str) -> str:
    return text.replace("%2F", "%252F").replace("%2f", "%252F")


def _octets(text: str) -> bytes:
    """The unescaped octets, to compare paths and patterns in one spelling (2.2.2)."""
    return unquote_to_bytes(text.encode("utf-8", "surrogatepass"))
