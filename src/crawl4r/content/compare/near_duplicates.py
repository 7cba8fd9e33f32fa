"""Near-duplicates: texts that share most of their word sequences, found by MinHash.

A text is the set of its shingles (runs of four words, in lower case, punctuation aside). Each
shingle is hashed; the hashes fall into 256 bins and the smallest of each bin leaves one byte
(one-permutation MinHash; an empty bin borrows from another, "optimal densification", Shrivastava
2017). Two signatures agree in a byte with the probability of the Jaccard similarity of the sets.

How wrong it is: the standard error of `similarity` is sqrt(s * (1 - s) / 256), so .019 at s = .9
and .031 at s = .5. Texts of similarity s share one of the 16 band keys with probability
1 - (1 - s ** 11) ** 16: 99.99 % at .95, 99.8 % at .9, 75 % at .8 (a band needs 11 agreeing bytes),
6 % at .6, 0.8 % at .5. So the bands only propose; `similarity` decides.

`minhash` makes signatures with numpy; this module compares them without any library. Results depend on
the text alone and are equal on every machine and in every process.
"""

from __future__ import annotations

from hashlib import blake2b
from operator import eq

BINS = 256
_BANDS, _ROWS = 16, 11
_CHANCE = 1 / 256  # the probability that different values agree in their byte


def similarity(a: bytes, b: bytes) -> float:
    """Estimated share of word sequences that two texts have in common, 0 to 1.

    Texts too short for a signature have similarity 0, even to each other.
    """
    if not a or not b:
        return 0.0
    equal: float = sum(map(eq, a, b)) / BINS
    return max(0.0, (equal - _CHANCE) / (1 - _CHANCE))


def bands(signature: bytes) -> list[int]:
    """The band keys of a text; near-duplicates share at least one. Empty without a signature."""
    if not signature:
        return []
    keys = []
    for band in range(_BANDS):
        rows = signature[band * _ROWS : (band + 1) * _ROWS]
        digest = blake2b(rows, digest_size=8, salt=bytes([band])).digest()
        keys.append(int.from_bytes(digest, "big") >> 1)  # 63 bits: SQLite's integers have a sign
    return keys
