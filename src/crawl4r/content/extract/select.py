"""Elements of a page by CSS selectors, for who collects fields instead of texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from turbohtml import Element as Node
from turbohtml import SelectorSyntaxError

from crawl4r.formats.charset import as_utf8, guess_encoding, load_codecs
from crawl4r.formats.html import parse_html

_MOST = 10_000  # elements
_LONGEST = 100_000  # characters of a text or an attribute
_ATTRIBUTE = "::attr("  # behind a selector: this attribute instead of the text


class Element(NamedTuple):
    """One element that a selector matched."""

    tag: str
    text: str
    attributes: dict[str, str]


class Selected(NamedTuple):
    """What selectors found; `problem` says what is wrong with one of them."""

    elements: list[Element]
    records: list[dict[str, str]]  # by the names of the fields, one for each element
    problem: str = ""


def select(html: bytes, css: str, fields: Mapping[str, str]) -> Selected:
    """The elements that match, and of each the fields: the first match below it, empty without one."""
    try:
        nodes = parse_html(html).select(css)[:_MOST]
        if not fields:
            return Selected([_element(node) for node in nodes], [])
        return Selected([], [_record(node, fields) for node in nodes])
    except SelectorSyntaxError as problem:
        return Selected([], [], str(problem))


def _element(node: Node) -> Element:
    attributes = {name: (node.attr(name) or "")[:_LONGEST] for name in node.attrs}
    return Element(node.tag, _text(node), attributes)


def _record(node: Node, fields: Mapping[str, str]) -> dict[str, str]:
    return {name: _field(node, selector) for name, selector in fields.items()}


def _field(node: Node, selector: str) -> str:
    css, _, attribute = selector.partition(_ATTRIBUTE)
    found = node.select_one(css) if css.strip() else node
    if found is None:
        return ""
    if attribute:
        return (found.attr(attribute.rstrip(") ").strip("\"'")) or "")[:_LONGEST]
    return _text(found)


def _text(node: Node) -> str:
    return " ".join(node.text.split())[:_LONGEST]


def make_selector(config: object) -> Callable[[Mapping[str, Any], bytes], Selected]:
    """The sandbox's entry: `({content_type, css, fields}, body) -> selected`."""
    load_codecs()

    def run(head: Mapping[str, Any], body: bytes) -> Selected:
        html = as_utf8(body, guess_encoding(body, head["content_type"]))
        return select(html, head["css"], head["fields"])

    return run
