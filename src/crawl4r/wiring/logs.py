"""The composition root of the logs, beside a crawl or from the archive alone."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from crawl4r.archive.lines.metrics_csv import MetricsLog
from crawl4r.errors import StorageFull
from crawl4r.logs.metrics import Meter
from crawl4r.logs.replay import HEADERS, Replay, ReplayReport, Sink
from crawl4r.processes.entrypoints import EDGE_READER
from crawl4r.processes.sandbox import Sandbox
from crawl4r.processes.spawn import usable_cores
from crawl4r.settings.load import Settings
from crawl4r.storage.replaced_files import ComparedFiles, ReplacedFiles
from crawl4r.urls.policy import spelling_as_json
from crawl4r.wiring.parts import EDGES_FILE, METADATA_FILE, PAGES_FILE, Parts

FILES = {"pages": PAGES_FILE, "metadata": METADATA_FILE, "edges": EDGES_FILE}
OnProgress = Callable[[int], None] | None
_WORKPLACE = ".replay"  # the folder of incomplete files


class LogFollower(Protocol):
    """Writes a file beside a crawl."""

    async def follow(self) -> None:
        """Write until `end` was called and everything is written, or until `stop`."""

    def end(self) -> None:
        """Call when the crawl has ended and committed everything."""

    def stop(self) -> None:
        """End now. The next run writes the remaining rows."""


async def build_logs(
    parts: Parts,
    settings: Settings,
    stack: contextlib.AsyncExitStack,
    *,
    role: str,
    workspace: Path,
) -> list[LogFollower]:
    """The log writers beside a crawl of this role; `stack` ends them. The keeper writes pages.csv."""
    followers: list[LogFollower] = []
    if settings.logs.edges and parts.keeps_bytes:
        from crawl4r.logs.edge_log import EdgeLog  # noqa: PLC0415 - it loads the parser

        rules = settings.scope.canonical()
        reading = settings.reading
        sandbox = Sandbox(
            EDGE_READER,
            spelling_as_json(rules),
            seconds=reading.seconds,
            memory_bytes=reading.memory_mb * 1024**2,
            clock=parts.clock,
        )
        await stack.enter_async_context(sandbox)
        edges = EdgeLog(
            parts.path / EDGES_FILE, rules, parts.database, parts.captures, parts.blobs, sandbox
        )
        stack.callback(edges.close)
        followers.append(edges)
    if settings.logs.metrics:
        metrics = MetricsLog(workspace / "logs" / f"{role}_metrics.csv", parts.database)
        stack.callback(metrics.close)
        followers.append(Meter(metrics, settings.logs.metrics_seconds, parts.clock.wall))
    return followers


async def rebuild_logs(
    parts: Parts, settings: Settings, on_progress: OnProgress = None
) -> ReplayReport:
    """Rewrite the workspace's own logs. Later crawls append to them."""
    from crawl4r.logs.edge_log import forget_note, put_note  # noqa: PLC0415

    last, rules = parts.captures.last_id(), _spelling(parts, settings)
    places = {kind: parts.path / path for kind, path in FILES.items()}
    with _workplace(parts.path) as folder, contextlib.closing(_new(folder, places)) as files:
        report = await _replay(parts, settings, list(FILES), files, last, on_progress)
        lengths = files.complete()
        # Between the two notes the content of the file is unknown: after a crash there it is rewritten.
        forget_note(parts.notes)
        parts.database.commit()
        files.move()
        put_note(parts.notes, last, lengths["edges"], rules)
        parts.database.commit()
    return report


async def write_logs(
    parts: Parts,
    settings: Settings,
    places: Mapping[str, Path],
    on_progress: OnProgress = None,
) -> ReplayReport:
    """Write logs of the given kinds to another place; the workspace is only read."""
    nearby = next(iter(places.values())).parent
    last = parts.captures.last_id()
    with _workplace(nearby) as folder, contextlib.closing(_new(folder, places)) as files:
        report = await _replay(parts, settings, list(places), files, last, on_progress)
        files.complete()
        files.move()
    return report


async def check_logs(
    parts: Parts,
    settings: Settings,
    places: Mapping[str, Path],
    on_progress: OnProgress = None,
) -> tuple[ReplayReport, ComparedFiles]:
    """Compare files with the result of a replay, without writing."""
    last = parts.captures.last_id()
    with contextlib.closing(ComparedFiles(places, HEADERS)) as files:
        report = await _replay(parts, settings, list(places), files, last, on_progress)
        files.complete()
    return report, files


async def _replay(
    parts: Parts,
    settings: Settings,
    kinds: Sequence[str],
    sink: Sink,
    last: int,
    on_progress: OnProgress,
) -> ReplayReport:
    workers, reading = usable_cores(), settings.reading
    async with Sandbox(
        EDGE_READER,
        _spelling(parts, settings),
        workers=workers,
        seconds=reading.seconds,
        memory_bytes=reading.memory_mb * 1024**2,
    ) as sandbox:
        replay = Replay(parts.database, parts.captures, parts.blobs, sandbox, workers, kinds)
        return await replay.run(last, sink, on_progress)


def _spelling(parts: Parts, settings: Settings) -> dict[str, Any]:
    """The rules of the last crawl, so that links get the same spelling."""
    return parts.spelling() or spelling_as_json(settings.scope.canonical())


def _new(folder: Path, places: Mapping[str, Path]) -> ReplacedFiles:
    return ReplacedFiles(folder, places, HEADERS)


@contextlib.contextmanager
def _workplace(nearby: Path) -> Iterator[Path]:
    """A temporary folder on the disk of the target files."""
    folder = nearby / _WORKPLACE
    try:
        shutil.rmtree(folder, ignore_errors=True)  # a killed process left it
        folder.mkdir(parents=True)
    except OSError as problem:
        raise StorageFull(f"cannot make {folder}: {problem.strerror}") from problem
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
