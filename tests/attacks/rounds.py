"""One round of one layer: its random source, its commands and its faults."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from tests.attacks.checking import Problem, Says, kinds_of_death, problems_of, shown, values_of
from tests.attacks.site import GoodPage
from tests.attacks.watching import Ended, Word, run
from tests.interfaces.cli.running import environment

# For a site that is near and may be asked at once; no attack makes a round wait for long.
SETTINGS = {
    "AGENT__CONTACT": "https://example.org",
    "NETWORK__ALLOW_PRIVATE": "[127.0.0.0/8]",
    "POLITENESS__RATE": "0",
    "POLITENESS__PER_HOST": "4",
    "POLITENESS__DELAY_CAP": "0.2",
    "POLITENESS__RETRY_AFTER_CAP": "0.2",
    "POLITENESS__BREAKER_COOLDOWN": "0.1",
    "FETCH__TIMEOUT": "5",
    "FETCH__RETRIES": "1",
    "FETCH__BACKOFF_BASE": "0.05",
    "INDEX__ENABLED": "true",
    "INDEX__LANGUAGES": "[]",
    "EXPLORE__ENABLED": "true",
    "EXPLORE__AGAIN_AFTER": "0",
}
DONE = frozenset({0})
KEPT = frozenset({0, 3})  # 3: some hosts were given up
REFUSED = frozenset({0, 1, 2})  # what was asked for makes no sense, and is told so


class Round:
    """Runs commands and collects their results, in its own `folder`."""

    def __init__(self, layer: str, seed: int, number: int, folder: Path, steps: int) -> None:
        self.layer, self.seed, self.number, self.folder = layer, seed, number, folder
        self.steps = steps  # commands after the first, at most
        self.chance = random.Random(f"{seed}/{number}/{layer}")
        self.problems: list[Problem] = []
        self.deaths: Counter[str] = Counter()
        self.commands: list[str] = []
        self.peak_mb = 0
        self.cpu = 0.0
        self._environment = environment(
            {f"CRAWL4R_{name}": value for name, value in SETTINGS.items()}
        )

    def run(
        self,
        *words: Word,
        codes: Collection[int] = DONE,
        says: Says = Says.TEXT,
        stdin: bytes = b"",
        settings: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run a command as a user does; its ending is judged here."""
        ended = run(words, self.folder, {**self._environment, **(settings or {})}, stdin)
        self.commands.append(f"{shown(ended)}  [{ended.code}]")
        self.problems += problems_of(ended, codes, says)
        self.deaths += kinds_of_death(ended)
        self.peak_mb = max(self.peak_mb, ended.peak_mb)
        self.cpu = max(self.cpu, ended.cpu)
        return ended

    def json(self, *words: Word, codes: Collection[int] = DONE) -> list[object]:
        """Run a command with `--json`; its values, none when it failed."""
        before = len(self.problems)
        ended = self.run(*words, "--json", codes=codes, says=Says.JSON)
        if ended.code or any(problem.kind == "json" for problem in self.problems[before:]):
            return []
        return values_of(ended)

    def blame(self, kind: str, detail: str) -> None:
        self.problems.append(Problem(kind, self.commands[-1], detail))

    def check_good_pages(self, workspace: Path, goods: Mapping[str, GoodPage]) -> None:
        """Each good page is kept, beside any attack."""
        rows = [row for row in self.json("pages", "-w", workspace) if isinstance(row, dict)]
        kept = {row["url"] for row in rows if row["verdict"] == "ok"}
        lost = {str(row): row for row in rows if row["url"] in goods.keys() - kept}
        if goods.keys() - kept:
            self.blame(
                "lost", f"good pages are not kept: {sorted(goods.keys() - kept)} {list(lost)}"
            )

    def check_that_one_is_found(self, workspace: Path, goods: Mapping[str, GoodPage]) -> None:
        """A good page of an indexed workspace is found by its own word."""
        url, page = self.chance.choice(list(goods.items()))
        found = self.json("search", page.word, "-w", workspace, "--mode", "keyword")
        if url not in str(found):
            self.blame("lost", f"{url} is not found by {page.word}: {str(found)[:600]}")
