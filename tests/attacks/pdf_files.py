"""PDF files: a small real one with its objects, numbers, streams and table of places broken."""

from __future__ import annotations

import random
import zlib

from tests.attacks.mutating import mutated, odd_word
from tests.attacks.site import Site, answer
from tests.content.extract.making_pdf import pdf_saying

_EDITS: tuple[tuple[bytes, bytes], ...] = (
    (b"/Kids [3 0 R]", b"/Kids [2 0 R]"), (b"/Kids [3 0 R]", b"/Kids [" + b"3 0 R " * 5_000 + b"]"),
    (b"/Count 1", b"/Count 999999999"), (b"/Count 1", b"/Count -1"),
    (b"/Parent 2 0 R", b"/Parent 3 0 R"), (b"[0 0 612 792]", b"[0 0 1e38 -1e38]"),
    (b"/Contents 4 0 R", b"/Contents [" + b"4 0 R " * 3_000 + b"]"), (b"/F1 12 Tf", b"/F1 1e30 Tf"),
    (b"startxref\n", b"startxref\n-"), (b"/Size 7", b"/Size 99999999"), (b"/Type1", b"/Type3"),
    (b"%PDF-1.4", b"%PDF-9.9"), (b"/Root 1 0 R", b"/Root 1 0 R /Encrypt 5 0 R"),
    (b"/Title (", b"/Title (\\376\\377\\330\\000"), (b"<<", b"<<" * 500), (b"Tj", b"Tj " * 20_000),
    (b"(", b"((((((("),
)  # fmt: skip


def _bomb(chance: random.Random) -> bytes:
    """A page whose content unpacks to a few megabytes, or to the packed form of it."""
    content = b"BT /F1 12 Tf (x) Tj ET\n" * chance.choice((1_000, 200_000))
    packed = zlib.compress(content)
    filters = b"/FlateDecode"
    if chance.random() < 0.5:
        packed, filters = zlib.compress(packed), b"[/FlateDecode /FlateDecode]"
    plain = pdf_saying("x")
    start, end = plain.index(b"<< /Length"), plain.index(b"endstream")
    stream = b"<< /Length %d /Filter %s >>\nstream\n%s\n" % (len(packed), filters, packed)
    return plain[:start] + stream + plain[end:]


def _file(chance: random.Random) -> bytes:
    if chance.random() < 0.15:
        return _bomb(chance)
    words = odd_word(chance).replace("(", "").replace(")", "")
    data = pdf_saying(f"A paper about {words}", title=words)
    for _ in range(chance.choice((0, 1, 1, 2))):
        data = data.replace(*chance.choice(_EDITS))
    return mutated(chance, data) if chance.random() < 0.6 else data


def attack(chance: random.Random, site: Site, count: int) -> None:
    for _ in range(count):
        kind = chance.choice(
            (b"application/pdf", b"application/pdf", b"application/octet-stream", b"text/html")
        )
        site.attack("pdf", answer(_file(chance), kind))
