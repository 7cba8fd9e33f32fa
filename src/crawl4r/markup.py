"""HTML as a tree, by the rules that browsers share: the one place that calls the parser.

A page is parsed once, and links, verdict, metadata, pruning and markdown are all read from that tree.
"""

from __future__ import annotations

from time import thread_time

from turbohtml import Document, Element, IncrementalParser, parse

_PIECE = 8 * 1024  # bytes: in so many, few tags can ask for many nodes


class TakesLong(Exception):
    """A page is not parsed in the time it was given."""


def parse_html(html: bytes | str) -> Document:
    """The tree of a page, without its templates; bytes are UTF-8.

    What stands in a template is no part of the page until a script puts it there, but the parser's
    queries and texts would show it.
    """
    return _without_templates(parse(html, encoding="utf-8"))


def parse_html_within(html: bytes, seconds: float) -> Document:
    """The same tree; raises `TakesLong` when it needs more CPU than that.

    A third dearer: the parser gets the page piece by piece, and the clock is read between them.
    """
    parser = IncrementalParser(encoding="utf-8")
    end = thread_time() + seconds
    for start in range(0, len(html), _PIECE):
        parser.feed(html[start : start + _PIECE])
        if thread_time() > end:
            raise TakesLong
    return _without_templates(parser.close())


def _without_templates(tree: Document) -> Document:
    # By the parser's index of names, which everybody needs next: to look for one is a walk of its own.
    if tree.find_all("template"):
        tree.remove("template")
    return tree


def head_of(tree: Document) -> Element | None:
    return _part(tree, "head")


def body_of(tree: Document) -> Element | None:
    """None for a page of frames."""
    return _part(tree, "body")


def _part(tree: Document, tag: str) -> Element | None:
    for node in tree.root or ():
        if isinstance(node, Element) and node.tag == tag:
            return node
    return None


def spaced_text(node: Element) -> str:
    """All its text, with a blank wherever a tag stands between two pieces of it."""
    return " ".join(node.strings)
