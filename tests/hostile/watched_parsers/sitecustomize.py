"""Loaded by every Python process of a command under test: tells of parsers that run in the open.

A process that still can, writes its words into the file that PARSED_IN_THE_OPEN names, whenever it
parses a page. One that is locked down cannot.
"""

import os
import pyexpat
import sys
from collections.abc import Callable
from typing import Any

import pypdfium2
import turbohtml


def _watched(parse: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*arguments: Any, **named: Any) -> Any:
        try:
            file = os.open(os.environ["PARSED_IN_THE_OPEN"], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        except OSError:
            return parse(*arguments, **named)
        os.write(file, f"{parse} in {sys.orig_argv}\n".encode())
        os.close(file)
        return parse(*arguments, **named)

    return watched


turbohtml.parse = _watched(turbohtml.parse)
pyexpat.ParserCreate = _watched(pyexpat.ParserCreate)
pypdfium2.PdfDocument = _watched(pypdfium2.PdfDocument)
