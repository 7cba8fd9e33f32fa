"""Split a page into text blocks in one walk over the tree, without recursion.

A block is a run of text and inline elements directly inside one block-level element. The elements
around it are containers. Both are numbered in document order, so the blocks below a container form a
range, and their sums are differences of prefix sums.
"""

from __future__ import annotations

import re

from msgspec import Struct
from turbohtml import Document, Element, Node, Text

from crawl4r.formats.html import body_of

MAX_NODES = 200_000  # later nodes are removed without a judgement
_FLAG_NAMES = (
    "nav header footer aside main article form table ul ol dl section blockquote figure details"
    " dialog button pre link hidden li noscript"
)
FLAGS = _FLAG_NAMES.split()

# Any other element begins a block, because custom elements are mostly sections.
_INLINE_TAGS = (
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark nobr"
    " picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr"
)
INLINE = frozenset(_INLINE_TAGS.split())
# Never text of the page: programs, drawings, form controls. A button may head a fold, and
# noscript may hold the whole page; those are judged as blocks.
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
_LINK_FLAG = _FLAG["link"]
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def flag_bits(*names: str) -> int:
    """The bits of these FLAGS."""
    return sum(_FLAG[name] for name in names)


class Container(Struct):
    """A block-level element. Its blocks are `first` up to, not including, `last`."""

    node: Element
    parent: int
    tag: str
    flags: int  # bits of FLAGS, including those of outer elements
    classes: str
    names: str  # its class, id, role and itemprop
    depth: int
    first: int
    last: int = 0


class TextBlock(Struct):
    """A run of text directly inside a container."""

    container: int
    nodes: list[Text]  # its text nodes, blank ones too
    text: str
    linked: int  # characters inside links
    words: int


class BlockPage(Struct):
    """The result of one walk; no containers without a body."""

    title: str
    containers: list[Container]
    blocks: list[TextBlock]
    junk: list[Element]  # elements to remove in any case


class _Run:
    """The block under construction."""

    def __init__(self) -> None:
        self.nodes: list[Text] = []
        self.texts: list[str] = []
        self.linked = 0
        self.is_blank = True

    def add(self, node: Text, in_link: bool) -> None:
        text = node.data
        self.nodes.append(node)
        self.texts.append(text)
        if text and not text.isspace():
            self.is_blank = False
            if in_link:
                self.linked += len(text.strip())

    def close(self, container: int, blocks: list[TextBlock]) -> None:
        """Append the run as a block of `container` if it has text, and begin a new run."""
        if not self.is_blank:
            text = "".join(self.texts)
            blocks.append(TextBlock(container, self.nodes, text, self.linked, len(text.split())))
            self.linked = 0
            self.is_blank = True
        self.nodes = []
        self.texts = []


def walk(tree: Document) -> BlockPage:
    """The text blocks of the body, and the elements around them."""
    title, body = tree.find("title"), body_of(tree)
    page = BlockPage(title.text if title is not None else "", [], [], [])
    if body is not None:
        _walk(body, page)
    return page


def _walk(body: Element, page: BlockPage) -> None:  # noqa: PLR0912  one loop: a call a node costs as much
    containers, blocks, junk, run = page.containers, page.blocks, page.junk, _Run()
    flags, classes, names = _describe(body, "body")
    containers.append(Container(body, 0, "body", flags, classes, names, 0, 0))
    # The node's element, its container and the number of links around it; and the stack of outer ones.
    inner: Node | None = body
    current = links = seen = 0
    around: list[tuple[Node | None, int, int]] = []
    begun: Element | None = None  # the last element; the next node shows whether it has children
    unseen: set[Node | None] = set()
    add, close = run.add, run.close
    for node in body.descendants:
        above = node.parent
        if above is not inner:
            if above is begun and begun is not None:
                around.append((inner, current, links))
                inner, tag = begun, begun.tag
                if tag in INLINE:
                    links += tag == "a"
                else:
                    current = _begin(page, begun, tag, current, links)
            elif above in unseen:
                unseen.add(node)
                continue
            while above is not inner:
                inner, outer, links = around.pop()
                if outer != current:
                    close(current, blocks)
                    containers[current].last = len(blocks)
                    current = outer
        if type(node) is Text:
            add(node, links > 0)
        elif type(node) is Element:
            tag = node.tag
            if tag in INLINE:
                if tag == "br":
                    run.texts.append("\n")
                begun = node
            elif tag in _JUNK or seen > MAX_NODES:
                junk.append(node)
                unseen.add(node)
            else:
                close(current, blocks)
                begun = node
        seen += 1
    for _, outer, _ in reversed(around):
        if outer != current:
            close(current, blocks)
            containers[current].last = len(blocks)
            current = outer
    close(0, blocks)
    containers[0].last = len(blocks)


def _begin(page: BlockPage, node: Element, tag: str, outer: int, links: int) -> int:
    """Begin a container within another; returns its number."""
    flags, classes, names = _describe(node, tag)
    around, number, first = page.containers[outer], len(page.containers), len(page.blocks)
    flags |= around.flags | (_LINK_FLAG if links else 0)
    depth = around.depth + 1
    page.containers.append(Container(node, outer, tag, flags, classes, names, depth, first))
    return number


def _describe(node: Element, tag: str) -> tuple[int, str, str]:
    """The flags an element adds to those around it, its classes and all its names."""
    flags = _TAG_FLAG.get(tag, 0)
    if not node.attrs:
        return flags, "", ""
    attribute = node.attr
    role = attribute("role") or ""
    flags |= _ROLE_FLAG.get(role, 0)
    style = attribute("style")
    if (
        attribute("hidden") is not None
        or attribute("aria-hidden") == "true"
        or (style and _HIDING.search(style))
    ):
        flags |= _FLAG["hidden"]
    classes, name = attribute("class") or "", attribute("id") or ""
    return flags, classes, f"{classes} {name} {role} {attribute('itemprop') or ''}"
