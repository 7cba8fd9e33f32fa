"""A world as tests hold it, a process of its own with an access log; and what may run beside it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.site.access_log import AccessRecord
from tests.site.process import REPOSITORY, SECONDS_TO_EXIT, SiteProcess
from tests.worlds.answer import Parameters


class WorldProcess(SiteProcess):
    """A running world; url, requests, in_flight and close are those of any test site.

    `prefix` is put before the command, so that it can run in a network of its own.
    """

    def __init__(
        self,
        parameters: Parameters,
        *,
        hosts: Sequence[str] = ("127.0.0.1",),
        port: int = 0,
        log: Path | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        assert is_dataclass(parameters)
        assert not isinstance(parameters, type)
        self._own_folder = tempfile.TemporaryDirectory()
        self._log = (log or Path(self._own_folder.name, "access.jsonl")).resolve()
        self._log.touch()
        self._final_records: list[AccessRecord] | None = None
        told = [type(parameters).__name__, json.dumps(asdict(parameters))]
        options = ["--hosts", ",".join(hosts), "--port", str(port), "--log", str(self._log)]
        self._process = start_module("tests.worlds", [*told, *options], prefix)
        try:
            self.port: int = self._read_line()["port"]
        except RuntimeError:
            self.close()
            raise

    def urls(self, paths: Iterable[str], host: str = "127.0.0.1") -> set[str]:
        return {self.url(path, host) for path in paths}

    def tell(self, **words: Any) -> None:
        """Change the world; what is asked after this returns is answered by the new one."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # A world that is gone is reported by the next line.
            self._process.stdin.write(json.dumps(words).encode() + b"\n")
        self._read_line()


class Companion:
    """A module of the tests as a process that answers each line by a line, both JSON objects.

    It says one line when it is ready; it ends with `close`, with the `with` block, or with us.
    """

    def __init__(self, module: str, options: Sequence[str], prefix: Sequence[str] = ()) -> None:
        self._process = start_module(module, options, prefix)
        self.ready = self._read_line()

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, words: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(words).encode() + b"\n")
        return self._read_line()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(SECONDS_TO_EXIT)
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read_line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError("it has ended; its stderr says why")
        fields: dict[str, Any] = json.loads(line)
        return fields


def start_module(
    module: str, options: Sequence[str], prefix: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """A module of the tests as a process that is spoken to by pipes and ends when they close."""
    return subprocess.Popen(
        [*prefix, sys.executable, "-m", module, *options],
        cwd=REPOSITORY,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A session of its own: Ctrl-C reaches pytest alone, whose end closes the pipes.
        start_new_session=True,
    )
