"""`crawl4r selftest`: show on this machine that crawls survive kills."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import asdict

from crawl4r.errors import StorageError
from crawl4r.interfaces.cli.options import json_option, print_json
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.progress_bar import progress_bar
from crawl4r.safe_text import command_line
from crawl4r.sample.server import SampleSite
from crawl4r.workspace.workspace import Workspace, open_workspace

_CONCURRENCY = 4
_RATE = 400.0  # requests a second
_MOST_REQUESTS = 12  # of a crawl before its kill
_LOOK_AGAIN = 0.001  # seconds
_METADATA = Path("metadata") / "crawl_metadata.jsonl"


class Findings(Struct):
    """The effects of the kills. Every number except the first two should be 0."""

    kills: int = 0
    pages: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0  # pages with other bytes than in an undisturbed crawl
    torn_lines: int = 0
    fetched_again: int = 0
    fetched_again_allowed: int = 0  # pages in flight at the kills

    @property
    def is_good(self) -> bool:
        bad = self.lost + self.doubled + self.wrong + self.torn_lines
        return bad == 0 and self.fetched_again <= self.fetched_again_allowed


@click.command("selftest")
@click.option(
    "--kill",
    "kills",
    is_flag=False,
    flag_value=20,
    type=click.IntRange(1),
    required=True,
    help="Kill crawls this often, after a random number of requests.  [20 without a number]",
)
@click.option("--seed", type=int, help="Repeat the random numbers of an earlier run.")
@json_option
def command(kills: int, seed: int | None, as_json: bool) -> None:
    """Kill crawls of the bundled site, and count losses.

    A crawl is killed (SIGKILL) again and again.

    \b
    crawl4r selftest --kill
    crawl4r selftest --kill 200 --seed 7
    """
    seed = random.randrange(1_000_000) if seed is None else seed
    chance = random.Random(seed)
    findings = Findings()
    with (
        SampleSite() as site,
        tempfile.TemporaryDirectory(prefix="crawl4r-selftest-") as folder,
        progress_bar(not as_json) as bar,
    ):
        task = bar.add_task("killed", total=kills)
        truth_at = Path(folder) / "undisturbed"
        _run(site.url, truth_at).wait()
        truth = _stored(truth_at)
        while findings.kills < kills:
            workspace = Path(folder) / f"killed-{findings.kills}"
            site.log.clear()
            before = findings.kills
            _kill_until_done(site, workspace, kills, findings, chance, lambda: bar.advance(task))
            findings.fetched_again_allowed += _CONCURRENCY * (findings.kills - before)
            _examine(workspace, truth, Counter(site.log), findings)
    _tell(findings, seed, as_json)
    if not findings.is_good:
        sys.exit(1)


def _run(url: str, workspace: Path) -> subprocess.Popen[bytes]:
    arguments = ["crawl", url, "-w", str(workspace), "--allow-private", "127.0.0.1", "--quiet"]
    arguments += ["--rate", str(_RATE), "--per-host", "4", "--concurrency", str(_CONCURRENCY)]
    program = "from crawl4r.interfaces.cli.main import main; main()"
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.DEVNULL)


def _kill_until_done(
    site: SampleSite,
    workspace: Path,
    kills: int,
    findings: Findings,
    chance: random.Random,
    on_kill: Callable[[], None],
) -> None:
    """One crawl, killed and restarted until it ends by itself."""
    while findings.kills < kills:
        goal = len(site.log) + chance.randint(0, _MOST_REQUESTS)
        crawl = _run(site.url, workspace)
        while len(site.log) < goal and crawl.poll() is None:
            time.sleep(_LOOK_AGAIN)
        if crawl.poll() is not None:
            return
        crawl.kill()
        crawl.wait()
        findings.kills += 1
        on_kill()
    _run(site.url, workspace).wait()


def _stored(workspace: Path) -> dict[str, str | None]:
    with open_workspace(workspace, read_only=True) as opened:
        return {page.url: page.sha256 for page in opened.pages(state="done")}


def _examine(
    workspace: Path, truth: dict[str, str | None], requests: Counter[str], findings: Findings
) -> None:
    stored = _stored(workspace)
    findings.pages += len(stored)
    findings.lost += len(truth.keys() - stored.keys())
    findings.wrong += sum(stored[url] != truth[url] for url in stored.keys() & truth.keys())
    findings.fetched_again += sum(n - 1 for line, n in requests.items() if "robots.txt" not in line)
    with open_workspace(workspace, read_only=True) as opened:
        captures = Counter(capture.url for capture in opened.captures.after(0))
        findings.wrong += sum(_is_unreadable(opened, url) for url in stored if stored[url])
    findings.doubled += sum(n - 1 for n in captures.values())
    findings.torn_lines += _bad_lines(workspace / _METADATA, sum(captures.values()))


def _is_unreadable(workspace: Workspace, url: str) -> bool:
    """The hashes of pages. Reading a page verifies its hash."""
    try:
        return workspace.get(url) is None
    except StorageError:
        return True


def _bad_lines(path: Path, wanted: int) -> int:
    ids = []
    for line in path.read_text("utf-8").splitlines():
        try:
            ids.append(json.loads(line)["capture_id"])
        except (ValueError, KeyError):
            return 1
    return abs(wanted - len(set(ids))) + len(ids) - len(set(ids))


def _tell(findings: Findings, seed: int, as_json: bool) -> None:
    if as_json:
        print_json({**asdict(findings), "seed": seed, "good": findings.is_good})
        return
    again = (
        f"{findings.fetched_again} (in flight at the kills: up to {findings.fetched_again_allowed})"
    )
    for words, value in (
        ("kills", findings.kills),
        ("pages compared with an undisturbed crawl", findings.pages),
        ("lost", findings.lost),
        ("stored twice", findings.doubled),
        ("with other bytes", findings.wrong),
        ("torn or missing metadata lines", findings.torn_lines),
        ("fetched again", again),
    ):
        say(f"{words:42} {value}")
    again = command_line("--kill", findings.kills, "--seed", seed)
    say("Nothing was lost." if findings.is_good else f"FAILED; repeat with {again}")
