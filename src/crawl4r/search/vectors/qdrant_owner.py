"""The owner of a Qdrant collection, kept in a point without a vector, which no search finds."""

from __future__ import annotations

import time

from qdrant_client import QdrantClient, models

from crawl4r.politeness.backoff import Backoff
from crawl4r.search.places import Claim
from crawl4r.search.vectors.qdrant_calls import answer_of

_POINT, _TOKEN = "00000000-0000-4000-8000-6372776c3472", "token"


def settle(client: QdrantClient, collection: str, claim: Claim) -> None:
    """See `Claim.settle`."""

    def read() -> str | None:
        found = client.retrieve(collection, [_POINT], with_payload=True)
        return str((found[0].payload or {}).get(_TOKEN)) if found else None

    def write(token: str) -> None:
        point = models.PointStruct(id=_POINT, payload={_TOKEN: token}, vector={})
        client.upsert(collection, [point], wait=True)

    claim.settle(read, write)
    claim.note_made()


def drop_collection(client: QdrantClient, claim: Claim) -> None:
    """Delete a collection, unless another workspace has written to it."""

    def drop() -> None:
        if client.collection_exists(claim.name):
            settle(client, claim.name, claim)
            client.delete_collection(claim.name)

    answer_of(drop, Backoff(retries=0), time.sleep)
