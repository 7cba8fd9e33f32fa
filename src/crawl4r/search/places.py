"""Where the parts of an index are on servers: under names that no other workspace uses.

A place is a schema of PostgreSQL or a collection of Qdrant. Its name is made at random with each
generation and kept in `index.places` beside the index, so that workspaces on one server never meet.

A copy of a workspace has the same names. So a process that opens a place to write puts a new token
there and remembers it here. A workspace that finds a token which it does not know has been written
past by its copy: its catalogue and that place no longer belong together, and it needs an index of
its own. The folder that a place belongs to is kept too: a copy elsewhere may read the place, until
its owner writes again, and neither writes to it nor deletes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.storage.layout import PLACES
from crawl4r.storage.own_files import replacing

KEYWORD, VECTORS = "keyword", "vectors"
_TRIES = 3  # to read a token while its owner changes it


class LostPlace(WorkspaceError):
    """What is on the server does not belong to this workspace's index, or not any more."""


class ServerPlace(Struct, frozen=True):
    """A schema or a collection, and the workspace folder that may write to it."""

    generation: str  # the name of its folder
    part: str  # keyword or vectors
    name: str  # on the server
    tokens: list[str]  # that may be found there, the newest last
    path: str
    inode: int
    is_made: bool = False  # it has been seen on the server


class Claim:
    """The right to a place on a server, shown there by a token."""

    def __init__(self, places: Places, place: ServerPlace, *, is_writer: bool) -> None:
        self._places = places
        self._place = place
        self.name = place.name
        self.is_writer = is_writer
        self.may_make = is_writer and not place.is_made

    def settle(self, read: Callable[[], str | None], write: Callable[[str], None]) -> None:
        """Hold `read`, the token on the server, against ours; a writer then puts its own there.

        Raises LostPlace when another workspace has written there, or the place is gone.
        """
        for _ in range(_TRIES):
            found = read()
            if found in self._places.tokens_of(self._place) or (not found and self.may_make):
                break
        else:
            raise self.lost("was written to by a copy of it" if found else "is gone")
        if self.is_writer:
            write(self._place.tokens[-1])

    def note_made(self) -> None:
        """What `settle` wrote is durable on the server."""
        if self.is_writer:
            newest = self._place.tokens[-1:]
            self._place = replace(self._place, tokens=newest, is_made=True)
            self._places.put(self._place)

    def lost(self, what: str) -> LostPlace:
        return LostPlace(
            f"the index of {self._places.workspace} on the server ({self.name}) {what};"
            " `crawl4r index --rebuild` makes another"
        )


class Places:
    """Those of one workspace. Only the writer of its index calls what changes them."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self._file = workspace / PLACES

    def begin(self, generation: str, part: str, prefix: str) -> None:
        """A name for a part of a new generation."""
        name = f"{prefix}_{secrets.token_hex(6)}_{generation}".replace("-", "_")
        self.put(ServerPlace(generation, part, name, [secrets.token_hex(8)], *self._here()))

    def find(self, generation: str, part: str) -> ServerPlace | None:
        """None when this part is not on a server, or was put there by an older crawl4r."""
        wanted = (generation, part)
        return next((p for p in self._read() if (p.generation, p.part) == wanted), None)

    def to_read(self, place: ServerPlace) -> Claim:
        return Claim(self, place, is_writer=False)

    def to_write(self, place: ServerPlace) -> Claim:
        """Raises LostPlace in a copy of the workspace that made it."""
        path, inode = self._here()
        if path != place.path and inode != place.inode:
            claim = Claim(self, place, is_writer=True)
            raise claim.lost(f"belongs to {place.path}, and this is a copy of that")
        tokens = [*place.tokens, secrets.token_hex(8)]
        place = replace(place, tokens=tokens, path=path, inode=inode)
        self.put(place)
        return Claim(self, place, is_writer=True)

    def own(self) -> list[ServerPlace]:
        """Those that may be deleted: none that a copy of this workspace, or its original, may use."""
        here = self._here()
        return [place for place in self._read() if (place.path, place.inode) == here]

    def put(self, place: ServerPlace) -> None:
        self._keep([*(each for each in self._read() if each.name != place.name), place])

    def forget(self, names: Collection[str]) -> None:
        self._keep([each for each in self._read() if each.name not in names])

    def forget_others(self, generation: str) -> None:
        """Those of other workspaces, when no generation in use needs them."""
        ours = {place.name for place in self.own()}
        gone = [p.name for p in self._read() if p.generation != generation and p.name not in ours]
        if gone:
            self.forget(gone)

    def tokens_of(self, place: ServerPlace) -> list[str]:
        known = self.find(place.generation, place.part)
        return known.tokens if known and known.name == place.name else []

    def _here(self) -> tuple[str, int]:
        return str(self.workspace.resolve()), self.workspace.stat().st_ino

    def _read(self) -> list[ServerPlace]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[ServerPlace])
        except FileNotFoundError:
            return []
        except msgspec.DecodeError as problem:
            raise StorageDamaged(
                f"{self._file} is damaged ({problem}): delete it, then run `crawl4r index --rebuild`"
            ) from problem
        except OSError as problem:
            raise WorkspaceError(f"{self._file} cannot be read: {problem.strerror}") from problem

    def _keep(self, places: list[ServerPlace]) -> None:
        try:
            with replacing(self._file) as file:
                file.write(msgspec.json.format(msgspec.json.encode(places), indent=1))
        except OSError as problem:
            raise StorageFull(f"cannot write {self._file}: {problem.strerror}") from problem
