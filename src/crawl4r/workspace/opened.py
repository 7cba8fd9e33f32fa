"""A workspace held open: its parts, its settings, its lock."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from crawl4r.archive.documents import Documents
from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.errors import StorageFull
from crawl4r.settings.load import FILE_NAME, Settings, load_settings
from crawl4r.storage.layout import refuse_links
from crawl4r.urls.canonical import canonicalize, with_scheme
from crawl4r.wiring.parts import Parts, lock_workspace, open_parts


class OpenWorkspace:
    """The parts that everything in a workspace stands on; `close` ends them."""

    def __init__(
        self,
        path: str | Path,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        home: Path | None = None,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """`home` is the workspace whose discoverer keeps its state here, and no pages."""
        self.path = Path(path)
        self.home = home or self.path
        self.is_read_only = read_only
        self.settings = settings or load_settings(self.path / FILE_NAME)
        self._store = contextlib.ExitStack()  # closes what is open in it, and can be used again
        self._open = partial(
            open_parts,
            self.path,
            self.settings,
            self._store,
            read_only=read_only,
            keeps_bytes=home is None,
            clock=clock,
        )
        refuse_links(self.home)
        with contextlib.ExitStack() as undo:
            if not read_only:
                undo.callback(lock_workspace(self.path).close)
            undo.callback(self._store.close)
            self._stand_on(self._open())
            self._closing = undo.pop_all()

    def reopen(self) -> Parts:
        """Close state and store and open them again, with all that a start would repair.

        The workspace stays locked: no other process begins here meanwhile. When this fails, nothing is
        open.
        """
        self._store.close()
        if not (self.path / "state.db").exists():  # an empty place where a disk is to be mounted
            raise StorageFull(f"{self.path / 'state.db'} is not there")
        self._stand_on(self._open())
        return self.parts

    def _stand_on(self, parts: Parts) -> None:
        self.parts = parts
        self.database = parts.database
        self.blobs = parts.blobs
        self.captures = parts.captures
        self.notes = parts.notes
        self.report = parts.report
        self._documents = Documents(parts.database)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close everything; another process may open the workspace then."""
        self._closing.close()

    def canonical(self, url: str) -> str:
        """The spelling under which this workspace knows a URL."""
        return canonicalize(with_scheme(url), None, self.settings.scope.canonical())

    def _now(self) -> float:
        return self.parts.clock.wall()
