"""Typed input: queries, cursors, dates, hashes and URLs on a command line."""

from __future__ import annotations

import random

from tests.attacks.checking import Says
from tests.attacks.exports import Exports
from tests.attacks.mutating import NUMBERS, POISON_BYTES, mutated
from tests.attacks.redirects import TARGETS
from tests.attacks.rounds import REFUSED, Round
from tests.attacks.site import Site
from tests.attacks.watching import Word

_PIECES = (
    b"keeper", b"light*", b"*", b"**", b'"', b'"the keeper"', b'""', b"-", b"+", b"-keeper",
    b"+light", b"--", b"site:", b"type:", b"lang:", b"before:", b"after:", b"site:[",
    b"before:9999-99-99", b"after:-1", b"lang:\xff", b"type:table", b"-tag:[/b]", b"(", b")",
    b"[a TO b]", b"{", b"}", b"^2", b"~9", b"\\", b"/", b"AND", b"OR", b"NOT", b"title:x",
    b"body:*", b"NEAR/3", b"a" * 3_000, b"a " * 3_000, b'"' * 501, b"(" * 2_000, b"- " * 700,
    b"site:" * 300, b"?", b"!", b"&&", b"||", b":", b"'", b"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
    b"x*y*z*", b"a\xcc\x81" * 200, b"keeper^1e309", b"before:2026-01-01T99:00",
)  # fmt: skip
_MOMENTS = (
    b"2026-01-01",
    b"9999-12-31",
    b"0000-00-00",
    b"now",
    b"yesterday",
    b"2026-13-45",
    b"10000-01-01",
    b"",
)
_CURSORS = (
    b"",
    b"x",
    b"MTA=",
    b"eyJhIjoxfQ==",
    b"AAAA",
    b"%00",
    b"-1",
    b"{}",
    b"W10=",
    b"bnVsbA==",
    b"/" * 5_000,
)


_OPTIONS = (
    "--site", "--type", "--language", "--since", "--before", "--as-of", "--limit", "--neighbours",
    "--min-score", "--per-document", "--fusion", "--mode", "--cursor",
    "--keyword-weight", "--vector-weight", "--rrf-k",
)  # fmt: skip


def query(chance: random.Random) -> bytes:
    count = chance.choice((0, 1, 2, 3, 8, 30))
    pieces = [chance.choice((*_PIECES, *POISON_BYTES)) for _ in range(count)]
    text = chance.choice((b" ", b" ", b"", b"\n")).join(pieces)
    return mutated(chance, text, most=2)[:20_000] if text and chance.random() < 0.3 else text


def _options(chance: random.Random) -> list[Word]:
    odd = (*NUMBERS, *POISON_BYTES, *_MOMENTS, b"html", b"127.0.0.1")
    words: list[Word] = []
    for _ in range(chance.choice((0, 1, 2))):
        name = chance.choice(_OPTIONS)
        value = chance.choice(_CURSORS if name == "--cursor" else odd)
        words.append(name.encode() + b"=" + value)
    return words


def attack_queries(this: Round, exports: Exports) -> None:
    """The workspace is only read, by each; at the end it answers as before."""
    workspace = exports.folder
    for _ in range(max(3, this.steps)):
        asked = query(this.chance)
        is_json = this.chance.random() < 0.5
        words: list[Word] = [
            "search",
            *_options(this.chance),
            *(["--json"] if is_json else ["--explain"]),
        ]
        this.run(
            *words,
            "-w",
            workspace,
            "--",
            asked,
            codes=REFUSED,
            says=Says.JSON if is_json else Says.TEXT,
        )
    _ask_for_the_next_page(this, exports)
    this.check_that_one_is_found(workspace, exports.goods)


def _ask_for_the_next_page(this: Round, exports: Exports) -> None:
    """A cursor that was given, mutated."""
    found = this.json("search", "the keeper", "-w", exports.folder, "--limit", "1")
    cursor = found[0].get("cursor") if found and isinstance(found[0], dict) else None
    if cursor:
        odd = mutated(this.chance, str(cursor).encode(), most=1)
        words = ("search", "the keeper", "-w", exports.folder, b"--cursor=" + odd, "--json")
        this.run(*words, codes=REFUSED, says=Says.JSON)


def _url(chance: random.Random, origin: str) -> bytes:
    spelled = chance.choice(TARGETS).replace("{}", origin).encode("utf-8", "surrogatepass")
    if chance.random() < 0.4:
        spelled = origin.encode() + b"/" + chance.choice(POISON_BYTES)
    return mutated(chance, spelled, most=2) if spelled and chance.random() < 0.4 else spelled


def attack_urls(this: Round, exports: Exports) -> None:
    """URLs of any spelling, wherever one is taken; some of them are asked for on loopback."""
    look_ups: tuple[tuple[Word, ...], ...] = (
        ("why",), ("get",), ("get", "--markdown"), ("history",), ("similar",), ("diff",),
        ("check-policy",), ("report",), ("urls", "canonical"), ("why", "--json"),
        ("check-policy", "--json"), ("history", "--json"),
    )  # fmt: skip
    origin = next(iter(exports.goods)).rpartition("/good")[0]
    for _ in range(max(2, this.steps)):
        words = this.chance.choice(look_ups)
        says = Says.JSON if "--json" in words else Says.TEXT
        this.run(
            *words, "-w", exports.folder, "--", _url(this.chance, origin), codes=REFUSED, says=says
        )
    moment = this.chance.choice((*_MOMENTS, *NUMBERS, *POISON_BYTES))
    this.run("get", f"{origin}/good/1", b"--at=" + moment, "-w", exports.folder, codes=REFUSED)
    this.run("get", b"--sha256=" + query(this.chance), "-w", exports.folder, codes=REFUSED)
    if this.steps > 2:
        _ask_for(this)


def _ask_for(this: Round) -> None:
    with Site(this.chance) as site:
        site.open(this.chance)
        command = this.chance.choice(("scrape", "crawl", "map", "plan"))
        more = ("-w", this.folder / "new") if command == "crawl" else ()
        this.run(command, *more, "--", _url(this.chance, site.good.url), codes={0, 1, 2, 3})
