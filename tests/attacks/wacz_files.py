"""WACZ packages: their members, names, sizes and the tables of the zip file that hold them."""

from __future__ import annotations

import io
import random
import zipfile

from tests.attacks.exports import Exports
from tests.attacks.mutating import ANY_BYTES, NUMBERS, POISONS, mutated
from tests.attacks.rounds import REFUSED, Round
from tests.attacks.warc_files import hostile_warc, look_after, packed

_NAMES = (
    "archive/../../escaped.warc", "/etc/escaped.warc", "archive/" + "a" * 3_000 + ".warc",
    "archive/a/b/c.warc.gz", "archive/", "datapackage.json", "archive/data.warc",
    "archive\\data.warc", "archive/\u202ecraw.warc", "archive/.warc",
)  # fmt: skip
_CENTRAL, _LOCAL, _END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"


def _members(chance: random.Random, exports: Exports) -> dict[str, bytes]:
    """Those of a real package, with one or several that are not as they were."""
    members = dict(exports.wacz)
    for _ in range(chance.choice((0, 1, 2))):
        name = chance.choice(list(members))
        if members[name]:
            members[name] = mutated(chance, members[name])
    if chance.random() < 0.6:
        suffix, data = packed(chance, hostile_warc(chance, exports.warc))
        members[f"archive/data{suffix}"] = data
    if chance.random() < 0.4:
        odd = chance.choice((*_NAMES, f"archive/{chance.choice(POISONS)}.warc"))
        members[odd] = chance.choice((exports.warc, b"", b"\0" * 20_000_000))
    for name in chance.sample(list(members), chance.choice((0, 0, 1, 3))):
        members.pop(name)
    return members


def _zipped(chance: random.Random, members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    how = chance.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(file, "w", how) as package:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name.replace("\0", "") or "x")  # of a fixed moment
            entry.compress_type = chance.choice((how, zipfile.ZIP_STORED))
            package.writestr(entry, data)
        package.comment = chance.choice((b"", b"x" * 60_000))
    return file.getvalue()


def _break_tables(chance: random.Random, data: bytes) -> bytes:
    """Fields of a header, at a place that is chosen among those that have one."""
    mark = chance.choice((_CENTRAL, _CENTRAL, _LOCAL, _END))
    places = [at for at in range(len(data)) if data.startswith(mark, at)] if mark in data else []
    if not places:
        return data
    at = chance.choice(places) + chance.randrange(4, 46)
    field = chance.choice((b"\xff" * 8, b"\xff" * 4, b"\0" * 4, b"\xff\xff", b"\1\0", *NUMBERS))
    return data[:at] + field + data[at + len(field) :]


def attack(this: Round, exports: Exports) -> None:
    workspace = exports.workspace(this)
    for number in range(2):
        data = _zipped(this.chance, _members(this.chance, exports))
        for _ in range(this.chance.choice((0, 0, 1, 3))):
            data = _break_tables(this.chance, data)
        if this.chance.random() < 0.2:
            data = mutated(this.chance, data, by=ANY_BYTES)
        file = this.folder / f"hostile{number}.wacz"
        file.write_bytes(data)
        this.run(
            "import", file, "-w", workspace, *this.chance.choice(((), ("--json",))), codes=REFUSED
        )
    look_after(this, exports, workspace)
