"""A private nginx with TLS and HTTP/2: its own port, folder and certificate, ended by the test."""

import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.debian import install, program

NAME = "secure.test"
_SECONDS_TO_START = 10
_CONFIGURATION = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{}}
http {{
  types {{ text/html html; }}
  log_format lines '$connection $server_protocol $request_uri';
  access_log {folder}/access.log lines;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    gzip on;
    root {folder}/site;
  }}
}}
"""


def find_or_install_nginx() -> str:
    """Skips the test only where nginx neither is nor can be installed."""
    if not program("nginx"):
        install("nginx-light")
    return program("nginx") or pytest.skip("nginx is not here and apt-get cannot install it")


class Nginx:
    """Serves `folder/site`. `certificate` is self-signed, for `NAME` and 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        self._program = find_or_install_nginx()
        self._folder = folder
        self.certificate = folder / "certificate.pem"
        self.site = folder / "site"
        self.site.mkdir()
        make_certificate(folder, NAME)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        user = "user root;" if os.geteuid() == 0 else ""  # the folder is ours alone
        text = _CONFIGURATION.format(folder=folder, port=self.port, user=user)
        (folder / "nginx.conf").write_text(text)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"https://{host}:{self.port}{path}"

    def served(self) -> list[tuple[int, str, str]]:
        """Connection, protocol and path of each request."""
        lines = (self._folder / "access.log").read_text().splitlines()
        return [(int(line.split()[0]), *line.split()[1:3]) for line in lines]

    def __enter__(self) -> Self:
        arguments = [self._program, "-p", self._folder, "-c", self._folder / "nginx.conf"]
        self._process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + _SECONDS_TO_START
        while not _listens(self.port):
            assert self._process.poll() is None, (self._folder / "error.log").read_text()
            assert time.monotonic() < deadline, "nginx does not listen"
            time.sleep(0.02)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(10)


def make_certificate(folder: Path, name: str) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    command += f" -subj /CN={name} -addext subjectAltName=DNS:{name},IP:127.0.0.1"
    files = ["-keyout", folder / "key.pem", "-out", folder / "certificate.pem"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
