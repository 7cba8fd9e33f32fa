"""The site as tests hold it: a process of its own, and its access log."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.site.access_log import AccessRecord, read_access_log

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS_TO_EXIT = 10


class SiteProcess:
    """A running site; it ends with `close`, with the `with` block, or with this process.

    `robots` maps a host address to an answer such as "status:503" (see robots.py), `robots_files`
    to a file that is read anew at each request, so a test may change it.
    """

    def __init__(
        self,
        *,
        hosts: Sequence[str] = ("127.0.0.1",),
        port: int = 0,
        log: Path | None = None,
        robots: Mapping[str, str] | None = None,
        robots_files: Mapping[str, Path] | None = None,
    ) -> None:
        self._own_folder = tempfile.TemporaryDirectory()
        self._log = (log or Path(self._own_folder.name, "access.jsonl")).resolve()
        self._log.touch()
        self._final_records: list[AccessRecord] | None = None
        options = ["--hosts", ",".join(hosts), "--port", str(port), "--log", str(self._log)]
        options += [f"--robots={host}={spec}" for host, spec in (robots or {}).items()]
        files = (robots_files or {}).items()
        options += [f"--robots-file={host}={file.resolve()}" for host, file in files]
        self._process = _start(options)
        try:
            self.port: int = self._read_line()["port"]
        except RuntimeError:
            self.close()
            raise

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}{path}"

    def requests(self) -> list[AccessRecord]:
        """Every request answered so far (or given up), in order of response end."""
        if self._final_records is not None:
            return self._final_records
        self._ask()
        return read_access_log(self._log)

    def in_flight(self, host: str = "127.0.0.1") -> int:
        """How many requests are being answered right now; the log has them only at their end."""
        count: int = self._ask()["in_flight"].get(host, 0)
        return count

    def hold(self, host: str = "127.0.0.1", *, after: int = 0) -> None:
        """Answer this many more requests of a host and let all others wait, but for robots.txt."""
        self._ask(f"hold {host} {after}")

    def held(self, host: str = "127.0.0.1") -> int:
        """How many requests wait for `release`."""
        count: int = self._ask()["held"].get(host, 0)
        return count

    def release(self, host: str = "127.0.0.1") -> None:
        """Answer those that wait, and all that come."""
        self._ask(f"release {host}")

    def close(self) -> None:
        """Stop the site. The log stays readable through `requests`."""
        if self._final_records is not None:
            return
        self._stop()
        self._final_records = read_access_log(self._log)
        self._own_folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, command: str = "") -> dict[str, Any]:
        """A round trip through the site's event loop: what it answered before is in the log now."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # A site that is gone is reported by the next line.
            self._process.stdin.write(f"{command}\n".encode())
        return self._read_line()

    def _read_line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the test site has ended; its stderr says why")
        fields: dict[str, Any] = json.loads(line)
        return fields

    def _stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(SECONDS_TO_EXIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _start(options: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.site", *options],
        cwd=REPOSITORY,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A session of its own: Ctrl-C reaches pytest alone, whose end closes our stdin.
        start_new_session=True,
    )
