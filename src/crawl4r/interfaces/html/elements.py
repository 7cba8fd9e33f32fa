"""Build HTML and SVG from elements, so that untrusted text is never markup."""

from __future__ import annotations

from html import escape

from crawl4r.safe_text import visible

_VOID = frozenset(["meta", "br"])


class Markup(str):
    """Text that is markup. Only this module and the page's style create it."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element. It escapes attributes, and children that are no Markup.

    `class_` becomes class, `stroke_width` becomes stroke-width; None omits an attribute.
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
    """Untrusted text, isolated so that its writing direction ends with it."""
    return tag("bdi", text)


def _escaped(child: str) -> str:
    return child if isinstance(child, Markup) else escape(visible(child))


def _shown(value: object) -> str:
    """Round coordinates to a hundredth, which is exact enough and keeps the file small."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return visible(str(value))
