"""Convert passages and filters to Qdrant's points and conditions."""

from __future__ import annotations

from math import inf
from typing import Any

from qdrant_client import models

from crawl4r.search.port import Facets, Filters
from crawl4r.search.vectors.names import domain_and_parents

VECTOR = "text"
NEVER = 2.0**53  # epoch seconds; JSON has no infinity
INDEXES = {
    "number": models.PayloadSchemaType.INTEGER,
    "domains": models.PayloadSchemaType.KEYWORD,
    "language": models.PayloadSchemaType.KEYWORD,
    "kind": models.PayloadSchemaType.KEYWORD,
    "content_type": models.PayloadSchemaType.KEYWORD,
    "collection": models.PayloadSchemaType.KEYWORD,
    "tags": models.PayloadSchemaType.KEYWORD,
    "captured_at": models.PayloadSchemaType.FLOAT,
    "retired_at": models.PayloadSchemaType.FLOAT,
}

# Quantised vectors in memory choose the candidates; full vectors on disk give the scores.
SEARCH = models.SearchParams(
    hnsw_ef=128,
    quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0),
)
EXACT = models.SearchParams(exact=True, quantization=models.QuantizationSearchParams(ignore=True))


def vector_params(dimension: int) -> dict[str, models.VectorParams]:
    rounded = models.ScalarQuantizationConfig(
        type=models.ScalarType.INT8, quantile=0.99, always_ram=True
    )
    return {
        VECTOR: models.VectorParams(
            size=dimension,
            distance=models.Distance.COSINE,
            on_disk=True,
            quantization_config=models.ScalarQuantization(scalar=rounded),
        )
    }


def payload(number: int, facets: Facets) -> dict[str, Any]:
    return {
        "number": number,
        "domains": domain_and_parents(facets.domain),  # so that a filter also finds subdomains
        "language": facets.language,
        "kind": facets.kind,
        "content_type": facets.content_type,
        "collection": list(facets.collections),
        "tags": list(facets.tags),
        "captured_at": moment(facets.captured_at),
        "retired_at": moment(facets.retired_at),
    }


def moment(at: float) -> float:
    return max(-NEVER, min(at, NEVER))


def matching(where: Filters) -> models.Filter:
    must: list[models.Condition] = list(_known(where.as_of))
    if where.since > -inf or where.before < inf:
        captured = models.Range(gte=moment(where.since), lt=moment(where.before))
        must.append(models.FieldCondition(key="captured_at", range=captured))
    if where.up_to < Filters().up_to:
        must.append(models.FieldCondition(key="number", range=models.Range(lte=where.up_to)))
    for key, values in (
        ("domains", where.domains),
        ("language", where.languages),
        ("collection", where.collections),
        ("tags", where.tags),
    ):
        if values:
            must.append(_any_of(key, values))
    if where.types:
        either: list[models.Condition] = [
            _any_of(key, where.types) for key in ("kind", "content_type")
        ]
        must.append(models.Filter(should=either))
    return models.Filter(must=must)


def having(numbers: list[int]) -> models.Filter:
    """A condition for those of these points that exist: an absent id may be an error to Qdrant."""
    return models.Filter(must=[models.HasIdCondition(has_id=list(numbers))])


def _known(as_of: float) -> list[models.FieldCondition]:
    if as_of == inf:
        return [models.FieldCondition(key="retired_at", range=models.Range(gte=NEVER))]
    return [
        models.FieldCondition(key="captured_at", range=models.Range(lte=moment(as_of))),
        models.FieldCondition(key="retired_at", range=models.Range(gt=moment(as_of))),
    ]


def _any_of(key: str, values: tuple[str, ...]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))
