"""Map URLs to file paths that every file system can hold, one path for each URL.

    https://e.org/a/b.html       e.org/a/b.html.md
    http://e.org:8080/           e.org+http+8080/index.md
    https://e.org/About?x=1      e.org/About_x=1-k3f0...md

A short part of a path in plain lower-case letters stays as it is, because every file system reads it
alike. Any other part is made readable and gets a hash of itself at its end; so does a part that already
ends like a hash. Two parts therefore never share a name. Files end in `.md` and folders never do, so no
file takes the place of a folder.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import unquote

from crawl4r.urls.canonical import host_of_netloc

SUFFIX = ".md"
_INDEX = "index"  # the file of a URL that ends with a slash
_DEEP = "+deep"  # the folder of URLs with a path too deep; no part of a URL gets this name
_LONGEST_NAME = 80  # characters of a part that stays as it is
_LONGEST_PATH = 200  # characters, so that the path with the export folder stays below 260
_MOST_PARTS = 16
_READABLE_BYTES = 80  # of a part with a hash, in UTF-8
_HASH_BYTES = 13  # 104 bits, 21 letters: too many for an attacker to make two parts collide

_PLAIN = re.compile(rf"[a-z0-9_][a-z0-9_.,@=~-]{{0,{_LONGEST_NAME - 1}}}(?<![.~])")
_HASHED = re.compile(r"-[a-z2-7]{21}$")
_UNREADABLE = re.compile(r"[^\w.,@=~-]+")
# Windows opens a device under these names, with any extension.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])(?:\..*)?")


def file_of(url: str) -> PurePosixPath:
    """The path of a page in a tree of markdown files. The same URL always gets the same path."""
    scheme, _, rest = url.partition("://")
    netloc, _, path = rest.partition("/")
    folder = _folder_of(scheme, netloc)
    path, mark, query = path.partition("?")
    *folders, last = path.split("/")
    if mark or last:
        name = last + mark + query
        name = _with_hash(name) if name == _INDEX else _name(name)
    else:
        name = _INDEX
    found = PurePosixPath(folder, *map(_folder, folders), name + SUFFIX)
    if len(folders) >= _MOST_PARTS or len(str(found)) > _LONGEST_PATH:
        return PurePosixPath(folder, _DEEP, _with_hash(last, of=url) + SUFFIX)
    return found


def _folder_of(scheme: str, netloc: str) -> str:
    """The host, with the scheme unless it is https, and the port unless it is the default one."""
    host = host_of_netloc(netloc)
    port = netloc.removeprefix(host).removeprefix(":")
    told = [part for part in ("" if scheme == "https" else scheme, port) if part]
    return "+".join([_name(host), *told])


def _folder(part: str) -> str:
    return _with_hash(part) if part.endswith(SUFFIX) else _name(part)


def _name(part: str) -> str:
    is_kept = _PLAIN.fullmatch(part) and not _HASHED.search(part) and not _DEVICE.fullmatch(part)
    return part if is_kept else _with_hash(part)


def _with_hash(part: str, of: str | None = None) -> str:
    """The readable characters of a part, and a hash of the part or of the whole URL."""
    words = unicodedata.normalize("NFC", unquote(part, errors="replace"))
    words = _UNREADABLE.sub("_", words[: 4 * _READABLE_BYTES]).lstrip(".,@=~-")
    words = words.encode("utf-8", "replace")[:_READABLE_BYTES].decode("utf-8", "ignore")
    if _DEVICE.fullmatch(words.lower()):
        words = f"_{words}"
    digest = hashlib.sha256((part if of is None else of).encode("utf-8", "surrogatepass")).digest()
    letters = base64.b32encode(digest[:_HASH_BYTES]).decode().rstrip("=").lower()
    return f"{words}-{letters}" if words else f"_-{letters}"
