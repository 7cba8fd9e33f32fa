"""qdrant-client's own engine behind the REST calls of its client: one server for many processes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models
from qdrant_client.http.models import (
    CountRequest,
    CreateCollection,
    FilterSelector,
    PointRequest,
    PointsList,
    QueryRequest,
    SetPayload,
)


class QdrantServer:
    """A server on loopback; `engine` is what it holds."""

    def __init__(self) -> None:
        self.engine = QdrantClient(":memory:", force_disable_check_same_thread=True)
        self.turn = threading.Lock()
        self.url = ""

    def names(self) -> set[str]:
        with self.turn:
            return {found.name for found in self.engine.get_collections().collections}

    def answer(self, method: str, parts: list[str], body: Any) -> Any:
        name, rest = parts[0], parts[1:]
        engine = self.engine
        routes: dict[tuple[str, ...], Callable[[], Any]] = {
            ("GET", "exists"): lambda: {"exists": engine.collection_exists(name)},
            ("GET",): lambda: engine.get_collection(name),
            ("PUT",): lambda: engine.create_collection(
                name, CreateCollection.model_validate(body).vectors
            ),
            ("DELETE",): lambda: engine.delete_collection(name),
            ("PUT", "index"): lambda: {"operation_id": 0, "status": "completed"},
            ("PUT", "points"): lambda: engine.upsert(name, PointsList.model_validate(body).points),
            ("POST", "points", "payload"): lambda: self._set_payload(name, body),
            ("POST", "points", "delete"): lambda: engine.delete(
                name, FilterSelector.model_validate(body)
            ),
            ("POST", "points", "query"): lambda: self._query(name, body),
            ("POST", "points", "count"): lambda: engine.count(
                name, CountRequest.model_validate(body).filter, exact=True
            ),
            ("POST", "points"): lambda: self._retrieve(name, body),
        }
        return routes[method, *rest]()

    def _set_payload(self, name: str, body: Any) -> Any:
        asked = SetPayload.model_validate(body)
        assert asked.filter is not None
        return self.engine.set_payload(name, asked.payload, asked.filter)

    def _retrieve(self, name: str, body: Any) -> Any:
        asked = PointRequest.model_validate(body)
        return self.engine.retrieve(
            name,
            asked.ids,
            with_payload=asked.with_payload or False,
            with_vectors=asked.with_vector or False,
        )

    def _query(self, name: str, body: Any) -> Any:
        asked = QueryRequest.model_validate(body)
        query = asked.query.nearest if isinstance(asked.query, models.NearestQuery) else asked.query
        return self.engine.query_points(
            name,
            query=query,
            using=asked.using,
            query_filter=asked.filter,
            limit=asked.limit or 10,
            with_payload=False,
        )


@contextmanager
def qdrant_server() -> Iterator[QdrantServer]:
    """Serve until the block ends."""
    served = QdrantServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path).path.strip("/").split("/")
            assert parts[0] == "collections", self.path
            with served.turn:
                try:
                    result = served.answer(self.command, parts[1:], json.loads(body or b"null"))
                except ValueError as problem:  # the engine's word for what is not there
                    self._send(404, {"status": {"error": str(problem)}})
                    return
            self._send(200, {"result": _plain(result), "status": "ok", "time": 0.0})

        do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815

        def _send(self, status: int, answer: Any) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing is said of a request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
            served.engine.close()


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return (
        value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else value
    )
