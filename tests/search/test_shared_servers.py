"""Several workspaces on one PostgreSQL and one Qdrant: each finds its own, and deletes its own."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.running import Answer, run
from tests.search.vectors.qdrant_server import QdrantServer
from tests.search.vectors.qdrant_server import qdrant_server as served

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]


class Servers:
    """Both, and the settings that name them."""

    def __init__(self, postgres: str, qdrant: QdrantServer) -> None:
        self.postgres = postgres
        self.qdrant = qdrant
        self.env = {
            "CRAWL4R_INDEX__KEYWORD": postgres,
            "CRAWL4R_INDEX__VECTORS": qdrant.url,
            "CRAWL4R_EMBEDDER__KIND": "minilm",
        }

    def run(self, *arguments: str | Path) -> Answer:
        answer = run(*arguments, env=self.env)
        assert answer.code == 0, answer.err
        return answer

    def make(self, workspace: Path, *texts: str) -> None:
        """Import texts and index them."""
        lines = [
            json.dumps({"id": f"{n}", "title": "", "text": text}) for n, text in enumerate(texts)
        ]
        file = workspace.with_suffix(".jsonl")
        file.write_text("\n".join(lines))
        self.run("import", file, "-w", workspace)
        self.run("index", "-w", workspace, "--json")

    def found(self, workspace: Path, query: str) -> list[str]:
        hits = self.run("search", query, "-w", workspace, "--json").json["results"]
        return [hit["text"] for hit in hits]

    def schemas(self) -> set[str]:
        import psycopg

        with psycopg.connect(self.postgres) as connection:
            rows = connection.execute(
                "select nspname from pg_namespace where nspname like 'crawl4r%'"
            )
            return {row[0] for row in rows}

    def ask(self, sql: str) -> Any:
        import psycopg

        with psycopg.connect(self.postgres, autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else None


@pytest.fixture
def servers(postgres_server: str) -> Iterator[Servers]:
    with served() as qdrant:
        made = Servers(postgres_server, qdrant)
        yield made
        for schema in made.schemas():
            made.ask(f"drop schema {schema} cascade")


HARBOUR = "The harbour keeper paints the lighthouse before sunrise."
VALLEY = "A train leaves the valley every morning with coal and letters."


def test_two_workspaces_on_one_server_find_each_their_own(servers: Servers, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    servers.make(one, HARBOUR)
    servers.make(two, VALLEY)
    for _ in range(2):
        assert servers.found(one, "harbour lighthouse") == [HARBOUR]
        assert servers.found(two, "harbour lighthouse") != [HARBOUR]
        assert servers.found(two, "train valley") == [VALLEY]
        servers.run("index", "--rebuild", "-w", one)
    assert len(servers.schemas()) == len(servers.qdrant.names()) == 2


def test_a_reset_deletes_on_the_servers_what_is_its_own(servers: Servers, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    servers.make(one, HARBOUR)
    servers.make(two, VALLEY)
    before = servers.schemas()
    told = servers.run("reset", "-w", one, "--dry-run", "--json").json["on_servers"]
    assert len(told) == 2
    assert servers.schemas() == before
    servers.run("reset", "-w", one, "--yes")
    assert servers.schemas() | servers.qdrant.names() == (before | servers.qdrant.names()) - set(
        told
    )
    assert len(servers.schemas()) == len(servers.qdrant.names()) == 1
    assert servers.found(two, "train valley") == [VALLEY]
    servers.make(one, HARBOUR)
    assert servers.found(one, "lighthouse") == [HARBOUR]


def test_a_reset_without_the_server_says_what_is_left_and_can_be_repeated(
    servers: Servers, tmp_path: Path
) -> None:
    servers.make(tmp_path / "one", HARBOUR)
    (schema,) = servers.schemas()
    answer = run("reset", "--yes", "-w", tmp_path / "one")
    assert answer.code == 4
    assert schema in answer.err
    assert not (tmp_path / "one" / "state.db").exists()
    servers.run("reset", "--yes", "-w", tmp_path / "one")
    assert servers.schemas() | servers.qdrant.names() == set()


def test_an_index_folder_that_is_deleted_is_made_anew_and_leaves_nothing_on_the_servers(
    servers: Servers, tmp_path: Path
) -> None:
    servers.make(tmp_path / "one", HARBOUR)
    before = servers.schemas()
    shutil.rmtree(tmp_path / "one" / "index")
    servers.run("index", "-w", tmp_path / "one")
    assert servers.found(tmp_path / "one", "lighthouse") == [HARBOUR]
    assert len(servers.schemas()) == len(servers.qdrant.names()) == 1
    assert servers.schemas() != before


def test_a_copy_of_a_workspace_makes_an_index_of_its_own(servers: Servers, tmp_path: Path) -> None:
    one, copy = tmp_path / "one", tmp_path / "copy"
    servers.make(one, HARBOUR)
    shutil.copytree(one, copy)
    assert servers.found(copy, "lighthouse") == [HARBOUR]  # as long as the original stays as it is
    servers.make(copy, VALLEY)
    assert servers.found(copy, "train valley") == [VALLEY]
    assert servers.found(one, "harbour lighthouse") == [HARBOUR]
    assert len(servers.schemas()) == len(servers.qdrant.names()) == 2
    servers.run("reset", "--yes", "-w", copy)
    assert servers.found(one, "harbour lighthouse") == [HARBOUR]


def test_a_copy_that_was_never_indexed_deletes_nothing_of_its_original(
    servers: Servers, tmp_path: Path
) -> None:
    one, copy = tmp_path / "one", tmp_path / "copy"
    servers.make(one, HARBOUR)
    shutil.copytree(one, copy)
    servers.run("reset", "--yes", "-w", copy)
    assert servers.found(one, "harbour lighthouse") == [HARBOUR]


def test_a_copy_is_told_when_its_original_has_gone_on(servers: Servers, tmp_path: Path) -> None:
    one, copy = tmp_path / "one", tmp_path / "copy"
    servers.make(one, HARBOUR)
    shutil.copytree(one, copy)
    servers.make(one, VALLEY)
    answer = run("search", "lighthouse", "-w", copy, env=servers.env)
    assert answer.code == 2
    assert "copy" in answer.err
    assert "crawl4r index --rebuild" in answer.err
    told = servers.run("index", "-w", copy).err
    assert "belongs to" in told
    assert servers.found(copy, "lighthouse") == [HARBOUR]
    assert servers.found(one, "train") == [VALLEY]


def test_a_workspace_that_was_moved_goes_on_with_its_index(
    servers: Servers, tmp_path: Path
) -> None:
    servers.make(tmp_path / "one", HARBOUR)
    before = servers.schemas()
    (tmp_path / "one").rename(tmp_path / "moved")
    assert servers.run("index", "-w", tmp_path / "moved", "--json").json["passages"] == 0
    assert servers.schemas() == before
    servers.run("reset", "--yes", "-w", tmp_path / "moved")
    assert servers.schemas() == set()


def test_what_an_older_version_wrote_is_searched_replaced_and_left_alone(
    servers: Servers, tmp_path: Path
) -> None:
    one = tmp_path / "one"
    servers.make(one, HARBOUR)
    kept = json.loads((one / "index.places").read_text())
    (schema,) = (place["name"] for place in kept if place["part"] == "keyword")
    servers.ask(f"alter schema {schema} rename to crawl4r_generation_1")
    servers.ask("drop table crawl4r_generation_1.search_passages_owner")
    (one / "index.places").unlink()
    assert servers.found(one, "lighthouse") == [HARBOUR]
    told = servers.run("index", "-w", one).err
    assert "crawl4r_generation_1" in told
    assert servers.found(one, "lighthouse") == [HARBOUR]
    assert len(servers.schemas()) == 2
    assert servers.ask("select count(*) from crawl4r_generation_1.search_passages") == [(1,)]


def test_settings_that_name_another_place_are_told_and_followed_by_a_new_index(
    servers: Servers, tmp_path: Path
) -> None:
    one = tmp_path / "one"
    servers.make(one, HARBOUR)
    embedded = {"CRAWL4R_EMBEDDER__KIND": "minilm"}
    answer = run("search", "lighthouse", "-w", one, env=embedded)
    assert answer.code == 2
    assert "crawl4r index --rebuild" in answer.err
    assert run("index", "--dry-run", "-w", one, env=embedded).code == 2
    assert run("index", "-w", one, env=embedded).code == 0
    found = run("search", "lighthouse", "-w", one, "--json", env=embedded).json["results"]
    assert [hit["text"] for hit in found] == [HARBOUR]


def test_vectors_that_a_server_could_not_take_are_told_and_sent_by_the_next_run(
    servers: Servers, tmp_path: Path
) -> None:
    workspace, answering = tmp_path / "one", servers.qdrant.url
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # no server listens there
        servers.env["CRAWL4R_INDEX__VECTORS"] = f"http://127.0.0.1:{unused.getsockname()[1]}"
        servers.make(workspace, HARBOUR)
        told = servers.run("index", "-w", workspace)
        assert "the server of index.vectors does not answer" in told.text
        (note,) = servers.run("search", "lighthouse", "-w", workspace, "--json").json["notes"]
        assert note == (
            "found by words alone: this index has no vectors yet; `crawl4r index` adds them"
        )
    servers.env["CRAWL4R_INDEX__VECTORS"] = answering
    assert "does not answer" not in servers.run("index", "-w", workspace).text
    answer = servers.run("search", "a beacon for ships", "-w", workspace, "--json").json
    assert [hit["text"] for hit in answer["results"]] == [HARBOUR]
