"""Make a lost or damaged state.db again from the metadata and the store.

    crawl4r.workspace.recover.recover("docs")

All work happens in files beside it, under the lock of the workspace. The new state.db takes the place
of the damaged one when it is complete, and its documents are made last, as `reprocess` makes them: a
recovery that is interrupted in that step goes on with it when it is run again.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.errors import UsageError, WorkspaceError
from crawl4r.recovery.outcome import DOCUMENTS, OnProgress, Outcome
from crawl4r.recovery.rebuild import UNFINISHED, rebuild
from crawl4r.recovery.stored_bytes import open_stored
from crawl4r.safe_text import command_line
from crawl4r.settings.load import FILE_NAME, Settings, load_settings
from crawl4r.storage import set_aside
from crawl4r.storage.condition import opened, why_not_whole
from crawl4r.storage.database import Database
from crawl4r.storage.layout import RECOVERING, STATE, holds_crawl, refuse_links
from crawl4r.storage.lock import WorkspaceLock, holder_of
from crawl4r.wiring.documents import build_documenter
from crawl4r.wiring.parts import METADATA_FILE, open_parts

_NOT_ASKING = {"agent": {"require_contact": False}}  # nothing is asked of any site


async def recover(
    path: str | Path,
    settings: Settings | None = None,
    *,
    dry_run: bool = False,
    on_progress: OnProgress = lambda step, done, total: None,
    clock: Clock = REAL_CLOCK,
) -> Outcome:
    """Bring state.db back; what came back and what did not. A dry run writes nothing.

    Raises UsageError, and changes nothing, for a state.db that is whole; WorkspaceError for one of
    another program or of a newer crawl4r, and for a workspace that another process uses.
    """
    workspace = Path(path)
    outcome = Outcome()
    before = _stamp(workspace / STATE)
    why = _why_needed(workspace)
    with _locked(workspace, dry_run):
        if _stamp(workspace / STATE) != before:
            raise WorkspaceError(f"{workspace / STATE} was changed meanwhile: run it again")
        if why is None:
            if dry_run:
                return outcome
            set_aside.clear(workspace)  # what the interrupted recovery left
        else:
            outcome.state = why
            _make_state(workspace, outcome, on_progress, clock, dry_run=dry_run)
            if dry_run or not outcome.captures:
                return outcome
        given = settings or load_settings(workspace / FILE_NAME, overrides=_NOT_ASKING)
        await _make_documents(workspace, given, outcome, on_progress)
    outcome.is_whole = True
    return outcome


def _why_needed(workspace: Path) -> str | None:
    """What is the matter with state.db; None for one that only lacks documents.

    Raises UsageError for a good one.
    """
    if not holds_crawl(workspace) and not (workspace / METADATA_FILE).is_file():
        raise WorkspaceError(f"there is no crawl in {workspace}: nothing to recover")
    refuse_links(workspace)
    for work in ("crawl", "index"):
        if holder := holder_of(workspace, work):
            raise WorkspaceError(
                f"another {work} (process {holder}) is using {workspace}; wait for it, or stop it"
            )
    state = workspace / STATE
    if why := why_not_whole(state):
        return why
    if _is_unfinished(state):
        return None
    raise UsageError(
        f"{state} is whole: nothing is recovered, and nothing was changed."
        f" `{command_line('crawl4r', 'status', '-w', workspace)}` shows what is in it"
    )


def _stamp(state: Path) -> tuple[int, int, int] | None:
    try:
        found = state.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _is_unfinished(state: Path) -> bool:
    """Whether a recovery was interrupted while it made documents."""
    with opened(state) as connection:
        return bool(
            connection.execute("SELECT 1 FROM notes WHERE key = ?", (UNFINISHED,)).fetchone()
        )


@contextlib.contextmanager
def _locked(workspace: Path, dry_run: bool) -> Iterator[None]:
    """Keep other processes away; a dry run only reads, and leaves no file of a lock behind."""
    if dry_run:
        yield
        return
    with contextlib.closing(WorkspaceLock(workspace)):
        yield


def _make_state(
    workspace: Path, outcome: Outcome, on_progress: OnProgress, clock: Clock, *, dry_run: bool
) -> None:
    """Make the new state.db, and put it in its place unless this is a dry run."""
    with contextlib.ExitStack() as stack:
        folder = workspace
        if dry_run:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crawl4r-")))
        source = set_aside.begin(workspace)
        set_aside.clear(folder, keeps_sign=source is not None)
        stack.callback(_clear_up, workspace, folder, source)
        damaged = set_aside.copy_damaged(workspace, source, folder)
        database = Database(folder / RECOVERING, is_derived=True)
        with contextlib.closing(database):
            stored = open_stored(workspace / "store", database)
            lines = workspace / METADATA_FILE
            rebuild(database, stored, lines, damaged, clock.wall(), outcome, on_progress)
        if dry_run or not outcome.captures:
            return
        stored.put_damaged_aside()
        moved = set_aside.move_aside(workspace, source)
        outcome.set_aside = [path.name for path in moved]
        set_aside.put_in_place(workspace)


def _clear_up(workspace: Path, folder: Path, source: Path | None) -> None:
    """Without a new state.db in its place, the next recovery must find what was set aside."""
    set_aside.clear(folder, keeps_sign=source is not None and not (workspace / STATE).exists())


async def _make_documents(
    workspace: Path, settings: Settings, outcome: Outcome, on_progress: OnProgress
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        undo = stack.enter_context(contextlib.ExitStack())
        parts = open_parts(workspace, settings, undo, read_only=False)
        documenter = await build_documenter(parts, settings, stack)
        if not documenter.behind():  # interrupted while pages of small sites were read again
            documenter.forget_all()
        done, total = 0, documenter.behind()

        def tell(more: int) -> None:
            nonlocal done
            done += more
            on_progress(DOCUMENTS, done, total)

        await documenter.catch_up(tell)
        await documenter.finish()
        parts.notes.forget(UNFINISHED)
        parts.database.commit()
        ((outcome.documents,),) = parts.database.read(
            "SELECT count(*) FROM documents WHERE gone_at IS NULL"
        )
