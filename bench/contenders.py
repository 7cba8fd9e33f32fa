"""Who takes part: each one's command for the same job, and how to read what it stored."""

import hashlib
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench.manifest import Manifest
from bench.peers import environment

PROJECT = Path(__file__).parent.parent
CRAWL4R = PROJECT / ".venv" / "bin" / "crawl4r"
CONCURRENCY = 64

Stored = dict[str, str]  # path with query -> sha256 of what was kept


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    command: Callable[[str, Path], list[str]]  # of the start URL and an empty directory
    stored: Callable[[Path, Manifest], Stored]
    version: Callable[[], str]
    fine_exit_codes: frozenset[int] = frozenset({0})


def _crawl4r_command(url: str, directory: Path, executable: Path = CRAWL4R) -> list[str]:
    workspace = ["--workspace", str(directory / "workspace")]
    pace = ["--concurrency", str(CONCURRENCY), "--per-host", str(CONCURRENCY), "--rate", "0"]
    # Links and bytes only, as the others do; `crawl4r-documents` makes text of them too.
    plain = ["--no-extract", "--allow-private", "127.0.0.1", "--json"]
    return [str(executable), "crawl", url, *workspace, *pace, *plain]


def _crawl4r_documents_command(url: str, directory: Path, executable: Path = CRAWL4R) -> list[str]:
    """Documents without an index: the others have none."""
    command = _crawl4r_command(url, directory, executable)
    return ["--no-index" if word == "--no-extract" else word for word in command]


def _crawl4r_stored(directory: Path, _: Manifest, executable: Path = CRAWL4R) -> Stored:
    command = [str(executable), "pages", "--workspace", str(directory / "workspace"), "--json"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (json.loads(line) for line in listing.splitlines() if line.strip())
    return {
        _path_with_query(row["url"]): row["sha256"]
        for row in rows
        if row["sha256"] and row["status"] == 200
    }


def _peer(script: str, *options: str) -> Callable[[str, Path], list[str]]:
    def command(url: str, directory: Path) -> list[str]:
        file = environment.HERE / script
        return [str(environment.python()), str(file), url, str(directory), *options]

    return command


def _peer_stored(directory: Path, _: Manifest) -> Stored:
    """The peers' scripts name each file by its quoted path."""
    return {unquote(file.name): _sha256(file) for file in (directory / "pages").iterdir()}


def _wget2_command(url: str, directory: Path) -> list[str]:
    return [
        "wget2",
        "--no-config",
        "--quiet",
        "--recursive",
        "--level=inf",
        f"--max-threads={CONCURRENCY}",
        "--no-host-directories",
        f"--directory-prefix={directory / 'pages'}",
        "--trust-server-names",  # name a redirected page by where it was found
        "--ignore-tags=img,link,script,object,embed",  # links only, as the others do
        "--no-cookies",
        "--no-xattr",
        url,
    ]


def _wget2_stored(directory: Path, manifest: Manifest) -> Stored:
    """wget2 keeps `/a/?v=2` as `a/index.html?v=2`."""
    root = directory / "pages"
    stored = {}
    for file in root.rglob("*"):
        if file.is_file():
            path = f"/{file.relative_to(root)}"
            directory_path = path.replace("/index.html", "/")
            is_directory = path not in manifest.pages and directory_path != path
            stored[directory_path if is_directory else path] = _sha256(file)
    return stored


def _path_with_query(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _first_line(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[0]


def _peer_version(package: str) -> Callable[[], str]:
    code = f"from importlib.metadata import version; print(version('{package}'))"
    return lambda: f"{package} {_first_line([str(environment.python()), '-c', code])}"


def _wget2(name: str) -> Contender:
    # 8: a server issued an error, as the site's missing pages do.
    return Contender(
        name,
        _wget2_command,
        _wget2_stored,
        lambda: _first_line(["wget2", "--version"]).partition(" - ")[0],
        frozenset({0, 8}),
    )


def _contenders() -> dict[str, Contender]:
    scrapy, crawlee = _peer_version("scrapy"), _peer_version("crawlee")
    everyone = (
        Contender(
            "crawl4r", _crawl4r_command, _crawl4r_stored,
            lambda: _first_line([str(CRAWL4R), "--version"]),
        ),
        Contender(
            "crawl4r-documents", _crawl4r_documents_command, _crawl4r_stored,
            lambda: _first_line([str(CRAWL4R), "--version"]),
        ),
        Contender("scrapy", _peer("scrapy_site.py"), _peer_stored, scrapy),
        Contender("crawlee", _peer("crawlee_site.py"), _peer_stored, crawlee),
        _wget2("wget2"),
        Contender("scrapy-stock", _peer("scrapy_site.py", "--stock"), _peer_stored, scrapy),
        Contender("scrapy-markdown", _peer("scrapy_site.py", "--extract"), _peer_stored, scrapy),
        Contender("crawlee-durable", _peer("crawlee_site.py", "--durable"), _peer_stored, crawlee),
    )  # fmt: skip
    return {contender.name: contender for contender in everyone}


def before(checkout: Path) -> list[Contender]:
    """crawl4r as it is in another checkout that `make setup` has run in."""
    executable = checkout / ".venv" / "bin" / "crawl4r"
    stored = partial(_crawl4r_stored, executable=executable)
    return [
        Contender(name, partial(command, executable=executable), stored, lambda: str(checkout))
        for name, command in (
            ("before", _crawl4r_command),
            ("before-documents", _crawl4r_documents_command),
        )
    ]


CONTENDERS = _contenders()
BY_DEFAULT = ("crawl4r", "scrapy", "crawlee", "wget2")
