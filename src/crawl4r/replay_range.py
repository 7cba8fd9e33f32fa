"""A range of captures to the finished bytes of its lines. Runs where it can be killed.

A worker opens the workspace for itself, reads, checks and parses, and leaves its part of each file in a
folder: between the processes goes little more than the number of the range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from crawl4r.archive.captures import Captures
from crawl4r.archive.earlier import EarlierBytes
from crawl4r.archive.port import Blobs
from crawl4r.edges import EdgeReader, Edges, encoding_of, has_links
from crawl4r.errors import StorageDamaged, StorageFull
from crawl4r.model import Capture, Verdict
from crawl4r.replay_parts import EDGES, FORMS, RangeDone, part_path
from crawl4r.rules import spelling_from_json
from crawl4r.state.database import Database
from crawl4r.state.durable import write_all

_GROUP = 8  # pages that are read before they are parsed
_GROUP_BYTES = 4 * 1024**2


class RangeReplayer:
    """`kinds` names the files that are wanted; bytes are read and checked for the sake of edges."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        folder: Path,
        kinds: Sequence[str],
        links: EdgeReader,
    ) -> None:
        self._captures = Captures(database)
        self._earlier = EarlierBytes(database)
        self._blobs = blobs
        self._folder = folder
        self._forms = {kind: FORMS[kind] for kind in kinds if kind in FORMS}
        self._wants_edges = EDGES in kinds
        self._links = links

    def replay(self, number: int, first: int, last: int, blame: str = "") -> RangeDone:
        """Write the parts `number` of all files.

        With `blame`, no page is parsed, and those that should have been are named for that reason.
        """
        captures = list(self._range(first, last))
        paths = [self._blobs.locate(c.sha256) if c.sha256 else "" for c in captures]
        for kind, form in self._forms.items():
            lines = [form.line(c, path) for c, path in zip(captures, paths, strict=True)]
            self._write(number, kind, b"".join(line + b"\n" for line in lines))
        found = RangeDone(len(captures), 0, [], [])
        if self._wants_edges:
            pages = list(self._edges_of(captures, found, blame))
            rows = "".join([edges.text for edges in pages])
            self._write(number, EDGES, rows.encode("utf-8", "replace"))
            found = found._replace(edges=sum(edges.rows for edges in pages))
        return found

    def _edges_of(
        self, captures: Sequence[Capture], found: RangeDone, blame: str
    ) -> Iterator[Edges]:
        """Read all bytes that came with these captures, and parse the pages among them."""
        if not captures:
            return
        news = self._earlier.news(captures[0].id, captures[-1].id)
        for group in _groups([c for c in captures if c.id in news or _is_unread(c)]):
            # Reading a few at once and then parsing them is quicker than taking turns.
            for capture, body in [(capture, self._read(capture, found)) for capture in group]:
                if body and capture.id in news and has_links(capture, body):
                    edges = Edges("", 0, blame) if blame else self._parse(capture, body)
                    if edges.note:
                        found.unreadable.append((capture.url, edges.note))
                    yield edges

    def _range(self, first: int, last: int) -> Iterator[Capture]:
        for capture in self._captures.after(first - 1):
            if capture.id > last:
                return
            yield capture

    def _read(self, capture: Capture, found: RangeDone) -> bytes | None:
        assert capture.sha256 is not None
        try:
            body = self._blobs.read(capture.sha256)
        except StorageDamaged as problem:
            found.damaged.append((capture.url, str(problem)))
            return None
        if body is None:
            found.damaged.append((capture.url, f"{capture.sha256} is not in the store"))
        return body

    def _parse(self, capture: Capture, body: bytes) -> Edges:
        return self._links.read_or_blame(capture.url, body, encoding_of(capture, body))

    def _write(self, number: int, kind: str, data: bytes) -> None:
        path = part_path(self._folder, number, kind)
        try:
            with path.open("wb", buffering=0) as file:
                write_all(file.fileno(), data)
        except OSError as problem:
            raise StorageFull(f"cannot write {path}: {problem.strerror}") from problem


def _is_unread(capture: Capture) -> bool:
    """Whether it came with bytes that are no good page's: they are only held against their hash."""
    return capture.sha256 is not None and capture.verdict not in {Verdict.OK, Verdict.NOT_MODIFIED}


def _groups(captures: Sequence[Capture]) -> Iterator[list[Capture]]:
    """A few captures at a time, fewer when they are large."""
    group: list[Capture] = []
    size = 0
    for capture in captures:
        group.append(capture)
        size += capture.bytes
        if len(group) == _GROUP or size > _GROUP_BYTES:
            yield group
            group, size = [], 0
    yield group


def make_replayer(config: Mapping[str, Any]) -> Callable[[Sequence[Any], bytes], RangeDone]:
    """The sandbox's entry: `([number, first, last, blame], b"") -> range done`."""
    # As if derived: whoever started us has held it against its sum, which takes long for a large one.
    database = Database(Path(config["workspace"], "state.db"), read_only=True, is_derived=True)
    replayer = RangeReplayer(
        database,
        _open_blobs(config["blobs"], database),
        Path(config["folder"]),
        config["kinds"],
        EdgeReader(spelling_from_json(config["rules"])),
    )

    def run(head: Sequence[Any], _: bytes) -> RangeDone:
        number, first, last, blame = head
        try:
            return replayer.replay(number, first, last, blame)
        except StorageFull as problem:
            return RangeDone(0, 0, [], [], str(problem))

    return run


def _open_blobs(recipe: Sequence[Any], database: Database) -> Blobs:
    """By names, which only the composition root knows: a worker need not load all that it loads."""
    module, name, folder, takes_database = recipe
    arguments = (Path(folder), database) if takes_database else (Path(folder),)
    store: Blobs = getattr(import_module(module), name)(*arguments, writable=False)
    return store
