"""XML as a stream of elements, with what is dangerous in it refused.

No document type, and so no entities, no external references, no bombs made of them. Prefixes need
not be declared: files in the wild forget to. A file that breaks keeps what came before the break.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol
from xml.parsers import expat

_MOST_ELEMENTS = 1_000_000
_DEEPEST = 256
_MOST_TEXTS = 16  # that one element's text is looked at in: the parser's are of 8 KiB
# Bytes of one tag or comment. The parser reads an unfinished one again with every piece, and a tag
# can hold as many attributes as fit into it.
_LONGEST_TOKEN = 1024 * 1024

# Possessive, so that no text can make it try twice.
_LEADING = re.compile(r"(?:[\s\ufeff]++|<!--.*?-->)*+", re.DOTALL)
_PROLOG = re.compile(r"(?:[\s\ufeff]++|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
_TAG = re.compile(r"<(!?[^\s<>/\[!?]{1,100})(?:\s{1,100}([\w:.-]{1,40}))?")
_HTML = frozenset(
    ["!doctype html", "html", "head", "body", "title", "meta", "script", "style", "link", "div"]
    + ["p", "br", "b", "h1", "h2", "center", "table", "font", "pre"]
)
_BREAKS_OFF = frozenset(
    expat.errors.codes[text]
    for text in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


class Stop(Exception):
    """Raised by a reader that has seen enough; the text says why, or is empty when all is well."""


class ElementReader(Protocol):
    """Is told of elements, all names in lower case with the prefix as it stands in the file."""

    def opens(self, name: str, attributes: Mapping[str, str], path: Sequence[str]) -> None:
        """An element begins; `path` holds those around it, the root first."""

    def closes(self, name: str, text: str, path: Sequence[str]) -> None:
        """It ends. `text` is what stood in it since its last child, without white space around it."""


def local(name: str) -> str:
    """The name without its prefix."""
    return name.rpartition(":")[2] if ":" in name else name


def root_of(head: str) -> str:
    """The first tag's name in lower case, `!doctype html` for a document type, or an empty string."""
    match = _TAG.match(head, _PROLOG.match(head).end())  # type: ignore[union-attr]
    if match is None:
        return ""
    name, kind = match.group(1).lower(), (match.group(2) or "").lower()
    return f"{name} {kind}" if name.startswith("!") else name


def is_html(root: str) -> bool:
    return root in _HTML


def joined(*problems: str) -> str:
    """Several problems in one line; those that are none are left out."""
    return "; ".join(problem for problem in problems if problem)


def walk(head: str, rest: Iterable[str], reader: ElementReader) -> str:
    """Show a file to `reader`: its first piece of text, then the others.

    Returns what was wrong with it, or an empty string.
    """
    telling = _Telling(reader)
    # White space or a comment before the declaration is common and not allowed.
    head = head[_LEADING.match(head).end() :]  # type: ignore[union-attr]
    try:
        telling.feed(head)
        for piece in rest:
            telling.feed(piece)
        telling.end()
    except expat.ExpatError as problem:
        if problem.code in _BREAKS_OFF:
            return "the file ends too early"
        return f"broken in line {problem.lineno}: {expat.ErrorString(problem.code)}"
    except Stop as stop:
        return str(stop)
    return ""


class _Telling:
    """One parser, and what it tells the reader."""

    def __init__(self, reader: ElementReader) -> None:
        self._reader = reader
        self._path: list[str] = []
        self._text: list[str] = []
        self._elements = 0
        self._fed = 0
        # The text is decoded already, whatever its declaration says. Without a table of names, for
        # every name in a file can be another.
        parser = expat.ParserCreate("utf-8", intern=None)
        parser.buffer_text = True
        parser.StartElementHandler = self._opens
        parser.EndElementHandler = self._closes
        parser.CharacterDataHandler = self._says
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parser.EntityDeclHandler = _refuse_entity
        parser.ExternalEntityRefHandler = _refuse_entity
        self._parser = parser

    def feed(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self._parser.Parse(data, False)
        self._fed += len(data)
        if self._fed - max(0, self._parser.CurrentByteIndex) > _LONGEST_TOKEN:
            raise Stop("a single tag or comment of more than 1 MiB")

    def end(self) -> None:
        self._parser.Parse(b"", True)

    def _opens(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > _MOST_ELEMENTS:
            raise Stop(f"more than {_MOST_ELEMENTS:,} elements: the rest was left out")
        if len(self._path) == _DEEPEST:
            raise Stop(f"nested deeper than {_DEEPEST} elements")
        name = name.lower()
        self._reader.opens(name, attributes, self._path)
        self._path.append(name)
        self._text = []

    def _closes(self, _: str) -> None:
        name = self._path.pop()
        self._reader.closes(name, "".join(self._text).strip(), self._path)
        self._text = []

    def _says(self, text: str) -> None:
        if len(self._text) < _MOST_TEXTS:
            self._text.append(text)


def _refuse_doctype(*_: object) -> None:
    raise Stop("a document type is refused: it is where entity bombs are made")


def _refuse_entity(*_: object) -> int:
    raise Stop("entities and external references are refused")
