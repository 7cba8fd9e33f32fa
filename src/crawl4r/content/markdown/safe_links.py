"""Links that a reader of our markdown may follow: http, https, mailto, and those without a scheme.

Anything else (`javascript:`, `data:`, `file:`, `tel:` ...) keeps its words and loses its target where
HTML becomes markdown. In a text that already is markdown the target stays readable behind `unsafe:`, a
scheme that no program opens.
"""

from __future__ import annotations

import re
from html import unescape

from turbohtml import Element

_HARMLESS = "unsafe"  # what a target that was already made harmless begins with
_ALLOWED = frozenset(["http", "https", "mailto", _HARMLESS])
# Where a definition or an autolink may as well be plain words (`[note]: see: below`, `<urn:isbn:1>`).
_RUN_OR_READ = frozenset(
    ["javascript", "vbscript", "livescript", "mocha", "data", "file", "blob", "filesystem"]
    + ["view-source", "jar", "mhtml", "ms-its", "res", "about"]
)
# What is left of most pages' links once they are absolute: none.
_SUSPECT = 'a[href]:not([href^="http://"],[href^="https://"])'
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LEADING = "".join(map(chr, range(0x21)))  # browsers strip controls and spaces in front ...
_ANYWHERE = {ord(sign): None for sign in "\t\n\r"}  # ... and these wherever they stand
_LONGEST_SCHEME = 200  # characters of a target that are looked at: escapes make a scheme longer
# The target of an inline link or image, of a definition, or in angle brackets.
_TARGET = re.compile(
    r"(?P<before>(?P<inline>\]\()\s*<?|\]:\s*<?|<(?=[^\s<>]*>))"
    rf"(?P<target>[^\s<>]{{1,{_LONGEST_SCHEME}}})"
)


def unlink_unsafe(body: Element) -> None:
    """Take the target from every link of a tree that must not be followed; its words stay."""
    for link in body.select(_SUSPECT):
        if not is_safe(link.attr("href") or ""):
            del link.attrs["href"]


def without_unsafe_links(markdown: str) -> str:
    """The same text, in which no link leads to where it must not, also within code."""
    if ":" not in markdown and "&" not in markdown:
        return markdown
    return _TARGET.sub(_defused, markdown)


def is_safe(target: str) -> bool:
    """Whether a link may lead there, however a page or markdown spells it."""
    scheme = _scheme_of(target)
    return not scheme or scheme in _ALLOWED


def _defused(found: re.Match[str]) -> str:
    before, target = found["before"], found["target"]
    is_bad = not is_safe(target) if found["inline"] else _scheme_of(target) in _RUN_OR_READ
    return f"{before}{_HARMLESS}:{target}" if is_bad else found[0]


def _scheme_of(target: str) -> str:
    """In lower case, as a browser reads it; empty for a target that has none.

    Markdown resolves entities and backslashes in targets, so `java&#115;cript\\:` is a scheme too.
    """
    start = _ESCAPE.sub(r"\1", unescape(target[:_LONGEST_SCHEME]))
    found = _SCHEME.match(start.translate(_ANYWHERE).lstrip(_LEADING))
    return found[1].lower() if found else ""
