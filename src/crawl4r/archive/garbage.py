"""Remove stored bytes that no capture needs, and compact the store.

    hashes in the store ─┬─> needed by a kept capture ──> stay
    hashes of captures ──┘   needed by no kept capture ──> a note that says so ──> removed
                             of no capture at all ──> removed ──> compaction

The note is committed before the bytes go, so that a crash leaves no capture whose missing bytes nothing
explains. Rows of captures always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge

from msgspec import Struct, field

from crawl4r.archive.blobs.port import Blobs, Compacted
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.archive.retention import Retention
from crawl4r.storage.database import Database

# Called with the kind of work, how much of it is done, and of how much.
OnStep = Callable[[str, int, int], None]
_BATCH = 1000  # hashes a commit
_DIGEST = 32  # bytes


class GcReport(Struct, kw_only=True):
    """What a collection did, or would do."""

    dry_run: bool
    policy: str  # in the words of the options; empty when every capture keeps its bytes
    blobs: int = 0  # stored before
    bytes: int = 0  # of them, on disk
    orphans: int = 0  # of no capture
    orphan_bytes: int = 0
    dropped: int = 0  # of captures that the policy does not keep
    dropped_bytes: int = 0
    segments: int = 0  # before; 0 in a store of files
    rewritten: int = 0  # segments
    deleted: int = 0  # segments
    freed: int = 0  # bytes on disk
    damaged: list[str] = field(default_factory=list)  # segments that were left as they are


class _Hashes:
    """Many hashes in their order, in little memory."""

    def __init__(self) -> None:
        self._digests = bytearray()

    def add(self, sha256: str) -> None:
        self._digests += bytes.fromhex(sha256)

    def __len__(self) -> int:
        return len(self._digests) // _DIGEST

    def __iter__(self) -> Iterator[str]:
        for at in range(0, len(self._digests), _DIGEST):
            yield self._digests[at : at + _DIGEST].hex()

    def batches(self) -> Iterator[list[str]]:
        step = _BATCH * _DIGEST
        for at in range(0, len(self._digests), step):
            part = self._digests[at : at + step]
            yield [part[n : n + _DIGEST].hex() for n in range(0, len(part), _DIGEST)]


class GarbageCollector:
    """One collection; `run` needs the lock of the workspace, `foresee` only reads."""

    def __init__(self, database: Database, blobs: Blobs, retention: Retention, now: float) -> None:
        self._database = database
        self._blobs = blobs
        self._retention = retention
        self._now = now
        self._dropped = DroppedBytes(database, blobs.locate)

    def foresee(self) -> GcReport:
        report, orphans, unkept = self._sort_out(dry_run=True)
        return _with_compaction(report, self._blobs.foresee(merge(orphans, unkept)))

    def run(self, on_step: OnStep = lambda work, done, total: None) -> GcReport:
        report, orphans, unkept = self._sort_out(dry_run=False)
        if restored := self._dropped.restored():
            self._dropped.forget(restored)
        done, total = 0, len(orphans) + len(unkept)
        for hashes, is_noted in ((unkept, True), (orphans, False)):
            for batch in hashes.batches():
                if is_noted:
                    self._dropped.note(batch, self._now, self._retention.why_dropped())
                    self._database.commit()
                self._blobs.remove(batch)
                self._database.commit()
                done += len(batch)
                on_step("removing", done, total)
        self._database.commit()
        compacted = self._blobs.compact(lambda done, total: on_step("compacting", done, total))
        return _with_compaction(report, compacted)

    def _sort_out(self, *, dry_run: bool) -> tuple[GcReport, _Hashes, _Hashes]:
        """What is stored, the hashes of no capture, and those of captures that are not kept."""
        report = GcReport(dry_run=dry_run, policy=self._retention.words())
        orphans, unkept = _Hashes(), _Hashes()
        named = self._retention.needs(self._database, self._now)
        name, is_needed = next(named, ("", False))
        for sha256, size in self._blobs.stored():
            while name and name < sha256:
                name, is_needed = next(named, ("", False))
            report.blobs += 1
            report.bytes += size
            if name != sha256:
                orphans.add(sha256)
                report.orphans += 1
                report.orphan_bytes += size
            elif not is_needed:
                unkept.add(sha256)
                report.dropped += 1
                report.dropped_bytes += size
        return report, orphans, unkept


def _with_compaction(report: GcReport, compacted: Compacted) -> GcReport:
    report.segments = compacted.segments
    report.rewritten = compacted.rewritten
    report.deleted = compacted.deleted
    report.freed = compacted.freed
    report.damaged = list(compacted.damaged)
    return report
