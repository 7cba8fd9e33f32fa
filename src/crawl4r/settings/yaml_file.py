"""Read YAML files within limits, and refuse broken or hostile ones with file and line.

A message never repeats a value, which may be a secret.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, SequenceNode
from yaml.reader import ReaderError

from crawl4r.errors import SettingsError

_LARGEST = 1024**2  # bytes of a file
_DEEPEST = 50  # sections, lists and mappings within each other
_MOST_MERGED = 10_000  # keys that `<<` merges
_LONGEST_NUMBER = 400  # characters
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_QUOTED = re.compile(r" '(?!<)[^']{3,}'")  # a quoted value in PyYAML's message, no sign or term


def read_yaml_file(file: Path) -> Any:
    """The value of a UTF-8 file; None when the file is empty or missing.

    Raises SettingsError, also for an unreadable file or one that is no regular file.
    """
    text = _text_of(file)
    return None if text is None else parse_yaml(text, str(file))


def line_of(file: Path, key: str) -> int | None:
    """The line of a setting in a file, or of the nearest section above it."""
    node = yaml.compose(_text_of(file) or "", _Loader)
    line = None
    while key and node is not None:
        found = next((each for each in _parts_of(node) if _begins(key, each[0])), None)
        if found is None:
            break
        name, mark, node = found
        key, line = key[len(name) :].lstrip(".]"), mark + 1
    return line


def _parts_of(node: Node) -> list[tuple[str, int, Node]]:
    """Name, line and value of the items of a mapping or a list, whose items are named `[0` and `0`."""
    if isinstance(node, MappingNode):
        pairs = [(str(name.value), name.start_mark.line, value) for name, value in node.value]
        return sorted(pairs, key=lambda pair: -len(pair[0]))
    if isinstance(node, SequenceNode):
        places = [(number, item.start_mark.line, item) for number, item in enumerate(node.value)]
        return [(f"[{n}", line, item) for n, line, item in places] + [
            (str(n), line, item) for n, line, item in places
        ]
    return []


def _begins(key: str, name: str) -> bool:
    return (
        bool(name)
        and key.startswith(name)
        and key[len(name) : len(name) + 1] in {"", ".", "[", "]"}
    )


def _text_of(file: Path) -> str | None:
    try:
        # Non-blocking, because opening a pipe of that name would wait forever.
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        if isinstance(problem, FileNotFoundError) and not file.is_symlink():
            return None
        raise SettingsError(str(file), f"cannot be read: {problem.strerror}") from problem
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise SettingsError(str(file), "cannot be read: it is not a file")
        data = b"".join(iter(lambda: os.read(fd, _LARGEST + 1), b""))[: _LARGEST + 1]
    except OSError as problem:
        raise SettingsError(str(file), f"cannot be read: {problem.strerror}") from problem
    finally:
        os.close(fd)
    if len(data) > _LARGEST:
        raise SettingsError(str(file), f"is larger than {_LARGEST // 1024} KiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise SettingsError(str(file), f"cannot be read: line {line} is not UTF-8") from None


def parse_yaml(text: str, source: str) -> Any:
    """Parse a text; None when it is empty. A SettingsError names the source and the line."""
    try:
        return yaml.load(text, _Loader)
    except ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        sign = f"U+{problem.character:04X}"
        raise SettingsError(source, f"line {line} holds {sign}, which YAML forbids") from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        words = problem.problem or problem.context or "cannot be understood"
        raise SettingsError(source, f"is not YAML: {where}{_QUOTED.sub('', words)}") from None


class _Loader(yaml.SafeLoader):
    """Limits constructs that expand few bytes to large values, and names the line of an error."""

    _depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        if self._depth > _DEEPEST:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise ConstructorError(
                None, None, f"nested more than {_DEEPEST} deep", event.start_mark
            )
        node: Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def flatten_mapping(self, node: MappingNode) -> None:
        written = len(node.value)
        super().flatten_mapping(node)
        if len(node.value) > written + _MOST_MERGED:
            raise _refusal(node, f"merges more than {_MOST_MERGED} keys")

    def construct_object(self, node: Node, deep: bool = False) -> Hashable:
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            raise _refusal(node, f"a number of more than {_LONGEST_NUMBER} characters")
        try:
            made: Hashable = super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception as problem:  # PyYAML does not check tagged dates and numbers
            raise _refusal(node, f"not a value of type {node.tag.rpartition(':')[2]}") from problem
        return made


def _refusal(node: Node, words: str) -> ConstructorError:
    return ConstructorError(None, None, words, node.start_mark)
