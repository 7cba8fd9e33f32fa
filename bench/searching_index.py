"""The index that `bench.searching` asks: text repeated with edits, real vectors and some near them."""

import hashlib
import json
import math
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.server import DOCUMENTATION

REAL_VECTORS = 4_000
NEAR, NEARER = 0.8, 0.95  # cosines of a made vector to the real one it comes from
EDITED = 0.03  # of the words, in each repetition
CHUNKS_A_COMMIT = 5_000
DOMAINS = 10  # so that a filter by one keeps a tenth
ABOUT = "about.json"  # in the workspace: what was made of the text


class Page(NamedTuple):
    name: str
    title: str
    chunks: list[tuple[Any, str]]  # with its text


def build(keep: Path, workspace: Path, count: int) -> None:
    """A workspace without captures whose index holds `count` chunks."""
    import crawl4r  # noqa: PLC0415
    from crawl4r.search.generations import Generations  # noqa: PLC0415

    pages = list(read_documentation())
    real = sum(len(page.chunks) for page in pages)
    print(f"{len(pages):,} pages, {real:,} chunks of real text", flush=True)
    if not real:
        raise SystemExit("packages python3-doc and postgresql-doc-15 are not installed")
    keep.mkdir(parents=True, exist_ok=True)
    vectors = real_vectors(keep, pages)
    with crawl4r.open(workspace):
        pass
    headings = {" ".join(chunk.headings[-2:]) for page in pages for chunk, _ in page.chunks}
    made = {"real": len(vectors), "headings": sorted(headings)}
    (workspace / ABOUT).write_text(json.dumps(made))
    generations = Generations(workspace / "index")
    generations.remove_others()
    folder = generations.begin()
    fill(folder, repeated(pages, count), made_vectors(vectors, real, count), workspace)
    generations.switch_to(folder)


def read_documentation() -> Iterator[Page]:
    from crawl4r.content.chunks.chunk import chunk_by_structure  # noqa: PLC0415
    from crawl4r.content.chunks.tokens import load_tokenizer  # noqa: PLC0415
    from crawl4r.documents.extractor import extract  # noqa: PLC0415
    from crawl4r.model import PageBody, ReadOptions  # noqa: PLC0415

    count_tokens = load_tokenizer().count
    for site, root in DOCUMENTATION.items():
        for file in sorted(root.rglob("*.html")):
            if file.is_symlink():
                continue
            name = f"{site}/{file.relative_to(root)}"
            found = extract(
                PageBody(file.read_bytes(), f"https://{name}"), ReadOptions(with_links=False)
            )
            if document := found.document:
                markdown = document.markdown
                chunks = [
                    (chunk, markdown[chunk.start : chunk.end])
                    for chunk in chunk_by_structure(markdown, count_tokens)
                ]
                yield Page(name, document.title, [each for each in chunks if each[1].strip()])


def real_vectors(keep: Path, pages: Sequence[Page]) -> Any:
    """Of about `REAL_VECTORS` chunks, evenly chosen; embedded once."""
    import numpy as np  # noqa: PLC0415

    from crawl4r.indexing.passages import embedded_text  # noqa: PLC0415

    texts = [embedded_text(p.title, c.headings, text) for p in pages for c, text in p.chunks]
    texts = texts[:: _stride(len(texts))]
    file = keep / f"real-{hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]}.npy"
    if not file.exists():
        embedder = embedder_of_questions()
        made = [embedder.embed(texts[at : at + 48]) for at in range(0, len(texts), 48)]
        np.save(file, np.concatenate(made))
    return np.load(file)


def made_vectors(real: Any, real_chunks: int, count: int) -> Any:
    """A vector a chunk: its own, or that of a neighbour with noise."""
    import numpy as np  # noqa: PLC0415

    chance = np.random.default_rng(5)
    places = np.arange(count) % real_chunks
    stride = _stride(real_chunks)
    source = real[np.minimum(places // stride, len(real) - 1)]
    noise = chance.standard_normal(source.shape, np.float32)
    noise -= (noise * source).sum(axis=1, keepdims=True) * source
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    cosine = chance.uniform(NEAR, NEARER, (count, 1)).astype(np.float32)
    cosine[(np.arange(count) < real_chunks) & (places % stride == 0)] = 1
    return cosine * source + np.sqrt(1 - cosine**2) * noise


def repeated(pages: Sequence[Page], count: int) -> Iterator[tuple[Any, list[Any]]]:
    """Versions with their entries, `count` of these in all; edited from the second round on."""
    from crawl4r.search.indexed_passage import Version  # noqa: PLC0415

    chance = random.Random(1)
    words = sorted({w for page in pages[::5] for _, text in page.chunks for w in text.split()})
    given = 0
    for turn in range(math.ceil(count)):
        for number, page in enumerate(pages):
            domain = f"site{(number + turn) % DOMAINS}.docs.example"
            url = f"https://{domain}/{turn}/{page.name}"
            entries = [
                _entry(chunk, _edited(text, words, chance) if turn else text, turn)
                for chunk, text in page.chunks[: count - given]
            ]
            given += len(entries)
            yield (
                Version(
                    url, "", url, page.title, domain, "en", "html", "", (), given, "", url, given
                ),
                entries,
            )
            if given == count:
                return


def _entry(chunk: Any, text: str, turn: int) -> Any:
    from crawl4r.search.indexed_passage import PassageEntry  # noqa: PLC0415

    name = f"{chunk.id}-{turn}"
    return PassageEntry(
        0, name, *chunk[:3], chunk.tokens, chunk.kind.value, chunk.headings, text,
        name.encode(), is_embedded=True,
    )  # fmt: skip


def _edited(text: str, words: Sequence[str], chance: random.Random) -> str:
    parts = re.split(r"(\s+)", text)
    for _ in range(math.ceil(len(parts) // 2 * EDITED)):
        parts[2 * int(chance.random() * (len(parts) // 2))] = chance.choice(words)
    return "".join(parts)


def fill(folder: Path, versions: Iterator[tuple[Any, list[Any]]], vectors: Any, kept: Path) -> None:
    """Put everything into the three parts, and the vectors as they were into a file."""
    import numpy as np  # noqa: PLC0415

    from crawl4r.indexing.passages import searchable  # noqa: PLC0415

    index = open_index(folder, writable=True)
    index.note_model(embedder_of_questions().model)
    waiting: list[Any] = []

    def put() -> None:
        index.keyword.put([searchable(found) for found in waiting])
        index.keyword.commit()
        numbers = [found.entry.number for found in waiting]
        index.vectors.put(
            [(f.entry.number, f.passage().facets) for f in waiting], vectors[np.array(numbers) - 1]
        )
        index.catalogue.commit()
        waiting.clear()

    for version, entries in versions:
        waiting += index.catalogue.add(version, entries)
        if len(waiting) >= CHUNKS_A_COMMIT:
            put()
    if waiting:
        put()
    np.save(kept / "exact.npy", vectors)  # row n is that of passage n + 1
    index.close()


def about(workspace: Path) -> dict[str, Any]:
    """`real`: how many chunks have their own vector; `headings`: of all sections."""
    found: dict[str, Any] = json.loads((workspace / ABOUT).read_text())
    return found


def open_index(folder: Path, *, writable: bool) -> Any:
    from crawl4r.search.catalogue import Catalogue  # noqa: PLC0415
    from crawl4r.search.index import Index  # noqa: PLC0415
    from crawl4r.search.keyword.tantivy import TantivyIndex  # noqa: PLC0415
    from crawl4r.search.vectors.scan import ScanVectors  # noqa: PLC0415

    return Index(
        Catalogue(folder / "catalogue.db", writable=writable),
        TantivyIndex(folder / "keyword", writable=writable),
        ScanVectors(folder / "vectors", 384, writable=writable),
    )


def embedder_of_questions() -> Any:
    from crawl4r.settings.load import Settings  # noqa: PLC0415
    from crawl4r.wiring.search import build_embedder  # noqa: PLC0415

    embedder = build_embedder(Settings())
    if embedder is None:
        raise SystemExit("the model is not installed: crawl4r embed install")
    return embedder


def _stride(chunks: int) -> int:
    return max(1, chunks // REAL_VECTORS)
