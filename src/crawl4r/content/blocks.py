"""A page as a row of text blocks: one walk over the tree, without recursion.

A block is a run of text and inline elements directly inside one block-level element. The elements
around it are containers. Both are numbered in document order, so the blocks below a container are a
range, and their sums are differences of prefix sums.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from turbohtml import Document, Element, Node, Text

from crawl4r.markup import body_of

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

    node: Element
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
    nodes: list[Text]  # its text nodes, blank ones too
    text: str
    linked: int  # characters of it inside links


@dataclass(slots=True)
class Page:
    """What one walk yields; no containers when there is no body."""

    title: str
    containers: list[Container]
    blocks: list[Block]
    junk: list[Element]  # elements to remove whatever else is decided


class _Run:
    """The block that is being read."""

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

    def close(self, container: int, blocks: list[Block]) -> None:
        """Append the run as a block of `container`, if it has text, and begin another."""
        if not self.is_blank:
            blocks.append(Block(container, self.nodes, "".join(self.texts), self.linked))
            self.linked = 0
            self.is_blank = True
        self.nodes = []
        self.texts = []


def walk(tree: Document) -> Page:
    """The text blocks of the body, and the elements around them."""
    title, body = tree.find("title"), body_of(tree)
    page = Page(title.text if title is not None else "", [], [], [])
    if body is not None:
        _Walk(page, body).over(body)
    return page


class _Walk:
    """Where the walk is: the element that a node stands in, its container and the links around it."""

    def __init__(self, page: Page, body: Element) -> None:
        self._page = page
        self._run = _Run()
        flags, classes, names = _describe(body, "body")
        page.containers.append(Container(body, 0, "body", flags, classes, names, 0, 0))
        self._inner: Node | None = body
        self._current = 0
        self._links = 0
        self._around: list[tuple[Node | None, int, int]] = []  # the same for each element outwards
        # The last element that began: whether it holds anything is known by the next node.
        self._begun: Element | None = None
        self._unseen: set[Node | None] = set()

    def over(self, body: Element) -> None:
        page, run, seen = self._page, self._run, 0
        for node in body.descendants:
            above = node.parent
            if above is not self._inner and not self._has_come_to(above, node):
                continue
            seen += 1
            if isinstance(node, Text):
                run.add(node, self._links > 0)
            elif isinstance(node, Element):
                tag = node.tag
                if tag in INLINE:
                    if tag == "br":
                        run.texts.append("\n")
                    self._begun = node
                elif tag in _JUNK or seen > MAX_NODES:
                    page.junk.append(node)
                    self._unseen.add(node)
                else:
                    run.close(self._current, page.blocks)
                    self._begun = node
        while self._around:
            self._leave()
        run.close(0, page.blocks)
        page.containers[0].last = len(page.blocks)

    def _has_come_to(self, above: Node | None, node: Node) -> bool:
        """Go where the next node is; False when that is inside of what is not seen."""
        if above is self._begun:
            self._enter(self._begun)
        elif above in self._unseen:
            self._unseen.add(node)
            return False
        while above is not self._inner:
            self._leave()
        return True

    def _enter(self, node: Element | None) -> None:
        assert node is not None, "every node here stands in an element"
        self._around.append((self._inner, self._current, self._links))
        self._inner, tag = node, node.tag
        if tag in INLINE:
            self._links += tag == "a"
            return
        flags, classes, names = _describe(node, tag)
        page, outer = self._page, self._current
        around = page.containers[outer]
        flags |= around.flags | (_FLAG["link"] if self._links else 0)
        self._current = len(page.containers)
        page.containers.append(
            Container(node, outer, tag, flags, classes, names, around.depth + 1, len(page.blocks))
        )

    def _leave(self) -> None:
        self._inner, outer, self._links = self._around.pop()
        if outer != self._current:
            self._run.close(self._current, self._page.blocks)
            self._page.containers[self._current].last = len(self._page.blocks)
            self._current = outer


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
