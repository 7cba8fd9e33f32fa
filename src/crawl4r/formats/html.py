"""HTML as a tree, by the rules that browsers share: the one place that calls the parser.

A page is parsed once, and links, verdict, metadata, pruning and markdown are all read from that tree.
"""

from __future__ import annotations

from turbohtml import Document, Element, parse


def parse_html(html: bytes | str) -> Document:
    """The tree of a page, without its templates; bytes are UTF-8.

    What stands in a template is no part of the page until a script puts it there, but the parser's
    queries and texts would show it.
    """
    tree = parse(html, encoding="utf-8")
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
