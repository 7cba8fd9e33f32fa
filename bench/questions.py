"""Are developers' questions answered by the right section of the documentation?

questions.jsonl holds everyday questions on Debian's Python documentation (package python3-doc), as
typed into a search box, each with the sections that answer it, read by hand; they have bars. Those
of hard_questions.jsonl often share hardly a word with their answer; they are asked beside it, no
bar. A section is a page and its innermost heading. Part of `python -m bench.retrieval --docs`.
"""

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from bench.retrieval import crawl4r, say
from bench.server import DOCUMENTATION, serve
from crawl4r.indexing.searcher import Searcher
from crawl4r.search.request import Fusion, Mode, SearchRequest
from crawl4r.settings.load import FILE_NAME, load_settings
from crawl4r.wiring.search import SearchHandle

EVERYDAY = Path(__file__).with_name("questions.jsonl")
HARD = EVERYDAY.with_name("hard_questions.jsonl")
RANKINGS = {
    "keyword": (Mode.KEYWORD, Fusion.CONVEX),
    "vector": (Mode.VECTOR, Fusion.CONVEX),
    "convex": (Mode.HYBRID, Fusion.CONVEX),
    "rrf": (Mode.HYBRID, Fusion.RRF),
}
MAX_TOKENS = (128, 256, 512)
RESULTS = 10
PAGE_BAR = 0.90  # of the everyday questions: a right page among the first three results
SECTION_BAR = 0.70  # of the everyday questions: a right section is the first result
MARKS = re.compile(r"\]\([^()]*\)|[\W_]+")


class Place(NamedTuple):
    """A section; two headings are the same when their letters and digits are."""

    page: str  # below the documentation's root
    heading: str

    @property
    def key(self) -> tuple[str, str]:
        return self.page, MARKS.sub("", self.heading).lower()


class Asked(NamedTuple):
    name: str
    text: str
    answers: Sequence[Place]
    found: Sequence[Place]  # best first

    def page_rank(self) -> int | None:
        """From 1; None when no result is on a right page."""
        pages = {answer.page for answer in self.answers}
        return _rank(place.page in pages for place in self.found)

    def section_rank(self) -> int | None:
        keys = {answer.key for answer in self.answers}
        return _rank(place.key in keys for place in self.found)


def _rank(is_right: Iterable[bool]) -> int | None:
    return next((number for number, right in enumerate(is_right, 1) if right), None)


class Shares(NamedTuple):
    """Of all questions."""

    page_in_3: float
    section_first: float
    section_mrr: float

    @classmethod
    def of(cls, asked: Sequence[Asked]) -> "Shares":
        pages = [each.page_rank() for each in asked]
        sections = [each.section_rank() for each in asked]
        return cls(
            sum(rank is not None and rank <= 3 for rank in pages) / len(asked),
            sum(rank == 1 for rank in sections) / len(asked),
            sum(1 / rank for rank in sections if rank) / len(asked),
        )


def ask_documentation(workspaces: Path, *, misses: Collection[Path], variants: bool) -> bool:
    """Print how well each ranking answers, and the misses of these sets; is the usual hybrid at its
    bars?
    """
    workspace = _once(workspaces / "docs", _crawl)
    say("python-docs: indexing")
    crawl4r("index", "-w", str(workspace))
    everyday = _print_table("everyday", EVERYDAY, workspace, variants=variants)
    usual = Shares.of(everyday)
    is_fine = usual.page_in_3 >= PAGE_BAR and usual.section_first >= SECTION_BAR
    print(f"  bars: {PAGE_BAR:.0%} and {SECTION_BAR:.0%}, {'met' if is_fine else 'missed'}")
    hard = _print_table("hard", HARD, workspace, variants=variants)
    print("  beside it, no bar")
    for questions, asked in ((EVERYDAY, everyday), (HARD, hard)):
        if questions in misses:
            _print_misses(asked)
    return is_fine


def _print_table(name: str, questions: Path, workspace: Path, *, variants: bool) -> list[Asked]:
    """A line a ranking; what the usual hybrid answers."""
    asked = _ask(questions, workspace)
    print(f"python-docs: {len(asked['convex'])} {name} questions")
    print(f"  {'':15}{'page in first 3':>16}{'section first':>15}{'section MRR':>13}")
    _print_shares("", asked)
    if variants:
        for tokens in MAX_TOKENS:
            _print_shares(f"{tokens} ", _ask(questions, _variant(workspace, tokens)))
    return asked["convex"]


def _once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, made unless it is there; what was interrupted is made anew."""
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _crawl(workspace: Path) -> None:
    """Pages only: indexing takes minutes, and can go on later without the server."""
    root = DOCUMENTATION["python-docs"]
    if not root.is_dir():
        raise SystemExit("package python3-doc is not installed")
    say("python-docs: crawling")
    pace = ("--rate", "0", "--per-host", "8", "--allow-private", "127.0.0.1", "--no-index")
    with serve(root) as server:
        crawl4r("crawl", f"{server.url}/index.html", "-w", str(workspace), *pace)


def _variant(workspace: Path, tokens: int) -> Path:
    """The same documents in passages of up to so many tokens."""
    environment = {**os.environ, "CRAWL4R_INDEX__MAX_TOKENS": str(tokens)}

    def make(copy: Path) -> None:
        say(f"python-docs: indexing in passages of up to {tokens} tokens")
        shutil.copytree(workspace, copy)
        crawl4r("index", "--rebuild", "-w", str(copy), environment=environment)

    return _once(workspace.with_name(f"{workspace.name}-{tokens}"), make)


def _ask(file: Path, workspace: Path) -> dict[str, list[Asked]]:
    """Every question with every ranking, the rest as it is by default."""
    questions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    settings = load_settings(workspace / FILE_NAME)
    request = SearchRequest(
        "",
        limit=RESULTS,
        keyword_weight=settings.search.keyword_weight,
        vector_weight=settings.search.vector_weight,
        per_document=settings.search.per_document,
    )
    with contextlib.closing(SearchHandle(workspace, settings)) as door:
        return {
            ranking: [
                _answer(door.searcher(), question, replace(request, mode=mode, fusion=fusion))
                for question in questions
            ]
            for ranking, (mode, fusion) in RANKINGS.items()
        }


def _answer(searcher: Searcher, question: dict[str, Any], request: SearchRequest) -> Asked:
    hits = searcher.search(replace(request, query=question["text"])).hits
    found = [
        Place(urlsplit(version.url).path.lstrip("/"), entry.headings[-1] if entry.headings else "")
        for entry, version in (hit.found for hit in hits)
    ]
    answers = [Place(answer["page"], answer["section"]) for answer in question["answers"]]
    return Asked(question["id"], question["text"], answers, found)


def _print_shares(label: str, asked: Mapping[str, Sequence[Asked]]) -> None:
    for ranking, each in asked.items():
        shares = Shares.of(each)
        print(
            f"  {label + ranking:15}{shares.page_in_3:16.1%}{shares.section_first:15.1%}"
            f"{shares.section_mrr:13.4f}"
        )


def _print_misses(asked: Sequence[Asked]) -> None:
    """Questions whose first result is not a right section, with what came up to the first that is."""
    for each in asked:
        page, section = each.page_rank(), each.section_rank()
        if section == 1:
            continue
        print(f"{each.name} {each.text}")
        print(f"  page {page or 'not found'}, section {section or 'not found'}; right would be:")
        for answer in each.answers:
            print(f"    {answer.page}: {answer.heading}")
        print("  came:")
        for place in each.found[: section or 3]:
            print(f"    {place.page}: {place.heading}")
