"""Are pages told from what stands in for them?

    python -m bench.verdicts [--all]

Recall over the bad pages of the tests, false alarms over pages that are good by definition: the tests'
own, those of the extraction, segments and pagination data beside the project, and Debian's
documentation: of Python and PostgreSQL, and every manual below /usr/share that other packages brought
(`apt install openjdk-17-doc sqlite3-doc ...`), at most 500 pages each. A few of those manuals' pages
say themselves that they are none ("This page has moved"); those are left out. Then the CPU that a
verdict takes. `--all` names every page that was judged wrongly.
"""

import argparse
import gzip
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from statistics import mean, median

from crawl4r.content.verdict.validate import PageVerdict, validate
from crawl4r.formats.html import parse_html
from crawl4r.model import Verdict
from tests.content.verdict.verdict_pages import BAD, GOOD, Page

DATA = Path(__file__).parents[2] / "shared" / "data"
DOCUMENTATION = (
    Path("/usr/share/doc/python3-doc/html"),
    Path("/usr/share/doc/postgresql-doc-15/html"),
)
MANUALS = (  # below /usr/share
    "cppreference", "debian-reference", "developers-reference", "doc/apache2-doc/manual",
    "doc/bash", "doc/bind9-doc", "doc/debian-handbook", "doc/debian-policy", "doc/erlang-doc",
    "doc/exim4-doc-html", "doc/ghc-doc", "doc/git", "doc/gnuplot-doc", "doc/groff-base",
    "doc/installation-guide-amd64", "doc/libstdc++-12-doc", "doc/maint-guide", "doc/nodejs",
    "doc/octave", "doc/openjdk-17-jre-headless", "doc/python-django-doc", "doc/python-flask-doc",
    "doc/python-pil-doc", "doc/python-requests-doc", "doc/python-sqlalchemy-doc", "doc/racket",
    "doc/sqlite3-doc", "doc/vim", "doc/zsh-doc", "libreoffice/help/de", "libreoffice/help/en-US",
)  # fmt: skip
MOST_OF_A_MANUAL = 500
STUBS = re.compile(rb"http-equiv=.refresh", re.IGNORECASE)
STUB_NAMES = ("404.html", "noscript.html")
SHOWN = 12


def judge(page: Page) -> tuple[PageVerdict, float, int]:
    """The verdict, its CPU in microseconds, and the size of the page."""
    tree = parse_html(page.body)
    start = time.process_time_ns()
    verdict = validate(tree, page.body, url=page.url, status=page.status, headers=page.headers)
    return verdict, (time.process_time_ns() - start) / 1_000, len(page.body)


def data(name: str) -> Iterator[Page]:
    for file in sorted((DATA / name / "html").glob("*.html.gz")):
        yield Page(file.name, Verdict.OK, gzip.decompress(file.read_bytes()), url="")


def documentation() -> Iterator[Page]:
    for folder in DOCUMENTATION:
        for file in sorted(folder.resolve().rglob("*.html")):
            url = f"https://docs.example.org/{file.relative_to(folder.resolve())}"
            yield Page(file.name, Verdict.OK, file.read_bytes(), url=url)


def manuals() -> Iterator[Page]:
    for name in MANUALS:
        folder = Path("/usr/share", name).resolve()
        files = [file for file in sorted(folder.rglob("*.html")) if file.is_file()]
        for file in files[:: len(files) // MOST_OF_A_MANUAL + 1]:
            body = file.read_bytes()
            if file.name not in STUB_NAMES and not STUBS.search(body[:3_000]):
                url = f"https://docs.example.org/{file.relative_to(folder)}"
                yield Page(str(file), Verdict.OK, body, url=url)


def report_recall(shown: int) -> None:
    total, right, wrong = Counter[str](), Counter[str](), []
    for page in BAD:
        verdict, _, _ = judge(page)
        total[page.verdict] += 1
        right[page.verdict] += verdict.verdict is page.verdict
        if verdict.verdict is not page.verdict:
            wrong.append(f"    {page.name}: {page.verdict} taken for {verdict.verdict}")
    for kind, count in total.items():
        print(f"{kind:15} {right[kind]:4} of {count:4}  recall {right[kind] / count:.3f}")
    print(f"{'all':15} {right.total():4} of {total.total():4}  {right.total() / total.total():.3f}")
    print("\n".join(wrong[:shown]))


def report_alarms(name: str, pages: Iterable[Page], shown: int) -> None:
    times, sizes, wrong = [], [], []
    for page in pages:
        verdict, cpu, size = judge(page)
        times.append(cpu)
        sizes.append(size)
        if verdict.verdict is not Verdict.OK:
            wrong.append(f"    {page.name}: {verdict.verdict} {', '.join(verdict.signals)}")
    if not times:
        print(f"{name:15} not on this machine")
        return
    print(
        f"{name:15} {len(wrong):3} false alarms in {len(times):5} ({len(wrong) / len(times):.2%}); "
        f"CPU us a page: median {median(times):.0f}, mean {mean(times):.0f}, "
        f"of {mean(sizes) / 1_000:.0f} KB"
    )
    print("\n".join(wrong[:shown]), end="\n" if wrong else "")


def report_usual_page() -> None:
    """The page that most of a crawl is made of: some 45 KB, with text enough."""
    every = chain(data("extraction"), documentation())
    pages = [page for page in every if 30_000 < len(page.body) < 60_000]
    if pages:
        times = [min(judge(page)[1] for _ in range(5)) for page in pages]
        print(
            f"{len(pages)} pages of 30 to 60 KB: median {median(times):.0f}, mean {mean(times):.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="name every page judged wrongly")
    shown = 10_000 if parser.parse_args().all else SHOWN
    for page in BAD:  # so that the signatures are compiled
        judge(page)
    report_recall(shown)
    report_alarms("own good pages", GOOD, shown)
    for name in ("extraction", "segments", "pagination"):
        report_alarms(name, data(name), shown)
    report_alarms("documentation", documentation(), shown)
    report_alarms("other manuals", manuals(), shown)
    report_usual_page()


if __name__ == "__main__":
    main()
