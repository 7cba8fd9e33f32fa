"""A page as a row of text blocks: one walk over the tree, without recursion.

A block is a run of text and inline elements directly inside one block-level element. The elements
around it are containers. Both are numbered in document order, so the blocks below a container are a
range, and their sums are differences of prefix sums.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_NODES = 200_000  # what lies beyond is not judged, and so removed
_FLAG_NAMES = (
    "nav header footer aside main article form table ul ol dl section blockquote figure details"
    " dialog button pre link hidden li noscript"
)
FLAGS = _FLAG_NAMES.split()

# An element that is not named here begins a block: custom elements mostly are sections.
_INLINE_TAGS = (
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark nobr"
    " picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr"
)
INLINE = frozenset(_INLINE_TAGS.split())
# Never text of the page: programs, drawings, and the controls of forms. A button may be the
# heading of a fold, and noscript all there is of a page; those are judged as blocks.
_JUNK_TAGS = (
    "script style template svg iframe select input textarea option datalist canvas audio"
    " video object embed map progress meter link meta title head"
)
_JUNK = frozenset(_JUNK_TAGS.split())
_FLAG = {name: 1 << number for number, name in enumerate(FLAGS)}
_TAG_FLAG = {name: bit for name, bit in _FLAG.items() if name not in ("link", "hidden")}
_ROLE_FLAG = {
    "navigation": _FLAG["nav"], "menu": _FLAG["nav"], "menubar": _FLAG["nav"],
    "banner": _FLAG["header"], "contentinfo": _FLAG["footer"], "complementary": _FLAG["aside"],
    "main": _FLAG["main"], "article": _FLAG["article"], "search": _FLAG["form"],
    "dialog": _FLAG["dialog"], "alertdialog": _FLAG["dialog"],
}  # fmt: skip
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def flag_bits(*names: str) -> int:
    """The bits of these FLAGS."""
    return sum(_FLAG[name] for name in names)


@dataclass(slots=True)
class Container:
    """A block-level element. Its blocks are `first` up to, not including, `last`."""

    node: LexborNode
    parent: int
    tag: str
    flags: int  # bits of FLAGS: its own and those of all around it
    classes: str
    names: str  # its class, id, role and itemprop
    depth: int
    first: int
    last: int = 0


@dataclass(slots=True)
class Block:
    """A run of text directly inside a container."""

    container: int
    nodes: list[LexborNode]  # its text nodes, blank ones too
    text: str
    linked: int  # characters of it inside links


@dataclass(slots=True)
class Page:
    """What one walk yields; no containers when there is no body."""

    title: str
    containers: list[Container]
    blocks: list[Block]
    junk: list[LexborNode]  # elements to remove whatever else is decided


class _Run:
    """The block that is being read."""

    def __init__(self) -> None:
        self.nodes: list[LexborNode] = []
        self.texts: list[str] = []
        self.linked = 0
        self.is_blank = True

    def add(self, node: LexborNode, in_link: bool) -> None:
        text = node.text_content or ""
        self.nodes.append(node)
        self.texts.append(text)
        if text and not text.isspace():
            self.is_blank = False
            if in_link:
                self.linked += len(text.strip())

    def close(self, container: int, blocks: list[Block]) -> None:
        """Append the run as a block of `container`, if it has text, and begin another."""
        if not self.is_blank:
            blocks.append(Block(container, self.nodes, "".join(self.texts), self.linked))
            self.linked = 0
            self.is_blank = True
        self.nodes = []
        self.texts = []


def walk(tree: LexborHTMLParser) -> Page:
    """The text blocks of the body, and the elements around them."""
    title = tree.css_first("title")
    page = Page(title.text() if title is not None else "", [], [], [])
    if tree.body is not None:
        _walk(tree.body, page)
    return page


def _walk(body: LexborNode, page: Page) -> None:
    containers, blocks, run = page.containers, page.blocks, _Run()
    flags, classes, names = _describe(body, "body")
    containers.append(Container(body, 0, "body", flags, classes, names, 0, 0))
    # The elements around the node, each with the container and the number of links around it.
    levels: list[tuple[LexborNode, int, int]] = []
    current = links = seen = 0
    node = body.first_child
    while node is not None or levels:
        if node is None:
            element, outer, links = levels.pop()
            if outer != current:
                run.close(current, blocks)
                containers[current].last = len(blocks)
                current = outer
            node = element.next
            continue
        seen += 1
        tag = node.tag or "-unknown"
        inner: LexborNode | None = None
        if tag == "-text":
            run.add(node, links > 0)
        elif tag in INLINE:
            if tag == "br":
                run.texts.append("\n")
            inner = node.first_child
            if inner is not None:
                levels.append((node, current, links))
                links += tag == "a"
        elif tag in _JUNK or seen > MAX_NODES:
            page.junk.append(node)
        elif tag[0] != "-":
            run.close(current, blocks)
            inner = node.first_child
            if inner is not None:
                levels.append((node, current, links))
                flags, classes, names = _describe(node, tag)
                around = containers[current]
                flags |= around.flags | (_FLAG["link"] if links else 0)
                depth = around.depth + 1
                containers.append(
                    Container(node, current, tag, flags, classes, names, depth, len(blocks))
                )
                current = len(containers) - 1
        node = inner if inner is not None else node.next
    run.close(0, blocks)
    containers[0].last = len(blocks)


def _describe(node: LexborNode, tag: str) -> tuple[int, str, str]:
    """The flags an element adds to those around it, its classes and all its names."""
    flags = _TAG_FLAG.get(tag, 0)
    attributes = node.attributes
    if not attributes:
        return flags, "", ""
    role = attributes.get("role") or ""
    flags |= _ROLE_FLAG.get(role, 0)
    style = attributes.get("style")
    if (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or (style and _HIDING.search(style))
    ):
        flags |= _FLAG["hidden"]
    classes, name = attributes.get("class") or "", attributes.get("id") or ""
    return flags, classes, f"{classes} {name} {role} {attributes.get('itemprop') or ''}"
