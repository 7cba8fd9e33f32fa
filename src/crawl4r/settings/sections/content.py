"""What pages become: text, passages, vectors and answers, and the processes that make them."""

from __future__ import annotations

import re
from math import inf
from typing import Annotated, Literal

from msgspec import Meta, field
from msgspec.structs import force_setattr

from crawl4r.errors import SettingsError, UsageError
from crawl4r.search.languages import ALL, language_code, not_a_language
from crawl4r.settings.field_kinds import Address, Count, MoreSeconds, Secret
from crawl4r.settings.validate import Section
from crawl4r.storage.organisation import check_label


class Reading(Section, frozen=True):
    """The process that parses pages, which may be hostile."""

    seconds: MoreSeconds = 5.0  # of CPU time a page; then its reader is killed
    memory_mb: Annotated[int, Meta(ge=64)] = 1024  # for a reading process
    workers: Annotated[int, Meta(ge=1, le=64)] = 1  # reading processes


class Content(Section, frozen=True):
    """What is made of kept pages, and how it is told that they are pages."""

    extract: bool = True  # documents while pages are crawled; `crawl4r reprocess` makes them later
    probe: bool = True  # ask a host once for a page that cannot exist, when one looks like it
    seconds: MoreSeconds = 20.0  # of CPU time a page; then its reader is killed
    memory_mb: Annotated[int, Meta(ge=64)] = 1024  # for an extracting process
    workers: Annotated[int, Meta(ge=1, le=64)] = 1  # extracting processes
    # of a document's markdown; the bytes of its page stay whole
    max_characters: Annotated[int, Meta(ge=10_000, le=100_000_000)] = 4_000_000
    collections: list[str] = []  # that the documents of a crawl belong to
    tags: list[str] = []  # that they get

    def __post_init__(self) -> None:
        for setting in ("collections", "tags"):
            for name in getattr(self, setting):
                try:
                    check_label(name)
                except UsageError as problem:
                    raise SettingsError(setting, str(problem)) from None


class Indexing(Section, frozen=True):
    """What of the documents can be searched, and in which pieces."""

    enabled: bool = True  # index while pages are crawled; `crawl4r index` does it later
    languages: list[str] = field(
        default_factory=lambda: ["en"]
    )  # ISO 639, of crawled documents; all, or empty, for every language
    near_duplicates: bool = False  # also documents that say almost the same as an older one
    max_tokens: Annotated[int, Meta(ge=16, le=8192)] = 512  # in a passage
    # in the last passage of a section, if the one before it has enough; half of max_tokens at most
    min_tokens: Annotated[int, Meta(ge=0, le=4096)] = 32
    # that a passage repeats of the one before it in its section; half of max_tokens at most
    overlap_tokens: Annotated[int, Meta(ge=0, le=4096)] = 0
    keyword: Address = "embedded"  # or postgresql://..., when one machine is not enough
    vectors: Address = "embedded"  # or the http:// address of a Qdrant server
    vectors_key: Secret = ""  # its API key; better in the environment: CRAWL4R_INDEX__VECTORS_KEY
    # How names of schemas and collections on those servers begin; each index gets one of its own.
    collection: str = "crawl4r"

    def __post_init__(self) -> None:
        languages = [language_code(name) or name.lower() for name in self.languages]
        for code, name in zip(languages, self.languages, strict=True):
            if code != ALL and not language_code(name):
                raise SettingsError("languages", f"{not_a_language(name)}; {ALL} is every language")
        force_setattr(self, "languages", languages)
        if self.overlap_tokens > self.max_tokens // 2:
            raise SettingsError(
                "overlap_tokens",
                f"must be at most {self.max_tokens // 2}, half of index.max_tokens",
            )
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", self.collection):
            raise SettingsError(
                "collection", "must be up to 41 of a-z, 0-9 and '_', the first of them a letter"
            )


class Embedding(Section, frozen=True):
    """The model or the server that turns texts into vectors."""

    # auto: the local model where it is installed, else none; minilm, static, tei, openai or none
    kind: Literal["auto", "minilm", "static", "tei", "openai", "none"] = "auto"
    url: Address = ""  # of a TEI or an OpenAI-compatible server
    model: str = ""  # the name that an OpenAI-compatible server knows it by
    api_key: Secret = ""  # better in the environment: CRAWL4R_EMBEDDER__API_KEY
    threads: Annotated[int, Meta(ge=0)] = 0  # of the local model; 0: one a core

    def __post_init__(self) -> None:
        if self.kind in {"tei", "openai"} and not self.url:
            raise SettingsError(
                "", f"kind {self.kind} needs the address of the server in embedder.url"
            )
        if self.kind == "openai" and not self.model:
            raise SettingsError("", "kind openai needs the name of a model in embedder.model")


class Searching(Section, frozen=True):
    """How results are ranked."""

    fusion: Literal["convex", "rrf"] = "convex"  # of scores, or of ranks
    keyword_weight: Annotated[float, Meta(ge=0)] = 0.3  # of both, in convex fusion
    vector_weight: Annotated[float, Meta(ge=0)] = 0.7  # of both, in convex fusion
    rrf_k: Annotated[int, Meta(ge=1)] = 60  # of rrf: the more, the less a first rank is worth
    per_document: Count = 2  # passages of one document; 0: any number
    reranker: Address = ""  # of a TEI server, or a folder with an ONNX cross-encoder

    def __post_init__(self) -> None:
        if not 0 < self.keyword_weight + self.vector_weight < inf:
            raise SettingsError(
                "keyword_weight", "or vector_weight must be more than 0, both finite"
            )
