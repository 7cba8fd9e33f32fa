"""Markdown documents for property tests: well-formed parts, and garbage made of markdown's signs."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = st.sampled_from(["one", "two", "drei", "vier.", "五", "six!", "`seven`", "**8**", "[n](u)"])
LINE = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
PARAGRAPH = st.lists(LINE, min_size=1, max_size=4).map("\n".join)
ATX = st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), LINE)
SETEXT = st.builds(lambda text, sign: f"{text}\n{sign * 3}", LINE, st.sampled_from("=-"))
CODE_LINE = st.sampled_from(["x = 1", "# no heading", "", "    y", "| a | b |", "- no item", "~~"])
CODE = st.lists(CODE_LINE, min_size=1, max_size=8).map("\n".join)
FENCE = st.builds(
    lambda fence, code: f"{fence}py\n{code}\n{fence}", st.sampled_from(["```", "~~~", "````"]), CODE
)
INDENTED_CODE = st.lists(LINE, min_size=1, max_size=4).map(
    lambda lines: "\n".join(f"    {line}" for line in lines)
)
TABLE = st.lists(LINE, min_size=1, max_size=8).map(
    lambda cells: "| a | b |\n|---|:-:|\n" + "\n".join(f"| {cell} | x |" for cell in cells)
)


def indented(text: str, blanks: str) -> str:
    return "\n".join(blanks + line if line else line for line in text.split("\n"))


def items(contents: list[str], marker: str) -> str:
    blanks = " " * (len(marker) + 1)
    return "\n".join(f"{marker} {indented(text, blanks).lstrip()}" for text in contents)


ITEM = st.one_of(LINE, st.builds(lambda text, code: f"{text}\n\n{code}", LINE, FENCE))
LIST = st.recursive(
    st.builds(items, st.lists(ITEM, min_size=1, max_size=5), st.sampled_from(["-", "*", "1."])),
    lambda inner: st.builds(
        lambda text, nested: items([f"{text}\n{nested}", text], "-"), LINE, inner
    ),
    max_leaves=3,
)
QUOTE = st.one_of(PARAGRAPH, FENCE).map(
    lambda text: "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
)
HTML = st.sampled_from(
    ["<div>\n# no heading\n</div>", "<!-- a\n\n# no heading\n-->", "<pre>\n\n# no\n</pre>", "<br>"]
)
BODY = st.one_of(PARAGRAPH, FENCE, INDENTED_CODE, TABLE, LIST, QUOTE, HTML)
BLOCK = st.one_of(ATX, SETEXT, BODY)
GARBAGE = st.text(
    st.sampled_from("#`~>-*+_=|<!/1. \t\n\r\x0b\u2028abé中🎉\u0301\ud800:[](){}"), max_size=60
)
JOINT = st.sampled_from(["\n\n", "\n", "\r\n\r\n", "\n\n\n\n", " ", ""])


def joined(parts: list[tuple[str, str]]) -> str:
    return "".join(part + joint for part, joint in parts)


DOCUMENT = st.lists(st.tuples(st.one_of(BLOCK, GARBAGE), JOINT), max_size=12).map(joined)
