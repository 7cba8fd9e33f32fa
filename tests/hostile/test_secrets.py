"""Passwords and keys: used, and found in no file, no output and no archive afterwards."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import crawl4r
from crawl4r.errors import StorageError
from crawl4r.search.keyword.postgres import PostgresKeywordIndex
from crawl4r.storage.database import Database
from crawl4r.storage.migrations import VERSIONS
from tests.fetch.forward_proxy import ForwardProxy
from tests.interfaces.cli.running import LOOPBACK, Answer, crawl, run
from tests.site.process import SiteProcess

SECRET = "hunter2"
LOGIN = f"me:{SECRET}"
PAGES = 4
SERVERS = "CRAWL4R_FETCH__PROXIES__SERVERS"
SETTINGS = f"""
seeds: ["https://{LOGIN}@e.org/"]
fetch:
  auth: {{"https://e.org": "{LOGIN}"}}
  headers: {{X-Api-Key: {SECRET}, X-Empty: "", Accept-Language: fr}}
  proxies: {{servers: ["socks5h://{LOGIN}@h:1080", "http://open:3128"]}}
index:
  keyword: "postgresql://{LOGIN}@h/db?sslpassword={SECRET}"
  vectors: "http://{LOGIN}@q:6333"
  vectors_key: {SECRET}
embedder: {{kind: tei, url: "http://{LOGIN}@t/", api_key: {SECRET}}}
search: {{reranker: "http://{LOGIN}@t/"}}
"""


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.fixture(scope="module")
def proxy() -> Iterator[ForwardProxy]:
    """A proxy that asks for a password, on an event loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = ForwardProxy(login=LOGIN)
    asyncio.run_coroutine_threadsafe(made.__aenter__(), loop).result()
    yield made
    asyncio.run_coroutine_threadsafe(made.__aexit__(None, None, None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def with_login(proxy: ForwardProxy) -> str:
    return proxy.url.replace("://", f"://{LOGIN}@")


def holders(folder: Path) -> list[str]:
    """The files below a folder that hold the secret."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in files if SECRET.encode() in path.read_bytes()]


def said(*answers: Answer) -> str:
    return "".join(answer.text + answer.err for answer in answers)


def test_the_password_of_a_proxy_is_used_and_kept_nowhere(
    site: SiteProcess, proxy: ForwardProxy, tmp_path: Path
) -> None:
    url, workspace = site.url(f"/site/{PAGES}/"), tmp_path / "ws"
    first = crawl(
        url, workspace, "--max-pages", "2", "--verbose", "--logs", "--proxy", with_login(proxy)
    )
    assert (first.code, first.json["pages"]) == (0, 2), first.err
    assert holders(workspace) == []
    assert SECRET not in said(
        first, run("why", url, "-w", workspace), run("status", "-w", workspace)
    )

    without = run("resume", "-w", workspace, "--max-pages", "9")
    assert without.code == 2
    assert f"http://***@127.0.0.1:{proxy.port} are not kept" in without.err
    asked = len(proxy.asked)
    given = {SERVERS: json.dumps([with_login(proxy)])}
    again = run("resume", "-w", workspace, "--max-pages", "9", "--json", env=given)
    assert (again.code, again.json["pages"]) == (0, PAGES), again.err
    assert len(proxy.asked) > asked
    (workspace / "crawl4r.yaml").write_text(
        json.dumps({"fetch": {"proxies": {"servers": [with_login(proxy)]}}})
    )
    assert run("resume", "-w", workspace, "--json").code == 0
    (workspace / "crawl4r.yaml").unlink()
    assert holders(workspace) == []
    assert run("pages", "-w", workspace).code == 0


def test_a_proxy_that_cannot_be_used_is_named_without_its_password(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url("/site/1/")
    for address in (f"http://{LOGIN}@127.0.0.1:99999", f"ftp://{LOGIN}@h:1", f"{LOGIN}@h:1"):
        refused = crawl(url, tmp_path / "ws", "--proxy", address)
        assert (refused.code, SECRET in refused.err) == (2, False), refused.err
    closed = crawl(
        url, tmp_path / "ws", "--proxy", f"http://{LOGIN}@127.0.0.1:9", "--max-seconds", "1", "-v"
    )
    assert SECRET not in said(closed)
    assert holders(tmp_path) == []


def test_a_header_with_a_key_is_sent_and_in_no_record_of_the_request(
    site: SiteProcess, tmp_path: Path
) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(site.url("/")))
    told = {"fetch": {"headers": {"X-Api-Key": SECRET, "DNT": "1"}, "auth": {origin: LOGIN}}}
    (workspace / "crawl4r.yaml").write_text(json.dumps(told))
    assert crawl(site.url("/site/2/"), workspace, "--logs").code == 0
    (workspace / "crawl4r.yaml").unlink()
    assert holders(workspace) == []
    out = tmp_path / "a.warc"
    assert run("export", "warc", "-w", workspace, "-o", out).code == 0
    text = out.read_bytes()
    assert b"\r\nDNT: 1\r\n" in text
    assert SECRET.encode() not in text and b"Authorization" not in text and b"X-Api-Key" not in text


def test_settings_are_shown_and_their_secrets_only_as_set(tmp_path: Path) -> None:
    (tmp_path / "crawl4r.yaml").write_text(SETTINGS)
    shown = run("configure", "--show", "-w", tmp_path)
    as_json = run("configure", "--show", "-w", tmp_path, "--json")
    assert SECRET not in said(shown, as_json)
    plain = yaml.safe_load(shown.text)
    assert plain == as_json.json
    assert plain["seeds"] == ["https://***@e.org/"]
    assert plain["fetch"]["auth"] == {"https://e.org": "(set)"}
    assert plain["fetch"]["headers"] == {
        "X-Api-Key": "(set)",
        "X-Empty": "",
        "Accept-Language": "fr",
    }
    assert plain["fetch"]["proxies"]["servers"] == ["socks5h://***@h:1080", "http://open:3128"]
    assert plain["index"]["keyword"] == "postgresql://***@h/db?sslpassword=***"
    assert plain["index"]["vectors_key"] == plain["embedder"]["api_key"] == "(set)"
    assert SECRET not in repr(crawl4r.load_settings(tmp_path / "crawl4r.yaml", environment={}))
    (tmp_path / "crawl4r.yaml").write_text("")
    assert (
        yaml.safe_load(run("configure", "--show", "-w", tmp_path).text)["embedder"]["api_key"] == ""
    )
    (tmp_path / "crawl4r.yaml").write_text(shown.text)  # what was shown is no configuration
    pasted = run("configure", "--show", "-w", tmp_path)
    assert (pasted.code, "write the secret" in pasted.err) == (2, True)


def test_a_database_that_cannot_be_reached_is_named_without_its_password() -> None:
    pytest.importorskip("psycopg")
    for address in (
        f"postgresql://{LOGIN}@127.0.0.1:1/x?connect_timeout=1",
        f"postgresqlx://{LOGIN}@h/x",
        f"host=127.0.0.1 port=nine password={SECRET}",
        f"postgresql://{LOGIN}@127.0.0.1:1/x?nonsense=1",
    ):
        with pytest.raises(StorageError) as met:
            PostgresKeywordIndex(address)
        assert SECRET not in str(met.value)


def test_state_is_for_its_owner_alone_and_older_state_becomes_so(
    site: SiteProcess, tmp_path: Path
) -> None:
    def modes() -> dict[str, str]:
        found = {path.name: path for path in (tmp_path / "ws").glob("state.db*")}
        return {name: stat.filemode(path.stat().st_mode) for name, path in found.items()}

    assert crawl(site.url("/site/1/"), tmp_path / "ws").code == 0
    assert modes() == {"state.db": "-rw-------"}
    (tmp_path / "ws" / "state.db").chmod(0o664)
    with crawl4r.open(tmp_path / "ws") as opened:
        opened.notes.put("a", "b")
        opened.database.commit()
        assert modes() == dict.fromkeys(("state.db", "state.db-wal", "state.db-shm"), "-rw-------")
    (tmp_path / "ws" / "state.db").chmod(0o644)
    assert run("status", "-w", tmp_path / "ws").code == 0
    assert modes() == {"state.db": "-rw-------"}
    assert run("configure", "https://e.org/", "-w", tmp_path / "ws").code == 0
    assert stat.filemode((tmp_path / "ws" / "crawl4r.yaml").stat().st_mode) == "-rw-------"


def test_a_workspace_of_an_earlier_version_loses_its_passwords_when_it_is_opened(
    tmp_path: Path,
) -> None:
    before = {number: script for number, script in VERSIONS.items() if number < 7}
    database = Database(tmp_path / "state.db", schema=before)
    for number in range(30):  # each replaces the one before, which stays in the file
        options = {"rate": 0.0, "proxies": [f"http://{LOGIN}{number}@h:1", "http://open:2"]}
        database.write("INSERT OR REPLACE INTO notes VALUES ('options', ?)", (json.dumps(options),))
        database.commit()
    common = ["User-Agent: x", "Accept: y"]
    for lines in (common, [*common, f"X-Key: {SECRET}1"], [*common, f"X-Key: {SECRET}2"]):
        database.write("INSERT INTO requests (headers) VALUES (?)", (json.dumps(lines),))
    database.commit()
    database.close()
    assert holders(tmp_path) == ["state.db"]
    assert run("status", "-w", tmp_path).code == 0
    assert holders(tmp_path) == []
    connection = sqlite3.connect(tmp_path / "state.db")
    ((kept,),) = connection.execute("SELECT value FROM crawl_notes WHERE key = 'options'")
    assert json.loads(kept) == {"rate": 0.0, "proxies": ["http://***@h:1", "http://open:2"]}
    rows = connection.execute("SELECT headers FROM requests ORDER BY id").fetchall()
    assert [json.loads(row[0]) for row in rows] == [common] * 3
    connection.close()
    assert run("resume", "-w", tmp_path, *LOOPBACK).code == 2
