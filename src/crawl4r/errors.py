"""What can go wrong, as a tree.

    Crawl4rError
    ├── UsageError            the caller must change something; the message names what     (exit 2)
    │   ├── SettingsError     a configuration key has a value it cannot have
    │   ├── InvalidUrl        not a URL we could ever fetch
    │   ├── BytesDropped      gc removed the bytes of this capture; the message says when and why
    │   ├── WorkspaceError    the directory is missing, unwritable or newer than us
    │   │   └── WorkspaceBusy another process is using it
    │   └── EmbedderMissing   the package with a model's weights is not installed, or damaged
    ├── BadEmbedding          a model returned vectors that search cannot use
    ├── PageUnavailable       the one requested page could not be fetched (exit 1)
    └── StorageError          stored data is damaged, or nothing more can be written (exit 4)
        ├── StorageFull       the disk is full or a write failed; no partial write remains
        └── StorageDamaged    bytes on disk differ from what crawl4r wrote

A page that fails is never an exception: see `model.Failure`.
"""

from __future__ import annotations


class Crawl4rError(Exception):
    """Base of every error that crawl4r raises on purpose."""

    exit_code = 1


class UsageError(Crawl4rError):
    exit_code = 2


class SettingsError(UsageError):
    """`key` is the dotted path of the setting, as the user wrote it; `where`: a line or a variable."""

    def __init__(self, key: str, problem: str, where: str = "") -> None:
        super().__init__(": ".join(part for part in (where, key, problem) if part))
        self.key = key
        self.problem = problem


_WHY_INVALID = {
    "unparsable": "a character in it, or its host or port, is none that a URL can have",
    "scheme": "only http:// and https:// can be, or a host alone like example.org",
    "host": "it names no host; write it like https://example.org/",
    "credentials": "leave the name and password out, and put them into fetch.auth in crawl4r.yaml",
    "too-long": "it is too long",
}


class InvalidUrl(UsageError):
    """`reason` is a short word for scripts: unparsable, scheme, host, credentials or too-long."""

    def __init__(self, reason: str, url: str) -> None:
        shown = url if len(url) <= 200 else url[:197] + "..."
        super().__init__(f"{shown!r} is not a URL that can be crawled: {_WHY_INVALID[reason]}")
        self.reason = reason


class BytesDropped(UsageError):
    pass


class WorkspaceError(UsageError):
    pass


class WorkspaceBusy(WorkspaceError):
    pass


class EmbedderMissing(UsageError):
    """`problem` completes a sentence that begins with the package's name."""

    def __init__(self, package: str, problem: str, remedy: str = "crawl4r embed install") -> None:
        name = package.replace("_", "-")
        super().__init__(f"the embedder's package {name} {problem}: run `{remedy}`")


class BadEmbedding(Crawl4rError):
    pass


class PageUnavailable(Crawl4rError):
    pass


class StorageError(Crawl4rError):
    exit_code = 4


class StorageFull(StorageError):
    pass


class StorageDamaged(StorageError):
    pass
