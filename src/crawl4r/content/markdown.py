"""HTML to markdown that keeps headings, lists, tables and code; and markdown to plain text."""

from __future__ import annotations

import re

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborNode

# Marks that sites hang on a heading so that it can be linked to.
_PERMALINKS = "a.headerlink,a.anchor,a.anchorjs-link,a.header-anchor,a.heading-anchor,a.hash-link"
# Inline wrappers say nothing in markdown, and highlighted code has hundreds of them.
_WRAPPERS = ["span", "font", "tt", "ins", "abbr"]
# Mostly the name of a link's target again. The parser writes values in double quotes, with `<` and `>`
# escaped like everywhere else, so this cannot begin in the text.
_TOOLTIP = re.compile(r'(<a [^<>]*?) title="[^"]*"')

_FENCE = re.compile(r"^ {0,12}(```+|~~~+)[^\n]*$", re.MULTILINE)
_LINK = re.compile(
    r"!?\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
    r"\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_HEADING = re.compile(r"^#{1,6}\s+", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*|\*|`|~~)(?=\S)(.+?)(?<=\S)\1")
_BULLET = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+", re.MULTILINE)
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
_RULE_ROW = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+[ \t]*\n?", re.MULTILINE)
_ROW = re.compile(r"^\|(.*)\|[ \t]*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_MANY_BLANK_LINES = re.compile(r"\n{3,}")


def markdown_of(body: LexborNode, url: str) -> str:
    """The markdown of a pruned body; links are made absolute with `url`. The tree is changed."""
    for node in body.css(_PERMALINKS):
        node.decompose()
    body.unwrap_tags(_WRAPPERS)
    return markdown_of_html(_TOOLTIP.sub(r"\1", body.html or ""), url)


def markdown_of_html(html: str, url: str) -> str:
    options = ConversionOptions(
        # The quicker way of the library writes the same, but for tables: those it pads with blanks.
        tier_strategy="AUTO" if "<table" in html else "TIER1",
        extract_metadata=False,
        autolinks=False,
        compact_tables=True,
        skip_images=True,
        base_url=url or None,
    )
    content = convert(html, options).content or ""
    return _MANY_BLANK_LINES.sub("\n\n", content).strip()


def plain_text(markdown: str) -> str:
    """The words alone: no marks, no addresses, code as it is."""
    parts = _split_fences(markdown)
    return "\n".join(text if is_code else _unmark(text) for text, is_code in parts).strip()


def _split_fences(markdown: str) -> list[tuple[str, bool]]:
    parts, start, opened = [], 0, ""
    for match in _FENCE.finditer(markdown):
        mark = match.group(1)
        if opened and not (mark[0] == opened[0] and len(mark) >= len(opened)):
            continue
        parts.append((markdown[start : match.start()].strip("\n"), bool(opened)))
        start, opened = match.end(), "" if opened else mark
    parts.append((markdown[start:].strip("\n"), bool(opened)))
    return [part for part in parts if part[0]]


def _unmark(text: str) -> str:
    text = _RULE_ROW.sub("", text)
    text = _ROW.sub(lambda row: row.group(1).replace("|", " ").strip(), text)
    text = _HEADING.sub("", text)
    text = _QUOTE.sub("", text)
    text = _BULLET.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _EMPHASIS.sub(r"\2", text)
    text = _EMPHASIS.sub(r"\2", text)
    return _ESCAPE.sub(r"\1", text)
