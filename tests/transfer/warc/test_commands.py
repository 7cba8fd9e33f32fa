"""`crawl4r export warc` and `wacz` as people and scripts call them."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.interfaces.cli.running import LOOPBACK, run
from tests.transfer.warc.strict import read_strictly
from tests.transfer.warc.workspaces import Maker, captures_of, made, page


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(maker: Maker) -> None:
        for n in range(6):
            maker.add(f"http://site.example/{n}", page(f"Page {n}"))
        maker.add("http://site.example/copy", page("Page 0"))

    return made(tmp_path_factory.mktemp("commands") / "ws", make)


def test_a_folder_gets_a_series_and_an_index(workspace: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    told = run("export", "warc", "-w", workspace, "-o", out, "--max-size", "2K", "--json").json
    assert [Path(file).name for file in told["files"][:2]] == [
        "ws-00000.warc.gz",
        "ws-00001.warc.gz",
    ]
    assert told["index"] == str(out / "index.cdxj")
    assert (told["captures"], told["revisits"]) == (7, 1)
    assert told["bytes"] == sum(Path(file).stat().st_size for file in told["files"])
    assert told["records"] == sum(len(read_strictly(Path(file))) for file in told["files"])
    assert {path.name for path in out.iterdir()} == {
        "index.cdxj", *(Path(file).name for file in told["files"])
    }  # fmt: skip
    words = run("export", "warc", "-w", workspace, "-o", out).text
    assert words.startswith("7 captures in 15 records, 1 of bytes that were there already; ")


@pytest.mark.parametrize(
    ("name", "options", "start"),
    [
        ("a.warc", [], b"WARC/1.1"),
        ("a.warc.gz", ["--compression", "gzip"], b"\x1f\x8b"),
        ("a.warc.zst", [], b"\x28\xb5\x2f\xfd"),
    ],
)
def test_a_name_of_a_file_makes_one_file(
    workspace: Path, tmp_path: Path, name: str, options: list[str], start: bytes
) -> None:
    answer = run("export", "warc", "-w", workspace, "-o", tmp_path / name, *options, "--json")
    assert answer.json["files"] == [str(tmp_path / name)]
    assert (tmp_path / name).read_bytes().startswith(start)
    assert {path.name for path in tmp_path.iterdir()} == {name, "a.cdxj"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "a.warc.gz", "--compression", "zstd"], "a.warc.gz is not packed with zstd"),
        (["--out", "out", "--max-size", "much"], "--max-size: 'much'"),
        (["--out", "out", "--max-size", "0"], "--max-size: '0'"),
        (["--out", "out", "--since", "yesterday"], "--since: 'yesterday'"),
        (["--out", "out", "--site", "other.example"], "no capture is of that site"),
        (["--out", "out", "--language", "en"], "--language"),
    ],
)
def test_a_wrong_option_is_named(
    workspace: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    here = [str(tmp_path / word) if word in {"a.warc.gz", "out"} else word for word in options]
    answer = run("export", "warc", "-w", workspace, *here)
    assert answer.code == 2
    assert words in answer.err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_options_of_archives_are_not_for_documents(workspace: Path, tmp_path: Path) -> None:
    answer = run("export", "jsonl", "-w", workspace, "-o", tmp_path / "a", "--site", "x.example")
    assert answer.code == 2 and "--site" in answer.err


def test_a_file_in_the_way_is_not_replaced_by_a_folder(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    answer = run("export", "warc", "-w", workspace, "-o", tmp_path / "out")
    assert answer.code == 2 and "is a file" in answer.err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_workspace_without_captures_has_nothing_to_export(tmp_path: Path) -> None:
    made(tmp_path / "ws", lambda maker: None)
    answer = run("export", "wacz", "-w", tmp_path / "ws", "-o", tmp_path / "a.wacz")
    assert answer.code == 2 and "no capture yet" in answer.err
    assert not (tmp_path / "a.wacz").exists()


class Guarded(BaseHTTPRequestHandler):
    """Answers only to those who know the word, and hands out a cookie."""

    def do_GET(self) -> None:
        is_known = self.headers.get("Authorization") == "Bearer very-secret"
        body = page("Inside") if is_known else b"no"
        self.send_response(200 if is_known else 401)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def guarded() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_no_credentials_are_written(guarded: str, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    settings = {
        "fetch": {"auth": {guarded: "Bearer very-secret"}},
        "agent": {"contact": "me@site.example"},
    }
    (tmp_path / "ws" / "crawl4r.yaml").write_text(json.dumps(settings))
    run("crawl", f"{guarded}/", "-w", tmp_path / "ws", *LOOPBACK, "--json")
    (capture,) = captures_of(tmp_path / "ws")
    assert capture.status == 200
    run("export", "warc", "-w", tmp_path / "ws", "-o", tmp_path / "a.warc.gz")
    text = gzip.decompress((tmp_path / "a.warc.gz").read_bytes())
    assert b"User-Agent: " in text and b"secret" not in text and b"uthorization" not in text
    info = read_strictly(tmp_path / "a.warc.gz")[0].block.decode()
    assert "operator: me@site.example\r\n" in info
    assert "robots: obeyed (RFC 9309)\r\n" in info
    assert f"http-header-user-agent: {user_agent(text)}\r\n" in info


def user_agent(text: bytes) -> str:
    return text.partition(b"\r\nUser-Agent: ")[2].partition(b"\r\n")[0].decode()
