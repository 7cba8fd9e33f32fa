"""The title of a page on top of its text, once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turbohtml import Element, Node, Text

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_WORD = re.compile(r"\w+")
_MOST_HEADINGS = 40  # among which the title is looked for
_MOST_AROUND = 10  # elements around plain words that may be the title
_NEAR = 3  # headings from the top that may be the title though they are not of the first level
_ALIKE = 0.5  # of the words of the shorter one


def put_on_top(body: Element, title: str) -> None:
    """Make the heading that says the title the first thing in the body; or add one, if there is none.

    The tree is changed. A body without text stays as it is.
    """
    first = _first_text(body)
    if first is None:
        return
    wanted = _words(title)
    top = above = _heading_around(first, body)
    if top is None or not _is_title(top, wanted):
        top = _found(body, wanted)
    if top is None:
        _remove_unmarked(first, body, wanted)
        top = Element("h1")
        top.append(Text(title))
    else:
        top.extract()  # also one that stands there: it may be in a link or an item, below a rule
        if top != above:
            top.tag = "h1"
    body.insert(0, top)
    if top.attr("style") is not None:
        del top.attrs["style"]  # one that keeps blanks would make it code
    _remove_again(body, top)


def _first_text(body: Element) -> Text | None:
    for node in body.descendants:
        if type(node) is Text and not node.data.isspace():
            return node
    return None


def _heading_around(node: Node, body: Element) -> Element | None:
    above = node.parent
    while isinstance(above, Element) and above != body:
        if above.tag in _HEADINGS:
            return above
        above = above.parent
    return None


def _is_title(heading: Element, title: Sequence[str]) -> bool:
    """A heading of the first level may say it in other words, any other is a part of it or the same."""
    said = _words(heading.text)
    if heading.tag != "h1":
        return _says(said, title)
    common = set(said) & set(title)
    return len(common) >= _ALIKE * min(len(set(said)), len(set(title)))


def _found(body: Element, title: Sequence[str]) -> Element | None:
    """The heading that is the title, further down."""
    for number, each in enumerate(body.iter_elements(_HEADINGS)):
        if number == _MOST_HEADINGS:
            return None
        said = _words(each.text)
        if each.tag == "h1" and _says(said, title):
            return each
        if number < _NEAR and said == title:
            return each
    return None


def _remove_unmarked(first: Text, body: Element, title: Sequence[str]) -> None:
    """Remove the title where it stands on top as plain words."""
    said: Node = first
    for _ in range(_MOST_AROUND):
        above = said.parent
        if not isinstance(above, Element) or above == body or _words(above.text) != title:
            break
        said = above
    if _words(said.data if isinstance(said, Text) else said.text) == title:
        said.extract()


def _remove_again(body: Element, top: Element) -> None:
    """Remove the next heading when it says the same again."""
    headings = body.iter_elements(_HEADINGS)
    for each in headings:
        if each == top:
            again = next(headings, None)
            if again is not None and _words(again.text) == _words(top.text):
                again.decompose()
            return


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _says(heading: Sequence[str], title: Sequence[str]) -> bool:
    """Whether one is a part of the other: sites add their name to titles, and marks to headings."""
    if not heading or not title:
        return False
    short, long = sorted((heading, title), key=len)
    return f" {' '.join(short)} " in f" {' '.join(long)} "
