"""crawl4r.yaml: what `configure` wrote, mutated; other YAML; values that no setting can have.

No command here fetches anything: a rate of one request a week is the user's to set.
"""

from __future__ import annotations

import random

from tests.attacks.exports import Exports
from tests.attacks.mutating import NUMBERS, POISONS, mutated, odd_word
from tests.attacks.rounds import REFUSED, Round

_SECTIONS = {
    "politeness": ("rate", "per_host", "concurrency", "robots_ttl", "delay_cap"),
    "limits": ("pages", "depth", "bytes", "groups", "traps", "revisits"),
    "scope": ("hosts", "allow", "deny", "page_types", "keep_params", "only_page_types"),
    "fetch": ("timeout", "headers", "auth", "types", "proxies", "max_bytes"),
    "network": ("allow_private", "resolve", "ca_file"),
    "index": ("languages", "max_tokens", "collection", "enabled"),
    "search": ("fusion", "keyword_weight", "per_document"),
    "store": ("kind", "level", "permissions", "segment_mb"),
    "reading": ("seconds", "memory_mb", "workers"),
    "agent": ("user_agent", "contact", "robots_token"),
}  # fmt: skip
_YAML = (
    "[" * 100_000, "{" * 5_000, "- " * 20_000, "a: " * 300, "&a [*a]", "&a {b: *a}",
    "!!python/object/apply:os.system [id]", "!!binary x", "!!timestamp 2026-99-99", "? ? ? ?",
    "%YAML 9.9\n---\n", "---\n---\n", "\t", "a: b: c", "<<: *x", "!!set {a}",
    "x: &x [" + "a," * 3_000 + "]\ny: [" + "*x," * 3_000 + "]", "a: |\n  " + "x" * 200_000,
    "\ufeffseeds: []", "0o17: 1e999", "seeds: !!float nan", "null", "~: ~", "2026-01-01: 1", "1: 2",
    '"\\ud800": "\\udfff"', "scope: {hosts: [\"\\ud800\"]}",
)  # fmt: skip
_VALUES = (
    "[]", "{}", "null", "true", ".nan", ".inf", "-.inf", "''", "[[[]]]", "{a: {b: c}}",
    "{per: '(', max: -1}", "['(']", "{g: {per: '(a|b)*', max: 99999999999999999999}}",
    "{'\"': '\"'}", "{'X\\r\\nY': z}", "['*']", "[127.0.0.1/99]", "{http://a: 'b:c'}",
    "{servers: ['socks5h://a:b@127.0.0.1:1', '::']}", "2026-01-01", "0o777", "9999", "1_0",
)  # fmt: skip


def _text(chance: random.Random, real: bytes) -> bytes:
    kind = chance.random()
    if kind < 0.25:
        return mutated(chance, real)
    if kind < 0.5:
        return chance.choice(_YAML).encode("utf-8", "surrogatepass")
    lines = []
    for section in chance.sample(list(_SECTIONS), chance.randint(1, 3)):
        key = chance.choice((*_SECTIONS[section], odd_word(chance)[:100]))
        value = chance.choice(
            (*_VALUES, *(number.decode() for number in NUMBERS), *map(repr, POISONS))
        )
        lines.append(f"{section}:\n  {key}: {value}\n")
    text = "".join(lines).encode("utf-8", "surrogatepass")
    return mutated(chance, text, most=1) if chance.random() < 0.3 else text


def attack(this: Round, exports: Exports) -> None:
    workspace = exports.workspace(this)
    file = workspace / "crawl4r.yaml"
    this.run("configure", "http://127.0.0.1:1/", "-w", workspace, "--contact", "you@example.org")
    real = file.read_bytes()
    commands = (
        ("configure", "--show"), ("status",), ("pages",), ("search", "keeper", "--mode", "keyword"),
        ("index", "--dry-run"), ("check-policy", "http://127.0.0.1:1/a?b=c"),
        ("urls", "canonical", "http://127.0.0.1:1/a"), ("reprocess", "--dry-run"),
        ("report", "127.0.0.1"), ("export", "jsonl", "--out", this.folder / "o.jsonl"),
        ("configure", "http://127.0.0.1:1/"),
    )  # fmt: skip
    for _ in range(max(2, this.steps)):
        file.write_bytes(_text(this.chance, real))
        this.run(*this.chance.choice(commands), "-w", workspace, codes=REFUSED)
    file.unlink(missing_ok=True)
    this.check_good_pages(workspace, exports.goods)
