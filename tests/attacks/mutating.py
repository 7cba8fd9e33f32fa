"""Mutations for bytes of any format: those of the fuzzed pages, and some without HTML."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tests.content.test_fuzz import MUTATIONS

MOST_BYTES = 400_000  # of a mutant

# What a terminal, rich's markup, a shell, a spreadsheet, a path or an encoder may stumble over.
POISONS = (
    "\x00", "\x07", "\x1b[2J\x1b[1;1H", "\x1b]52;c;aWQ=\x07",
    "\x1b]8;;http://evil.invalid\x1b\\x\x1b]8;;\x1b\\", "\x1b]0;owned\x07", "\x9b31m", "\x85",
    "\u2028", "\u202eabc\u2066", "\ufeff", "\ufffe", "\U000e0001", "[/bold]",
    "[link=http://evil.invalid]x[/link]", "[red]", "[", "]", "'; id; '", "$(id)", "`id`", "\\",
    "\"", "%s%n", "{0}", "{{x}}", "=cmd|' /C calc'!A0", "../../../../etc/passwd", "CON",
    "\r\nX-Injected: 1", "\n", "\t", "ÿ", "\U0001d54f" * 20, "a\u0301" * 300, "İ", "ß" * 50,
    "\u0000\u0000", "%00", "%ff%fe", "%u202e",
)  # fmt: skip
POISON_BYTES = (
    *(text.encode() for text in POISONS), b"\xed\xa0\x80", b"\\ud800", b"\\udfff\\ud800",
    b"\xff\xfe", b"\xfe\xff", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x80", b"\xef\xbb\xbf",
    b"\0" * 100, b"\x1f\x8b\x08", b"&#xD800;", b"&#0;", b"&#x110000;",
)  # fmt: skip
NUMBERS = (
    b"-1", b"0", b"1", b"-0", b"255", b"65536", b"2147483648", b"4294967296",
    b"9223372036854775808", b"18446744073709551615", b"1" + b"0" * 30, b"9" * 400, b"1e309",
    b"-1e309", b"NaN", b"Infinity", b"0x10", b"1.5", b"1_000", b"\xd9\xa1\xd9\xa2", b"",
)  # fmt: skip
_NUMBER = re.compile(rb"\d+")

Mutation = Callable[[random.Random, bytes, list[bytes]], bytes]


def poison(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.choice(POISON_BYTES) * chance.choice((1, 1, 1, 50)) + data[at:]


def misnumber(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """Another number in the place of one that stands there."""
    found = [match.span() for match in _NUMBER.finditer(data[:MOST_BYTES])]
    if not found:
        return data
    start, end = chance.choice(found)
    return data[:start] + chance.choice(NUMBERS) + data[end:]


def shuffle_lines(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    if chance.random() < 0.5:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines[a:a] = [lines[b]] * chance.randint(1, 30)
    return b"".join(lines)


def twist_bits(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    twisted = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        twisted[chance.randrange(len(twisted))] ^= 1 << chance.randrange(8)
    return bytes(twisted)


def shorten(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    return data[: chance.randrange(len(data))]


ANY_BYTES: tuple[Mutation, ...] = (poison, misnumber, shuffle_lines, twist_bits, shorten)


def mutated(
    chance: random.Random,
    data: bytes,
    others: Sequence[bytes] = (),
    most: int = 3,
    by: Sequence[Mutation] = (*ANY_BYTES, *MUTATIONS),
) -> bytes:
    """`data` after one to `most` mutations; pieces of `others` may stand in it."""
    pool = [other for other in (*others, data) if other]
    for _ in range(chance.randint(1, most)):
        if not data:
            break
        data = chance.choice(by)(chance, data, pool)[:MOST_BYTES]
    return data


def odd_word(chance: random.Random) -> str:
    """A poison, alone or in the middle of words, sometimes many times over."""
    word = chance.choice(POISONS)
    times = chance.choice((1, 1, 1, 1, 20, 2_000))
    return chance.choice(("", "light", "The keeper ")) + word * times + chance.choice(("", "house"))
