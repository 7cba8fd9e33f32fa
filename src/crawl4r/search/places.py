"""The places of index parts on servers, under names that no other workspace uses.

A place is a schema of PostgreSQL or a collection of Qdrant. Each generation gets a random name, kept
in `index.places` beside the index, so that workspaces on one server never share a place.

A copy of a workspace has the same names. Therefore a process that opens a place for writing stores a
new token there and in this file. If a workspace finds an unknown token, its copy has written to the
place: the catalogue and the place no longer match, and the workspace needs an index of its own. The
file also names the folder that owns the place: a copy in another folder may read the place until its
owner writes again, and never writes to it or deletes it.
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
_TRIES = 3  # tries to read a token that its owner changes


class LostPlace(WorkspaceError):
    """The place on the server does not belong (any more) to the index of this workspace."""


class ServerPlace(Struct, frozen=True):
    """A schema or a collection, and the workspace folder that may write to it."""

    generation: str  # the name of its folder
    part: str  # keyword or vectors
    name: str  # on the server
    tokens: list[str]  # valid tokens, the newest last
    path: str
    inode: int
    is_made: bool = False  # True once the server has it


class Claim:
    """The right to use a place on a server, proved by a token."""

    def __init__(self, places: Places, place: ServerPlace, *, is_writer: bool) -> None:
        self._places = places
        self._place = place
        self.name = place.name
        self.is_writer = is_writer
        self.may_make = is_writer and not place.is_made

    def settle(self, read: Callable[[], str | None], write: Callable[[str], None]) -> None:
        """Compare the token on the server with ours. A writer then stores a new one there.

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
        """Call when the token that `settle` wrote is durable on the server."""
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
    """The places of one workspace. Only the writer of its index may change them."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self._file = workspace / PLACES

    def begin(self, generation: str, part: str, prefix: str) -> None:
        """Choose a name for a part of a new generation."""
        name = f"{prefix}_{secrets.token_hex(6)}_{generation}".replace("-", "_")
        self.put(ServerPlace(generation, part, name, [secrets.token_hex(8)], *self._here()))

    def find(self, generation: str, part: str) -> ServerPlace | None:
        """The place of a part; None when it is not on a server, or comes from an older crawl4r."""
        wanted = (generation, part)
        return next((p for p in self._read() if (p.generation, p.part) == wanted), None)

    def to_read(self, place: ServerPlace) -> Claim:
        return Claim(self, place, is_writer=False)

    def to_write(self, place: ServerPlace) -> Claim:
        """The claim to a place. Raises LostPlace in a copy of the workspace that owns it."""
        path, inode = self._here()
        if path != place.path and inode != place.inode:
            claim = Claim(self, place, is_writer=True)
            raise claim.lost(f"belongs to {place.path}, and this is a copy of that")
        tokens = [*place.tokens, secrets.token_hex(8)]
        place = replace(place, tokens=tokens, path=path, inode=inode)
        self.put(place)
        return Claim(self, place, is_writer=True)

    def own(self) -> list[ServerPlace]:
        """The places to delete: neither a copy nor the original of this workspace uses them."""
        here = self._here()
        return [place for place in self._read() if (place.path, place.inode) == here]

    def put(self, place: ServerPlace) -> None:
        self._keep([*(each for each in self._read() if each.name != place.name), place])

    def forget(self, names: Collection[str]) -> None:
        self._keep([each for each in self._read() if each.name not in names])

    def forget_others(self, generation: str) -> None:
        """Forget places of other workspaces that no generation in use needs."""
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
