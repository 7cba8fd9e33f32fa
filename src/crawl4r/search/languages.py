"""The language codes in settings, options and queries."""

from __future__ import annotations

import re

ALL = "all"  # every language, in settings and options

# ISO 639-1. Of the three-letter codes of ISO 639-3 there are 7,900, and a page may declare any.
_TWO_LETTERS = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz "
    "ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln "
    "lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi "
    "pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th "
    "ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_CODES = frozenset(_TWO_LETTERS.split())
_CODE = re.compile(r"([a-z]{2,3})(?:[-_]\w+)*", re.IGNORECASE | re.ASCII)


def language_code(text: str) -> str:
    """The ISO 639 code that a text like `en`, `de-CH` or `gsw` stands for; empty for any other."""
    found = _CODE.fullmatch(text)
    code = found[1].lower() if found else ""
    return code if len(code) == 3 or code in _CODES else ""


def not_a_language(text: str) -> str:
    """The error message for a text that is no language code."""
    return (
        f"{text!r} is not a language code; codes have two letters ({_TWO_LETTERS}) or, for languages"
        " without such a code, the three of ISO 639-3"
    )
