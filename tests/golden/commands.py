"""The commands whose answers are pinned. Those that make the archive run once, in this order."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.golden.harbour_site import HarbourSite
from tests.older_workspaces import set_back_to_8

SITE = "http://harbour.test"
MODEL = "CRAWL4R_EMBEDDER__KIND"


class Command(NamedTuple):
    """`crawl4r <words>`; its answer is in `expected/<name>.json`, or `.txt` where it is no JSON."""

    name: str
    words: str
    stdin: str = ""
    code: int = 0
    varying: tuple[str, ...] = ()  # more names of JSON values that measure this run
    with_errors: bool = False  # what it writes to stderr is pinned, too
    needs_model: bool = False
    before: Callable[[Path, HarbourSite], None] | None = None

    @property
    def is_json(self) -> bool:
        return "--json" in self.words

    @property
    def file(self) -> str:
        return f"{self.name}.{'json' if self.is_json else 'txt'}"

    @property
    def environment(self) -> dict[str, str]:
        return {MODEL: "minilm"} if self.needs_model else {}


def _copy(source: str, target: str, folder: Path, _: HarbourSite) -> None:
    shutil.copytree(folder / source, folder / target)


def _make_older(folder: Path, site: HarbourSite) -> None:
    """A copy of the first day as an earlier version left it."""
    _copy("harbour", "older", folder, site)
    set_back_to_8(folder / "older")


def _turn_to_second_day(_: Path, site: HarbourSite) -> None:
    site.day = 2


MAKING = (
    Command(
        "crawl",
        f"crawl {SITE}/ -w harbour --logs --contact https://you.example/bot --depth 5"
        " --json --log-json -v",
    ),
    Command(
        "crawl_unreachable",
        f"crawl {SITE}:81/ -w unreachable --json --log-json -v",
        code=1,
    ),
    Command("crawl_nothing", "crawl -w nothing --json --log-json", code=2),
    Command("crawl_text", f"crawl {SITE}/ -w few --max-pages 4", with_errors=True),
    Command("resume", "resume -w few --max-pages 8 --json"),
    Command("resume_text", "resume -w few --max-pages 9 --deny /news/ -v", with_errors=True),
    Command("replay", "replay -w few --json"),
    Command("reprocess", "reprocess -w few --json"),
    Command("reprocess_text", "reprocess -w few"),
    Command("pause", "pause -w few --json"),
    Command("pause_off", "pause -w few --off --json"),
    Command("stop", "stop -w few --json"),
    Command("discover", f"spool discover {SITE}/ -w separated --json"),
    Command("status_discovered", "status -w separated --json"),
    Command("status_discovered_text", "status -w separated"),
    Command("spool_scrape", "spool scrape -w separated --json"),
    Command(
        "status_scraped",
        "status -w separated --json",
        varying=("offset", "unfinished", "backlog"),  # told now and then, not at the very end
    ),
    Command("older_pages", "pages -w older --json", before=_make_older),
    Command("older_status", "status -w older --json"),
    Command("older_why", f"why {SITE}/tides.html -w older --json"),
    Command("refresh", "crawl -w harbour --refresh --json", before=_turn_to_second_day),
    Command("refresh_again", "crawl -w harbour --refresh --json"),
    Command("older_refresh", "crawl -w older --refresh --json"),
    Command("older_status_upgraded", "status -w older --json"),
    Command("older_why_upgraded", f"why {SITE}/tides.html -w older --json"),
    Command("older_replay", "replay -w older --json"),  # lines of an earlier version tell less
    Command("older_replay_check", "replay -w older --check --json"),
    Command("index", "index -w harbour --rebuild --json"),
    Command("index_text", "index -w harbour"),
    Command("index_dry_run", "index -w harbour --rebuild --language all --dry-run --json"),
    Command(
        "index_with_model",
        "index -w meaning --rebuild --json",
        needs_model=True,
        before=partial(_copy, "harbour", "meaning"),
    ),
    Command("export_warc", "export warc -w harbour --out harbour.warc --json", varying=("bytes",)),
    Command("export_wacz", "export wacz -w harbour --out harbour.wacz --json", varying=("bytes",)),
    Command("export_jsonl", "export jsonl -w harbour --out harbour.jsonl --json"),
    Command("export_markdown", "export markdown -w harbour --out texts --json"),
    Command("export_parquet", "export parquet -w harbour --out harbour.parquet --json"),
    Command("export_csv", "export csv -w harbour --out tables --json"),
    Command("import_jsonl", "import papers.jsonl -w papers --json"),
    Command("import_jsonl_again", "import papers.jsonl -w papers --json"),
    Command("import_warc", "import harbour.warc -w replica --json"),
    Command("import_wacz", "import harbour.wacz -w replica"),
    Command("configure", f"configure {SITE}/ -w configured --contact https://you.example/bot"),
    Command("reset", "reset -w doomed --yes --json", before=partial(_copy, "few", "doomed")),
)

_URLS = '{"url": "../c?utm_source=x", "base": "http://harbour.test/a/b"}\n{"url": "http://["}\n'
_FILES = '{"url": "http://harbour.test/a", "path": "list.html"}\n{"url": "b", "path": "gone"}\n'
_HIGH_WATER = "search 'when does high water come'"
READING = (
    Command("pages", "pages -w harbour --json"),
    Command("pages_text", "pages -w harbour"),
    Command("pages_failed", "pages -w harbour --state failed --json"),
    Command("pages_guessed", "pages -w harbour --found-by guesses --json"),
    Command("pages_redirected", "pages -w harbour --verdict redirect --json"),
    Command("pages_imported", "pages -w replica --json"),
    Command("pages_papers", "pages -w papers --json"),
    Command("get", f"get {SITE}/tides.html -w harbour --json"),
    Command("get_text", f"get {SITE}/boats.html -w harbour"),
    Command("get_raw", f"get {SITE}/notes.txt -w harbour --raw"),
    Command("get_headers", f"get {SITE}/tides.html -w harbour --headers"),
    Command("get_markdown", f"get {SITE}/boats.html -w harbour --markdown"),
    Command("get_document", f"get {SITE}/pilots.html -w harbour --markdown --json"),
    Command("history", f"history {SITE}/tides.html -w harbour --json"),
    Command("history_text", f"history {SITE}/tides.html -w harbour"),
    Command("history_gone_text", f"history {SITE}/ferry.html -w harbour"),
    Command("diff", f"diff {SITE}/tides.html -w harbour --json"),
    Command("diff_text", f"diff {SITE}/tides.html -w harbour"),
    Command("why", f"why {SITE}/tides.html -w harbour --json"),
    Command("why_text", f"why {SITE}/tides.html -w harbour"),
    Command("why_denied", f"why {SITE}/private/plans.html -w harbour --json"),
    Command("why_denied_text", f"why {SITE}/private/plans.html -w harbour"),
    Command("why_gone_text", f"why {SITE}/ferry.html -w harbour"),
    Command("why_near_text", f"why {SITE}/pilots-again.html -w harbour"),
    Command("why_blocked_text", f"why {SITE}/blocked.html -w harbour"),
    Command("why_unknown", "why http://elsewhere.test/never -w harbour --json"),
    Command("why_unknown_text", "why http://elsewhere.test/never -w harbour"),
    Command("search", f"{_HIGH_WATER} -w harbour --json --explain"),
    Command("search_text", f"{_HIGH_WATER} -w harbour -n 3"),
    Command("search_table", "search 'boat type:table' -w harbour --neighbours 1 --json"),
    Command("search_phrase", "search '\"inner basin\" -seal' -w harbour --json"),
    Command("search_prefix", "search 'harb* site:harbour.test' -w harbour --per-document 0 --json"),
    Command("search_nothing_text", "search zeppelin -w harbour"),
    Command("search_many", "search --queries questions.jsonl -w harbour --limit 3 --json"),
    Command("search_many_text", "search --queries questions.jsonl -w harbour --limit 3"),
    Command("search_hybrid", f"{_HIGH_WATER} -w meaning -n 4 --json", needs_model=True),
    Command(
        "search_meaning",
        "search 'a bird that lives on a machine' -w meaning -n 2 --mode vector --json",
        needs_model=True,
    ),
    Command("similar", f"similar {SITE}/pilots.html -w meaning -n 3 --json", needs_model=True),
    Command("similar_text", f"similar {SITE}/pilots.html -w meaning -n 3", needs_model=True),
    Command("embed_test", "embed test 'where is the cat?' --json", needs_model=True),
    Command("embed_install", "embed install --json", needs_model=True),
    Command("status", "status -w harbour --json"),
    Command("status_text", "status -w harbour"),
    Command("report", "report harbour.test -w harbour --json"),
    Command("reprocess_dry_run", "reprocess -w harbour --dry-run --json"),
    Command("replay_check", "replay -w harbour --check --json"),
    Command("reset_dry_run", "reset -w harbour --dry-run --json"),
    Command("reset_dry_run_text", "reset -w harbour --dry-run"),
    Command("configure_show", "configure -w configured --show --json"),
    Command("configure_profiles", "configure --profiles"),
    Command(
        "check_policy",
        f"check-policy {SITE}/private/x {SITE}/y http://elsewhere.test/ -w harbour --json",
        code=1,
    ),
    Command("check_policy_text", f"check-policy {SITE}/private/x -w harbour", code=1),
    Command(
        "check_policy_robots", "check-policy http://e.test/a/b --robots robots.txt --agent x --json"
    ),
    Command(
        "check_policy_profile",
        "check-policy https://github.com/login --profile github --json",
        code=1,
    ),
    Command("scrape", f"scrape {SITE}/boats.html --chunks --json"),
    Command("scrape_text", f"scrape {SITE}/boats.html"),
    Command("map", f"map {SITE}/ --json"),
    Command("map_text", f"map {SITE}/ --limit 5"),
    Command("plan", f"plan {SITE}/ --json"),
    Command("extract", f"extract list.html --url {SITE}/news/ --chunks --json"),
    Command("extract_text", f"extract list.html --url {SITE}/news/"),
    Command("extract_many", "extract --jsonl", stdin=_FILES),
    Command("pagination", f"pagination list.html --url '{SITE}/news/?page=2' --json"),
    Command("pagination_text", f"pagination list.html --url '{SITE}/news/?page=2'"),
    Command(
        "urls_canonical", "urls canonical 'HTTP://Harbour.test:80/a/../b?utm_source=x&b=2&a=1'"
    ),
    Command("urls_canonical_lines", "urls canonical --jsonl", stdin=_URLS),
)
