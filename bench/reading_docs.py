"""Is documentation read cheaply, and are its code, headings and tables still there?

    python -m bench.reading_docs [--every 1] [--profile]

Reads Debian's Python and PostgreSQL documentation (packages python3-doc and postgresql-doc-15) as a
crawl does: decode, validate, prune, markdown, metadata, language. Prints CPU a page, beside it what
parsing alone and the signature for near-duplicates cost, what a page would cost at the speed the bar
(4 ms for Python's) was set at, and how many code blocks, headings, table rows and list items of the
main part are in the markdown word for word.
"""

import argparse
import cProfile
import pstats
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.contenders import CRAWL4R
from bench.server import DOCUMENTATION
from bench.yardstick import SLICES, Yardstick

BLANKS = re.compile(r"\s+")
HEADER_MARKS = "¶#"
MAIN = "[role=main],main,article,div.sect1,div.chapter,div.refentry,div.part,div.appendix,div.book"
INNERMOST = ("pre", "h1,h2,h3,h4,h5,h6", "tr")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="only each n-th page")
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    options = parser.parse_args()
    if Path(sys.prefix) != CRAWL4R.parent.parent:  # with the interpreter that has crawl4r
        python = str(CRAWL4R.parent / "python")
        command = [python, "-m", "bench.reading_docs", *sys.argv[1:]]
        sys.exit(subprocess.run(command, check=False).returncode)
    for name, root in DOCUMENTATION.items():
        if not root.is_dir():
            print(f"{name}: {root} is not installed, left out", file=sys.stderr)
            continue
        files = sorted(root.rglob("*.html"))[:: options.every]
        pages = [(str(file), file.read_bytes()) for file in files if not file.is_symlink()]
        with Yardstick() as yardstick:
            measure(name, pages, yardstick, profile=options.profile)


def measure(
    name: str, pages: list[tuple[str, bytes]], yardstick: Yardstick, *, profile: bool
) -> None:
    from crawl4r.documents import extractor  # noqa: PLC0415
    from crawl4r.formats.html import parse_html  # noqa: PLC0415
    from crawl4r.model import PageBody, ReadOptions  # noqa: PLC0415
    from crawl4r.processes.malloc import collect_seldom, keep_freed_memory  # noqa: PLC0415

    bodies = [PageBody(html, f"https://docs.example/{file}") for file, html in pages]
    keep_freed_memory()  # as the process that does this in a crawl
    for body in bodies[::20]:  # models are loaded, and patterns compiled, with the first of a kind
        extractor.extract(body, ReadOptions(with_links=False))
    collect_seldom()
    profiler = cProfile.Profile()
    if profile:
        profiler.enable()
    signed = _Timed(extractor.signature)
    extractor.signature = signed  # no part of reading, but of finding near-duplicates
    read, parsed = _Timed(extractor.extract), _Timed(parse_html)
    found = []
    # In turn with the yardsticks: the machine is not equally fast all the time.
    for slice_ in range(SLICES):
        for body in bodies[slice_ * len(bodies) // SLICES : (slice_ + 1) * len(bodies) // SLICES]:
            found.append(read(body, with_links=False))
            parsed(body.body)
        yardstick.measure()
    profiler.disable()
    extractor.signature = signed.function
    cpu = 1_000 * (read.seconds - signed.seconds) / len(bodies)
    signing = 1_000 * signed.seconds / len(bodies)
    parsing = 1_000 * parsed.seconds / len(bodies)
    size = sum(len(html) for _, html in pages) / len(pages) / 1_000
    print(
        f"{name}: {len(pages)} pages of {size:.0f} KB, {cpu:.2f} ms CPU a page, "
        f"{cpu / parsing:.1f} x parsing alone ({parsing:.2f}), signature {signing:.2f}"
    )
    print(f"  {cpu / yardstick.pace:.2f} ms at the bar's speed ({yardstick})")
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(15)
    for what, (kept, total) in shares(pages, found).items():
        print(f"  {what}: {kept} of {total} word for word, {kept / max(total, 1):.1%}")
    rejected = [
        (file, e.verdict) for (file, _), e in zip(pages, found, strict=True) if e.verdict[1]
    ]
    print(f"  rejected: {len(rejected)} {rejected[:3] or ''}")


class _Timed:
    """A function that knows how long it took, over all calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return self.function(*arguments, **named)
        finally:
            self.seconds += time.process_time() - started


def shares(pages: list[tuple[str, bytes]], found: list[Any]) -> dict[str, tuple[int, int]]:
    counts = {kind: [0, 0] for kind in ("code blocks", "headings", "table rows", "list items")}
    for (_, html), extraction in zip(pages, found, strict=True):
        markdown = extraction.document.markdown if extraction.document else ""
        lines = {_bare(line) for line in markdown.splitlines()}
        everything = _bare(markdown)
        blocks, headings, rows, items = truth(html)
        counts["code blocks"][0] += sum(_indented(block) in _indented(markdown) for block in blocks)
        counts["headings"][0] += sum(_bare(heading) in lines for heading in headings)
        counts["table rows"][0] += sum(_bare(row) in lines for row in rows)
        counts["list items"][0] += sum(_bare(item) in everything for item in items)
        for key, pieces in zip(counts, (blocks, headings, rows, items), strict=True):
            counts[key][1] += len(pieces)
    return {key: (kept, total) for key, (kept, total) in counts.items()}


def truth(html: bytes) -> tuple[list[str], list[str], list[str], list[str]]:
    """Code, headings, rows and list items of the page's main part, read from the page itself."""
    from crawl4r.formats.html import parse_html  # noqa: PLC0415

    tree = parse_html(html)
    top = tree.select_one(MAIN) or tree.select_one("body")
    top.remove("a.headerlink,script,style")
    code = [node.text.strip("\n") for node in top.select("pre")]
    headings = [node.text.strip(HEADER_MARKS) for node in top.select("h1,h2,h3,h4,h5,h6")]
    rows = [
        " ".join(cell.text for cell in row.select("td,th"))
        for row in top.select("tr")
        if not row.select("table,pre")
    ]
    return (
        [c for c in code if c.strip()],
        [h for h in headings if _bare(h)],
        [r for r in rows if _bare(r)],
        [i for i in map(_beginning, top.select("li,dt,dd")) if _bare(i)],
    )


def _beginning(item: Any) -> str:
    """Its own words, up to a list, a table or code inside it."""
    words = []
    for node in item.descendants:
        if getattr(node, "tag", "") in ("ul", "ol", "dl", "pre", "table"):
            break
        words.append(getattr(node, "data", ""))
    return "".join(words)


def _indented(text: str) -> str:
    """Code inside a list is indented with it: what counts is each line, without its margin."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _bare(text: str) -> str:
    """Words alone: markdown escapes, marks and link targets are not the text's."""
    text = re.sub(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)", "]", text)
    return re.sub(r"[^\w]+", "", text)


if __name__ == "__main__":
    main()
