"""WACZ packages: by the specification, and by the validator of those who wrote it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.interfaces.cli.running import run
from tests.transfer.warc.files import html_page, response
from tests.transfer.warc.peers import environment
from tests.transfer.warc.strict import assert_index_fits, read_index, unpacked_index
from tests.transfer.warc.workspaces import Maker, captures_of, export, made, make_hostile, page


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wacz")
    export(made(folder / "ws", make_hostile), folder / "a.wacz", max_size=20_000)
    return folder / "a.wacz"


def test_the_validator_has_nothing_to_say(package: Path) -> None:
    wacz = environment("wacz==0.6.*") / "wacz"
    said = subprocess.run(
        [wacz, "validate", "-f", package], capture_output=True, text=True, check=False
    )
    assert (said.returncode, "is valid" in said.stdout) == (0, True), said.stdout + said.stderr


def test_everything_in_it_is_listed_with_its_hash(package: Path) -> None:
    with zipfile.ZipFile(package) as opened:
        assert {entry.compress_type for entry in opened.infolist()} == {zipfile.ZIP_STORED}
        listed = json.loads(opened.read("datapackage.json"))
        assert (listed["profile"], listed["wacz_version"]) == ("data-package", "1.1.1")
        paths = {resource["path"] for resource in listed["resources"]}
        own = {"datapackage.json", "datapackage-digest.json"}
        assert paths == set(opened.namelist()) - own
        for resource in listed["resources"]:
            data = opened.read(resource["path"])
            assert resource["bytes"] == len(data)
            assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        digest = json.loads(opened.read("datapackage-digest.json"))
        sha256 = hashlib.sha256(opened.read("datapackage.json")).hexdigest()
        assert digest == {"path": "datapackage.json", "hash": f"sha256:{sha256}"}


def test_its_index_finds_every_record(package: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(package) as opened:
        opened.extractall(tmp_path)
    assert len(list((tmp_path / "archive").iterdir())) > 1
    packed = (tmp_path / "indexes" / "index.cdx.gz").read_bytes()
    lines = read_index(unpacked_index(packed))
    assert_index_fits(lines, tmp_path / "archive")
    assert len(lines) == len(captures_of(package.parent / "ws"))


def test_a_large_index_is_in_blocks_that_can_be_read_alone(tmp_path: Path) -> None:
    def make(maker: Maker) -> None:
        for n in range(2500):
            maker.add(f"http://site.example/{n}", b"the same", headers=[])

    export(made(tmp_path / "ws", make), tmp_path / "a.wacz")
    with zipfile.ZipFile(tmp_path / "a.wacz") as opened:
        head, *blocks = opened.read("indexes/index.idx").decode().splitlines()
        packed = opened.read("indexes/index.cdx.gz")
    meta = json.loads(head.removeprefix("!meta 0 "))
    assert meta == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    assert len(blocks) == 3
    read = []
    for line in blocks:
        first, _, rest = line.partition(" {")
        place = json.loads("{" + rest)
        part = packed[place["offset"] : place["offset"] + place["length"]]
        assert place["digest"] == f"sha256:{hashlib.sha256(part).hexdigest()}"
        lines = unpacked_index(part)
        assert lines.startswith(first.encode() + b" {")
        read.append(lines)
    assert b"".join(read) == unpacked_index(packed)


def test_pages_are_listed_once_with_their_titles(tmp_path: Path) -> None:
    def make(maker: Maker) -> None:
        tag = [("content-type", "text/html"), ("etag", "1")]
        maker.add("http://site.example/", page("A title & more"), headers=tag)
        maker.add("http://site.example/style.css", b"x {}", headers=[("content-type", "text/css")])
        maker.add("http://site.example/copy", page("A title & more"))
        maker.add("http://site.example/gone", page("Gone"), status=404)
        maker.add("http://site.example/", page("Another title"), headers=tag)

    workspace = made(tmp_path / "My Pages!", make)
    run("reprocess", "-w", workspace)
    assert run("export", "wacz", "-w", workspace, "-o", tmp_path / "a.wacz").code == 0
    with zipfile.ZipFile(tmp_path / "a.wacz") as opened:
        head, *pages = [json.loads(line) for line in opened.read("pages/pages.jsonl").splitlines()]
        about = json.loads(opened.read("datapackage.json"))
    assert head["format"] == "json-pages-1.0"
    assert [(one["url"], one["title"]) for one in pages] == [
        ("http://site.example/", "Another title"),
        ("http://site.example/copy", "A title & more"),
    ]
    assert pages[0]["ts"] == "2026-09-21T14:13:24.123456Z"
    assert about["title"] == "my-pages"
    assert about["mainPageUrl"] == "http://site.example/"


def test_a_package_needs_its_own_name(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(response("http://site.example/", html_page("A page")))
    run("import", file, "-w", tmp_path / "ws")
    answer = run("export", "wacz", "-w", tmp_path / "ws", "-o", tmp_path / "a.zip")
    assert answer.code == 2 and ".wacz" in answer.err
