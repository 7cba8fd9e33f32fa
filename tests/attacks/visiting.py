"""A round against a hostile site: crawl it, then use the workspace like a user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.attacks.checking import Says
from tests.attacks.mutating import odd_word
from tests.attacks.rounds import KEPT, REFUSED, Round
from tests.attacks.site import Site

Attacker = Callable[[Any, Site, int], None]
Step = Callable[[Round, Site, Path], object]


def visit(this: Round, attackers: Sequence[Attacker], count: int) -> None:
    """Each attacker puts up about `count` answers; then the site is crawled and looked at."""
    workspace = this.folder / "ws"
    with Site(this.chance) as site:
        for attacker in attackers:
            attacker(this.chance, site, count)
        seeds = site.open(this.chance)
        indexed = this.chance.random() < 0.6
        options = ["--index" if indexed else "--no-index"]
        options += [word for word in ("--logs", "--no-explore") if this.chance.random() < 0.3]
        this.json("crawl", *seeds, "-w", workspace, *options, codes=KEPT)
        for step in this.chance.sample(STEPS, min(this.steps, len(STEPS))):
            step(this, site, workspace)
        this.check_good_pages(workspace, site.good_urls)
        if not indexed and this.chance.random() < 0.5:
            this.json("index", "-w", workspace)
            indexed = True
        if indexed:
            this.check_that_one_is_found(workspace, site.good_urls)


def _any_url(this: Round, site: Site) -> str:
    paths = [*site.bad.answers, "/", "/robots.txt"]
    return this.chance.choice([site.bad.url + this.chance.choice(paths), *site.good_urls])


def _resume(this: Round, site: Site, workspace: Path) -> None:
    this.json("resume", "-w", workspace, codes=KEPT)


def _refresh(this: Round, site: Site, workspace: Path) -> None:
    """The bad host has something else at some of its places now."""
    paths = list(site.bad.answers)
    answers = list(site.bad.answers.values())
    this.chance.shuffle(answers)
    site.bad.answers.update(zip(paths, answers, strict=True))
    this.run("crawl", "-w", workspace, "--refresh", "-v", codes=KEPT)


def _reprocess(this: Round, site: Site, workspace: Path) -> None:
    this.json("reprocess", "-w", workspace)


def _index(this: Round, site: Site, workspace: Path) -> None:
    this.json(
        "index", "-w", workspace, *this.chance.choice(((), ("--rebuild",), ("--no-vectors",)))
    )


def _search(this: Round, site: Site, workspace: Path) -> None:
    query = this.chance.choice(("the keeper", "light", odd_word(this.chance)[:300]))
    this.run("search", "--explain", "-w", workspace, "--", query, codes=REFUSED)


def _why(this: Round, site: Site, workspace: Path) -> None:
    url = _any_url(this, site)
    this.run("why", url, "-w", workspace)
    this.json("why", url, "-w", workspace)


def _get(this: Round, site: Site, workspace: Path) -> None:
    url = _any_url(this, site)
    kind = this.chance.choice(("--raw", "--markdown", "--headers", "--json"))
    says = {"--raw": Says.BYTES, "--json": Says.JSON}.get(kind, Says.TEXT)
    this.run("get", url, "-w", workspace, kind, codes=REFUSED, says=says)


def _pages(this: Round, site: Site, workspace: Path) -> None:
    this.run("pages", "-w", workspace)
    this.run("status", "-w", workspace)


def _history(this: Round, site: Site, workspace: Path) -> None:
    url = _any_url(this, site)
    this.run("history", url, "-w", workspace, codes=REFUSED)
    this.run("diff", url, "-w", workspace, codes=REFUSED)


def _similar(this: Round, site: Site, workspace: Path) -> None:
    this.run("similar", _any_url(this, site), "-w", workspace, codes=REFUSED)


def _report(this: Round, site: Site, workspace: Path) -> None:
    this.run("report", site.bad.url.removeprefix("http://"), "-w", workspace, codes=REFUSED)


def _export(this: Round, site: Site, workspace: Path) -> None:
    kind = this.chance.choice(("jsonl", "markdown", "csv", "parquet"))
    out = this.folder / f"exported-{len(this.commands)}"
    this.json("export", kind, "-w", workspace, "--out", out)


def _carry_over(this: Round, site: Site, workspace: Path) -> None:
    """Out as an archive, and into another workspace."""
    name = this.chance.choice(("out.warc.gz", "out.warc", "out.warc.zst", "out.wacz"))
    kind = "wacz" if name.endswith(".wacz") else "warc"
    out, other = this.folder / name, this.folder / "other"
    this.json("export", kind, "-w", workspace, "--out", out)
    this.json("import", out, "-w", other)
    this.check_good_pages(other, site.good_urls)


def _scrape(this: Round, site: Site, workspace: Path) -> None:
    url = _any_url(this, site)
    this.run("scrape", url, codes=REFUSED)
    this.json("scrape", url, "--chunks", codes=REFUSED)


def _extract(this: Round, site: Site, workspace: Path) -> None:
    """The bytes of an answer, as a file with any name."""
    sent = this.chance.choice(list(site.bad.answers.values()))
    suffix = this.chance.choice((".html", ".pdf", ".xml", ".json", ".txt", ""))
    file = this.folder / f"saved{suffix}"
    file.write_bytes(b"".join(sent.pieces).partition(b"\r\n\r\n")[2])
    this.json("extract", file, "--chunks", "--url", site.bad.url, codes=REFUSED)
    this.run("pagination", file, "--url", site.bad.url, codes=REFUSED)


def _map(this: Round, site: Site, workspace: Path) -> None:
    this.run("map", site.bad.url, *this.chance.choice(((), ("--json",))), codes=REFUSED)


def _plan(this: Round, site: Site, workspace: Path) -> None:
    this.run("plan", site.bad.url, *this.chance.choice(((), ("--json",))), codes=REFUSED)


def _replay(this: Round, site: Site, workspace: Path) -> None:
    this.json("replay", "--check", "-w", workspace, codes={0, 1})
    this.json("replay", "-w", workspace)


STEPS: tuple[Step, ...] = (
    _resume, _refresh, _reprocess, _index, _search, _why, _get, _pages, _history, _similar, _report,
    _export, _carry_over, _scrape, _extract, _map, _plan, _replay,
)  # fmt: skip
