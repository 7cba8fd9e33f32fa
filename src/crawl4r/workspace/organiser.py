"""A workspace whose crawls and documents people organise: delete, bring back, label."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from crawl4r.errors import WorkspaceError
from crawl4r.workspace.async_reader import AsyncReader

if TYPE_CHECKING:
    from crawl4r.storage.organisation import Label
    from crawl4r.workspace.organise import DeletedCrawl


class Organiser(AsyncReader):
    """What is decided here lasts: no refresh and no rebuild changes it."""

    def delete(self, *urls: str) -> list[str]:
        """Delete documents for good: no refresh and no rebuild brings them back, `restore` does.

        Returns the URLs that were not deleted before. The archive keeps captures and bytes. Raises
        UsageError for a URL without a document.
        """
        from crawl4r.workspace.organise import delete_documents  # noqa: PLC0415

        gone = delete_documents(self.parts, map(self.canonical, urls))
        self._follow_in_index()
        return gone

    def restore(self, *urls: str) -> list[str]:
        """Bring deleted documents back; returns the URLs of those that were deleted."""
        from crawl4r.workspace.organise import restore_documents  # noqa: PLC0415

        back = restore_documents(self.parts, map(self.canonical, urls))
        self._follow_in_index()
        return back

    def add_label(self, label: Label, name: str, *urls: str) -> list[str]:
        """Give documents a collection or tag; the URLs of those that did not have it."""
        from crawl4r.workspace.organise import add_labels  # noqa: PLC0415

        added = add_labels(self.parts, label, name, map(self.canonical, urls))
        self._follow_in_index()
        return added

    def remove_label(self, label: Label, name: str, *urls: str) -> list[str]:
        """Take a collection or tag from documents; the URLs of those that had it."""
        from crawl4r.workspace.organise import remove_labels  # noqa: PLC0415

        removed = remove_labels(self.parts, label, name, map(self.canonical, urls))
        self._follow_in_index()
        return removed

    def delete_label(self, label: Label, name: str) -> int:
        """Delete a collection or tag; how many documents had it. They stay."""
        from crawl4r.workspace.organise import delete_label  # noqa: PLC0415

        count = delete_label(self.parts, label, name)
        self._follow_in_index()
        return count

    def keep_bytes(
        self, collection: str, *, captures: int | None = None, days: float | None = None
    ) -> None:
        """Say which captures of a collection's pages keep their bytes when `gc` runs: the newest good
        ones of each page, the younger ones, or both. Without either, the rule of `gc` counts again."""
        from crawl4r.storage.organisation import KeepRule  # noqa: PLC0415
        from crawl4r.workspace.organise import set_keep_rule  # noqa: PLC0415

        set_keep_rule(self.parts, collection, KeepRule(captures, days))

    def delete_crawl(self, name: str, *, with_documents: bool = False) -> DeletedCrawl:
        """Delete the frontier and settings of a crawl; documents stay unless they are asked for.

        Even then those stay that another crawl or a collection holds.
        """
        from crawl4r.workspace.organise import delete_crawl  # noqa: PLC0415

        deleted = delete_crawl(self.parts, name, with_documents=with_documents)
        self._follow_in_index()
        return deleted

    def _follow_in_index(self) -> None:
        """Take changes over into the index, if there is one; an indexer that runs does it itself."""
        if not (self.path / "index").exists():
            return
        from crawl4r.workspace.index import index_workspace  # noqa: PLC0415

        with contextlib.suppress(WorkspaceError):
            index_workspace(self.path, self.settings, with_vectors=False)
