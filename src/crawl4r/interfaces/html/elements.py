"""HTML and SVG made of elements, so that nothing a stranger wrote is ever more than text."""

from __future__ import annotations

from html import escape

from crawl4r.safe_text import visible

_VOID = frozenset(["meta", "br"])


class Markup(str):
    """Text that is markup already. Only this module and the page's own style make it."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element. Children that are no Markup are escaped, and so is every attribute.

    `class_` is class, `stroke_width` is stroke-width; an attribute that is None is left out.
    """
    head = name + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{head}>")
    return Markup(f"<{head}>{''.join(map(_escaped, children))}</{name}>")


def joined(*parts: str) -> Markup:
    return Markup("".join(map(_escaped, parts)))


def isolated(text: str) -> Markup:
    """Words of strangers: their direction of writing ends where they end."""
    return tag("bdi", text)


def _escaped(child: str) -> str:
    return child if isinstance(child, Markup) else escape(visible(child))


def _shown(value: object) -> str:
    """Coordinates to a hundredth: nobody sees more, and the file stays small."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return visible(str(value))
