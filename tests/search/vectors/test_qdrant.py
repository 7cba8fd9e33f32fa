"""Qdrant as a server that goes away: what waits for it is durable, in order, and sent."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Headers
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from crawl4r.errors import StorageError, WorkspaceError
from crawl4r.politeness.backoff import Backoff
from crawl4r.search.port import Facets, Filters
from crawl4r.search.vectors.qdrant import QdrantVectors, connect
from crawl4r.search.vectors.qdrant_calls import ServerAway
from tests.search.vectors.vector_model import DIMENSION, POOL

pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]
AWAY = ResponseHandlingException(ConnectionRefusedError("refused"))


class Server:
    """qdrant-client's own engine behind a line that can be cut; `failures` come before answers."""

    def __init__(self) -> None:
        self.engine = QdrantClient(":memory:")
        self.failures: list[Exception] = []
        self.is_away = False
        self.answers_left = 10**9  # then it goes away
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            self.calls.append(name)
            if self.is_away or not self.answers_left:
                raise AWAY
            self.answers_left -= 1
            if self.failures:
                raise self.failures.pop(0)
            return getattr(self.engine, name)(*arguments, **named)

        return call

    def close(self) -> None:
        """A client's connection; the server lives on."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.engine.close()


def index_on(server: Server, queue: Path | None = None, waits: list[float] | None = None) -> Any:
    sleep = ([] if waits is None else waits).append
    return QdrantVectors(
        server,  # type: ignore[arg-type]
        "passages",
        DIMENSION,
        queue=queue,
        backoff=Backoff(retries=2, base=1.0),
        sleep=sleep,
    )


def numbers_of(index: QdrantVectors) -> list[int]:
    return sorted(found.number for found in index.nearest(POOL[0], 100, Filters()))


def test_writes_wait_for_the_server_and_reach_it_in_order(server: Server, tmp_path: Path) -> None:
    index = index_on(server, tmp_path)
    index.put([(1, Facets())], POOL[:1])
    server.is_away = True
    index.put([(2, Facets()), (3, Facets())], POOL[1:3])
    index.retire([1], 5.0)
    index.delete([3])
    index.put([(3, Facets(language="de"))], POOL[3:4])
    assert index.has_waiting
    server.is_away = False
    assert numbers_of(index) == [1]
    index.put([(4, Facets())], POOL[4:5])
    assert not index.has_waiting
    assert numbers_of(index) == [2, 3, 4]
    assert index.nearest(POOL[3], 1, Filters(languages=("de",)))[0].number == 3


def test_what_waits_survives_the_process(server: Server, tmp_path: Path) -> None:
    server.is_away = True
    index = index_on(server, tmp_path)
    index.put([(1, Facets())], POOL[:1])
    index.close()
    with (tmp_path / "passages.queue").open("ab") as file:
        file.write(b'{"delete": [1')  # torn by a crash: no caller was told that it is stored
    again = index_on(server, tmp_path)
    with pytest.raises(ServerAway, match="refused"):
        again.flush()
    server.is_away = False
    again.flush()
    assert numbers_of(again) == [1]
    assert (tmp_path / "passages.queue").read_bytes() == b""
    again.flush()


def test_what_waits_is_sent_when_the_index_is_opened_again(server: Server, tmp_path: Path) -> None:
    server.is_away = True
    index_on(server, tmp_path).put([(1, Facets())], POOL[:1])
    server.is_away = False
    again = index_on(server, tmp_path)
    assert not again.has_waiting
    assert numbers_of(again) == [1]


def test_a_server_that_goes_away_again_gets_each_write_once(server: Server, tmp_path: Path) -> None:
    index = index_on(server, tmp_path)
    server.is_away = True
    for number in range(1, 6):
        index.put([(number, Facets())], POOL[:1])
    server.is_away = False
    server.answers_left = 2
    with pytest.raises(ServerAway):
        index.flush()
    server.answers_left = 10**9
    server.calls.clear()
    index.flush()
    assert server.calls == ["upsert"] * 3
    assert numbers_of(index) == [1, 2, 3, 4, 5]


def test_one_that_is_away_is_waited_for_once_and_not_at_every_write(
    server: Server, tmp_path: Path
) -> None:
    waits: list[float] = []
    index = index_on(server, tmp_path, waits)
    server.is_away = True
    index.put([(1, Facets())], POOL[:1])
    assert len(waits) == 2
    assert 0.5 <= waits[0] <= 1.0 <= waits[1] <= 2.0
    index.put([(2, Facets())], POOL[:1])
    assert len(waits) == 2


def test_a_passing_error_is_tried_again(server: Server) -> None:
    waits: list[float] = []
    index = index_on(server, None, waits)
    server.failures = [AWAY, ResourceExhaustedResponse("slow down", 7)]
    index.put([(1, Facets())], POOL[:1])
    assert waits[1] == 7
    assert numbers_of(index) == [1]


def test_without_a_queue_a_server_that_is_away_is_an_error(server: Server) -> None:
    index = index_on(server)
    server.is_away = True
    with pytest.raises(ServerAway, match="does not answer"):
        index.put([(1, Facets())], POOL[:1])
    with pytest.raises(ServerAway):
        index.nearest(POOL[0], 1, Filters())
    with pytest.raises(ServerAway):
        index_on(server)


def test_a_refusal_is_no_reason_to_wait(server: Server, tmp_path: Path) -> None:
    waits: list[float] = []
    index = index_on(server, tmp_path, waits)
    server.failures = [UnexpectedResponse(400, "Bad Request", b"no", Headers())]
    with pytest.raises(StorageError, match="refused"):
        index.put([(1, Facets())], POOL[:1])
    assert not index.has_waiting
    assert not waits


def test_points_travel_in_batches(server: Server) -> None:
    index = index_on(server)
    server.calls.clear()
    index.put([(n, Facets()) for n in range(250)], POOL[[0] * 250])
    assert server.calls == ["upsert"] * 3
    assert len(index.cosines(POOL[0], range(300))) == len(index.vectors(range(300))) == 250


def test_the_collection_has_what_it_is_searched_by(server: Server) -> None:
    index_on(server)
    params = server.engine.get_collection("passages").config.params.vectors["text"]
    assert (params.size, params.distance) == (DIMENSION, models.Distance.COSINE)
    assert server.calls.count("create_payload_index") == 9
    index_on(server)
    assert server.calls.count("create_collection") == 1
    assert "delete_collection" not in server.calls


def test_a_collection_of_somebody_else_is_left_alone(server: Server) -> None:
    params = models.VectorParams(size=DIMENSION, distance=models.Distance.DOT)
    server.engine.create_collection("passages", vectors_config=params)
    with pytest.raises(WorkspaceError, match="no vectors of crawl4r"):
        index_on(server)


def test_a_port_where_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        soon = Backoff(retries=1, base=0.01)
        with pytest.raises(ServerAway, match="refused"):
            QdrantVectors(connect(url), "passages", DIMENSION, backoff=soon)
        index = QdrantVectors(connect(url), "passages", DIMENSION, queue=tmp_path, backoff=soon)
        index.put([(1, Facets())], POOL[:1])
        assert index.has_waiting
        index.close()
