"""XML attacks: entities, depth, encodings, and misplaced text."""

from __future__ import annotations

import random

from tests.attacks.mutating import mutated

_LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
_PROLOGUES = (
    "", '<?xml version="1.0"?>', '<?xml version="1.0" encoding="utf-16"?>',
    '<?xml version="1.0" encoding="rot13"?>', '<?xml version="9.9"?>',
    '<?xml version="1.0" encoding="utf-8" standalone="maybe"?>', "\ufeff<?xml version='1.0'?>",
    f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{_LAUGHS}]>',
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">',
    '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/p"> %p;]>',
    '<?xml-stylesheet href="javascript:x"?>',
)  # fmt: skip
_FILLINGS = (
    "&l9;", "&e;", "&#0;", "&#xD800;", "&#x110000;", "&nosuch;", "<![CDATA[", "<![CDATA[x]]>",
    "<!-- -- -->", "]]>", "<a>" * 3_000, "<a b='" + "c" * 50_000 + "'/>",
    "<a " + " ".join(f"b{n}='1'" for n in range(3_000)) + "/>",
    "<x:y xmlns:x='" + "z" * 3_000 + "'/>", "\x00", "\ufffe", "<?p " + "i" * 3_000 + "?>",
    "<" + "n" * 60_000 + "/>",
)  # fmt: skip
_ENCODINGS = ("utf-8",) * 6 + ("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7", "cp037")


def hostile_xml(chance: random.Random, root: str, filled: str) -> bytes:
    """A document of `root` around `filled`, with one thing or another that it should not have."""
    odd = "".join(chance.choice(_FILLINGS) for _ in range(chance.choice((0, 0, 1, 3))))
    name = root.split(" ", 1)[0]
    text = f"{chance.choice(_PROLOGUES)}<{root}>{filled}{odd}</{name}>"
    data = text.encode(chance.choice(_ENCODINGS), "replace")
    return mutated(chance, data) if chance.random() < 0.5 else data
