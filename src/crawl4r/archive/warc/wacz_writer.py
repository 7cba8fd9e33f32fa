"""Write a WACZ package (1.1.1): WARC files, their index and a list of pages in one zip file."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import RawIOBase
from typing import IO, Any, cast

from crawl4r.archive.documents import Documents, id_of
from crawl4r.archive.warc.records import warc_date

_VERSION = "1.1.1"
_ZIP_TIMES = ((1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58))  # the range of a zip file


class WaczWriter:
    """Writes the files of a package in turn, unpacked, so that readers can read parts of them."""

    def __init__(self, out: IO[bytes], at: float) -> None:
        """`at`: the time of all entries, in epoch seconds."""
        self._zip = zipfile.ZipFile(out, "w", zipfile.ZIP_STORED)
        self._time = datetime.fromtimestamp(at, UTC)
        self._resources: list[dict[str, Any]] = []

    def open(self, path: str) -> IO[bytes]:
        """Open a file for writing. Close it before the next one."""
        first, last = _ZIP_TIMES
        moment = min(max(self._time.timetuple()[:6], first), last)
        entry = zipfile.ZipInfo(path, moment)
        entry.external_attr = 0o644 << 16
        # zip64, because the size is unknown and may be too large for the smaller format.
        inner = self._zip.open(entry, "w", force_zip64=True)
        return cast(IO[bytes], _Counted(inner, path, self._resources))

    def add(self, path: str, data: bytes) -> None:
        with self.open(path) as file:
            file.write(data)

    def finish(self, about: Mapping[str, str]) -> None:
        """Write the list of files with their hashes, and the hash of the list."""
        package = {
            "profile": "data-package",
            "wacz_version": _VERSION,
            **about,
            "created": self._time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "resources": list(self._resources),
        }
        listed = json.dumps(package, indent=2).encode()
        self.add("datapackage.json", listed)
        digest = f"sha256:{hashlib.sha256(listed).hexdigest()}"
        checked = {"path": "datapackage.json", "hash": digest}
        self.add("datapackage-digest.json", json.dumps(checked, indent=2).encode())

    def close(self) -> None:
        self._zip.close()


class _Counted(RawIOBase):
    """Passes bytes on, and lists the file with its hash when it is closed."""

    def __init__(self, inner: IO[bytes], path: str, listed: list[dict[str, Any]]) -> None:
        self._inner = inner
        self._path = path
        self._listed = listed
        self._hash = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        self._size += len(data)
        return self._inner.write(data)

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        self._inner.close()
        self._listed.append(
            {
                "name": self._path.rpartition("/")[2],
                "path": self._path,
                "hash": f"sha256:{self._hash.hexdigest()}",
                "bytes": self._size,
            }
        )


def page_lines(pages: Iterable[tuple[str, float]], documents: Documents) -> Iterator[bytes]:
    """The list of pages with URL, time and the title of the document."""
    yield _json_line({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
    for url, at in pages:
        title = documents.title_of(url) or url
        yield _json_line({"id": id_of(url), "url": url, "ts": warc_date(at), "title": title})


def about(title: str, software: str, first: tuple[str, float] | None) -> dict[str, str]:
    """The metadata of a package. Viewers start with the `first` page."""
    said = {"title": title, "software": software}
    if first is not None:
        said |= {"mainPageUrl": first[0], "mainPageDate": warc_date(first[1])}
    return said


def _json_line(fields: Mapping[str, str]) -> bytes:
    return json.dumps(fields).encode() + b"\n"
