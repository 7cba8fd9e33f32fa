"""A private nginx on loopback that serves one directory and logs every request.

    python -m bench.server DIRECTORY

serves a directory, generated or any other such as Debian's documentation, until interrupted.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCUMENTATION = {
    "python-docs": Path("/usr/share/doc/python3-doc/html"),
    "postgresql-docs": Path("/usr/share/doc/postgresql-doc-15/html"),
}
START_SECONDS = 10.0
STOP_SECONDS = 10.0

# keepalive_requests is lifted so that no contender pays for reconnecting; the log is unbuffered
# so that it can be read while nginx runs.
CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    charset utf-8;
    log_format bench '$msec\\t$request_time\\t$status\\t$body_bytes_sent\\t$connection\\t'
                     '$request_method\\t$request_uri\\t$http_user_agent';
    access_log {prefix}/access.log bench;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 75s;
    keepalive_requests 1000000;
    open_file_cache max=8000 inactive=600s;
    map_hash_max_size 65536;
    map_hash_bucket_size 256;
    map $uri $moved_to {{
        default "";
        {redirects}
    }}
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root {root};
        index index.html;
        if ($moved_to) {{ return 301 $moved_to; }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Access:
    """One line of the access log."""

    time: float  # when the answer was complete, seconds since the epoch
    seconds: float  # from the first byte of the request to the last of the answer
    status: int
    bytes: int
    connection: int
    method: str
    uri: str  # path with query, as requested
    agent: str


@dataclass(frozen=True, slots=True)
class Server:
    url: str  # without a last slash
    log: Path

    def log_size(self) -> int:
        """Where the log ends now: pass it to `accesses` to see only what came later."""
        return self.log.stat().st_size

    def accesses(self, since: int = 0) -> Iterator[Access]:
        with self.log.open(encoding="utf-8", errors="replace") as lines:
            lines.seek(since)
            for line in lines:
                when, took, status, size, connection, method, uri, agent = line.split("\t", 7)
                yield Access(
                    float(when), float(took), int(status), int(size), int(connection),
                    method, uri, agent.rstrip("\n"),
                )  # fmt: skip


@contextlib.contextmanager
def serve(root: Path, redirects: Path | None = None) -> Iterator[Server]:
    """Serve `root` on a free port of 127.0.0.1; the nginx started here is stopped at the end."""
    executable = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if executable is None:
        raise FileNotFoundError("nginx is not installed: apt-get install nginx-light")
    with tempfile.TemporaryDirectory(prefix="crawl4r-bench-nginx-") as directory:
        prefix = Path(directory)
        port = _free_port()
        configuration = prefix / "nginx.conf"
        configuration.write_text(_configuration(prefix, root.resolve(), port, redirects))
        command = [executable, "-p", directory, "-c", str(configuration), "-e", "stderr"]
        with (prefix / "stderr.log").open("wb") as stderr:
            process = subprocess.Popen(command, stderr=stderr, start_new_session=True)
        try:
            _await_listening(process, port, prefix / "stderr.log")
            yield Server(f"http://127.0.0.1:{port}", prefix / "access.log")
        finally:
            _stop(process)


def _configuration(prefix: Path, root: Path, port: int, redirects: Path | None) -> str:
    # A worker of root's nginx drops to another user, who may not read a private cache directory.
    return CONFIGURATION.format(
        user="user root;" if os.geteuid() == 0 else "",
        prefix=prefix,
        port=port,
        root=root,
        redirects=f"include {redirects.resolve()};" if redirects else "",
    )


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _await_listening(process: subprocess.Popen[bytes], port: int, stderr: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.02)
    raise RuntimeError(f"nginx did not start: {stderr.read_text().strip()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="one with www/ inside is a generated site")
    directory = parser.parse_args().directory
    is_generated = (directory / "www").is_dir()
    root = directory / "www" if is_generated else directory
    redirects = directory / "redirects.map" if is_generated else None
    with serve(root, redirects) as server, contextlib.suppress(KeyboardInterrupt):
        print(f"{server.url}/ (log: {server.log})", flush=True)
        signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
