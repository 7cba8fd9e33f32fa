"""Other people's readers, as these tests use them."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # fastwarc warns of its own older names when it is loaded
    from fastwarc.warc import ArchiveIterator, WarcRecordType

__all__ = ["ArchiveIterator", "WarcRecordType"]
