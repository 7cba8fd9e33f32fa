"""What a reader would see of a page: its text in two parts, and counts of what else is there.

One walk over the tree, which stops as soon as there is plainly enough text for a real page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice

from turbohtml import Document, Element, Node, Text

from crawl4r.formats.html import spaced_text

# Around the page rather than of it: the same on every page of a site.
_CHROME = frozenset(["nav", "header", "footer", "aside", "dialog", "menu"])
_UNSEEN = frozenset(["style", "svg", "select", "datalist", "object", "math"])
_MEDIA = frozenset(["img", "picture", "video", "audio", "embed", "object", "map"])
_DRAWINGS = frozenset(["svg", "canvas"])
_FRAMES = frozenset(["frame", "iframe"])
_HEADINGS = frozenset(["h1", "h2", "h3"])
_ROOT_TAGS = frozenset(["app-root", "ion-app", "q-app", "my-app", "app-shell", "flutter-view"])
_ROOT_IDS = frozenset(
    [
        "root",
        "app",
        "__next",
        "__nuxt",
        "__layout",
        "___gatsby",
        "react-root",
        "app-root",
        "svelte",
        "mount",
        "main-app",
        "react-app",
        "vue-app",
        "appmountpoint",
        "application",
        "ember-app",
        "q-app",
        "__docusaurus",
        "reactroot",
        "approot",
        "app-mount",
        "react",
        "application-root",
        "spa",
        "main-root",
        "single-spa-application",
    ]
)
_DIVISIONS = _ROOT_TAGS | {"div", "main", "section", "form"}
_MOST_HEADINGS = 2
_MOST_NODES = 20_000  # a page of a few kilobytes can be made to grow into a million
_SHORT = 60  # words
# Letters of scripts that put no blanks between words.
SPACELESS = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]"
_BEFORE_MARK = re.compile(r" (?=[:;,.!?](?: |$))")  # left by tags, and by French typists

_IN_CHROME, _IN_LINK, _IN_NOSCRIPT, _IN_ROOT, _IN_TITLE, _IN_HIDDEN = 1, 2, 4, 8, 16, 32
_INSIDE = {"a": _IN_LINK, "noscript": _IN_NOSCRIPT, "title": _IN_TITLE}
_INSIDE |= dict.fromkeys(_CHROME, _IN_CHROME)


# Not a Struct: it counts at each element, and a Struct takes three times as long to store a number.
@dataclass(slots=True)
class Visible:
    """The parts of a page that count when it is judged. Texts have single blanks, in lower case."""

    title: str = ""
    headings: list[str] = field(default_factory=list)
    main: str = ""
    chrome: str = ""
    noscript: str = ""
    main_words: int = 0  # outside links
    link_words: int = 0  # in links of the main part
    chrome_words: int = 0
    root_words: int = 0  # inside what scripts are meant to fill
    roots: int = 0
    elements: int = 0  # inside the body
    paragraphs: int = 0
    links: int = 0
    media: int = 0
    drawings: int = 0
    frames: int = 0
    scripts: int = 0
    inputs: int = 0  # in which a reader would write
    passwords: int = 0  # of them, for a password, and not in the page's header or footer
    refreshes: int = 0
    is_plenty: bool = False  # the walk ended before the page, for there was text enough

    @property
    def words(self) -> int:
        """How much the page says; what stands in links says less."""
        own = self.main_words + self.link_words // 4
        return own if own >= 10 else own + self.chrome_words // 2

    @property
    def all_words(self) -> int:
        return self.main_words + self.link_words + self.chrome_words

    @property
    def has_content(self) -> bool:
        """Something besides text that a reader came for."""
        return bool(self.media or self.frames or self.inputs)

    @property
    def text(self) -> str:
        """The main part, or all of it where pages have no main part to speak of."""
        if self.main_words + self.link_words >= 10:
            return self.main
        return f"{self.chrome} {self.main}".strip()


def tidy(text: str) -> str:
    """Lower case, single blanks, straight apostrophes: as signatures are written."""
    text = " ".join(text.split()).lower().replace("\u2019", "'")
    return _BEFORE_MARK.sub("", text)


def count_words(text: str) -> int:
    """Words as blanks divide them; scripts that have no blanks count two characters a word."""
    words = len(text.split())
    return words if text.isascii() else words + len(_spaceless().findall(text)) // 2


@cache
def _spaceless() -> re.Pattern[str]:
    """So many letters take 6 ms to compile, which few sites need."""
    return re.compile(SPACELESS)


def look(tree: Document, enough: int = 1_000_000) -> Visible:
    """See the page, as far as `enough` words of main text. The tree is left as it is."""
    walk = _Walk(enough)
    if tree.root is not None:
        walk.over(tree.root)
    return walk.seen()


class _Walk:
    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._visible = Visible()
        self._texts: dict[int, list[str]] = {0: [], _IN_CHROME: [], _IN_NOSCRIPT: []}
        self._title = ""
        self._headings: list[Element] = []

    def over(self, root: Element) -> None:
        """In the order of the document, and not by recursion: pages nest as deep as they like."""
        visible = self._visible
        # What holds inside an element; one is missing here when nothing inside it is seen.
        inside: dict[Node | None, int] = {root.parent: 0}
        for node in islice(chain((root,), root.descendants), _MOST_NODES):
            flags = inside.get(node.parent)
            if flags is None:
                continue
            if isinstance(node, Text):
                self._text(node.data, flags)
                if visible.main_words + visible.link_words // 4 > self._enough:
                    visible.is_plenty = True
                    return
            elif isinstance(node, Element):
                within = self._tag(node, flags)
                if within is not None:
                    inside[node] = within

    def _text(self, text: str, flags: int) -> None:
        if not text or text.isspace():
            return
        if flags & _IN_TITLE:
            self._title = self._title or text
            return
        part = _IN_NOSCRIPT if flags & _IN_NOSCRIPT else flags & _IN_CHROME
        self._texts[part].append(text)
        if part == _IN_NOSCRIPT:
            return
        visible = self._visible
        words = count_words(text)
        if part == _IN_CHROME:
            visible.chrome_words += words
        elif flags & _IN_LINK:
            visible.link_words += words
        else:
            visible.main_words += words
        if flags & _IN_ROOT:
            visible.root_words += words

    def _tag(self, node: Element, flags: int) -> int | None:
        """What holds inside the element, or None when nothing inside is seen."""
        tag = node.tag
        visible = self._visible
        visible.elements += 1
        if flags & _IN_NOSCRIPT:
            return None if tag in _UNSEEN or tag == "script" else flags
        visible.media += tag in _MEDIA
        visible.drawings += tag in _DRAWINGS
        if tag == "script":
            visible.scripts += 1
            return None
        if tag in _UNSEEN:
            return None
        return flags | self._note(node, tag, flags)

    def _note(self, node: Element, tag: str, flags: int) -> int:
        """Count the element; what it adds to the flags of everything inside."""
        visible = self._visible
        if tag == "a":
            visible.links += 1
        elif tag == "p":
            visible.paragraphs += 1
        elif tag in _FRAMES:
            visible.frames += 1
        elif tag in _HEADINGS:
            self._heading(node, tag, flags)
        elif tag in _DIVISIONS:
            return self._division(node, tag)
        elif tag == "input":
            self._input(node, flags)
        elif tag == "meta":
            visible.refreshes += (node.attr("http-equiv") or "").lower() == "refresh"
        return _INSIDE.get(tag, 0)

    def _division(self, node: Element, tag: str) -> int:
        if _is_hidden(node):
            return _IN_CHROME | _IN_HIDDEN
        if tag in _ROOT_TAGS or (node.attr("id") or "").lower() in _ROOT_IDS:
            self._visible.roots += 1
            return _IN_ROOT
        return 0

    def _heading(self, node: Element, tag: str, flags: int) -> None:
        unseen = _IN_LINK | _IN_HIDDEN if tag == "h1" else _IN_LINK | _IN_CHROME
        if len(self._headings) < _MOST_HEADINGS and not flags & unseen:
            self._headings.append(node)

    def _input(self, node: Element, flags: int) -> None:
        kind = (node.attr("type") or "text").lower()
        if kind in ("text", "email", "tel", "password", "search"):
            self._visible.inputs += 1
        if kind == "password" and not flags & _IN_CHROME:
            self._visible.passwords += 1

    def seen(self) -> Visible:
        visible, texts = self._visible, self._texts
        visible.title = tidy(self._title)
        visible.headings = [tidy(spaced_text(heading)) for heading in self._headings]
        visible.main = tidy(" ".join(texts[0]))
        visible.chrome = tidy(" ".join(texts[_IN_CHROME]))
        visible.noscript = tidy(" ".join(texts[_IN_NOSCRIPT]))
        if visible.main_words < _SHORT < (words := count_words(visible.noscript)):
            # The whole page for readers without scripts, and we are one.
            visible.main, visible.main_words, visible.noscript = visible.noscript, words, ""
        return visible


def _is_hidden(node: Element) -> bool:
    return node.attr("hidden") is not None or "none" in (node.attr("style") or "")
