"""Convert written values into sections of the configuration, or refuse them.

An error names the dotted key and the expected value. It never repeats the given value, which may be a
secret.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from msgspec import Meta, Struct, ValidationError, convert, to_builtins
from msgspec.structs import fields

from crawl4r.errors import SettingsError
from crawl4r.formats.units import bytes_of, seconds_of
from crawl4r.urls.credentials import without_credentials

AS_WRITTEN = object()  # marks a field with written forms that `__post_init__` reads
SECRET = object()  # marks a text that no output shows
ADDRESS = object()  # marks a text that may hold a password, which no output shows
SIZE = object()  # marks a number of bytes; also accepts 10MB
DURATION = object()  # marks a number of seconds; also accepts 10m
IS_SET = "(set)"  # in place of a secret
_SWITCHES = {"yes": True, "on": True, "y": True, "t": True}
_SWITCHES |= {"no": False, "off": False, "n": False, "f": False}
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


class Section(Struct, frozen=True):
    """A part of the configuration.

    The reader checks types and ranges. `__post_init__` checks everything else, and raises a
    SettingsError whose key begins in this section.
    """

    def __repr__(self) -> str:
        """A representation without secrets, for tracebacks and logs."""
        return f"{type(self).__name__}({self.shown()})"

    def shown(self) -> dict[str, Any]:
        """The section as plain values; of secrets only whether they are set."""
        return {field.name: _shown(field.type, getattr(self, field.name)) for field in fields(self)}


S = TypeVar("S", bound=Section)


def checked(kind: type[S], written: object, key: str = "") -> S:
    """Make a section from a mapping; `key` is its dotted name. Reports the first error only."""
    if isinstance(written, kind):
        return written
    if not isinstance(written, Mapping):
        raise SettingsError(key, "must be a section, with its keys below it")
    values = {}
    for field in fields(kind):
        if field.name in written:
            values[field.name] = _value(field.type, written[field.name], _below(key, field.name))
        elif field.required:
            raise SettingsError(_below(key, field.name), "is missing and has no default")
    for name in written:
        if name not in kind.__struct_fields__:
            raise SettingsError(_below(key, name), f"is not a setting; {_advice(kind, name, key)}")
    try:
        return kind(**values)
    except SettingsError as problem:
        raise SettingsError(_below(key, problem.key), problem.problem) from None


def _advice(kind: type[Section], name: object, key: str) -> str:
    """Advice for an unknown key: a similar key of this section or of one below it."""
    for field in fields(kind):
        inner = field.type
        is_section = isinstance(inner, type) and issubclass(inner, Section)
        if is_section and name in inner.__struct_fields__:
            return f"did you mean {_below(key, field.name)}.{name}?"
    if near := get_close_matches(str(name), kind.__struct_fields__, n=1):
        return f"did you mean {_below(key, near[0])}?"
    return "`crawl4r configure --show` lists them all"


def _value(kind: Any, written: Any, key: str) -> Any:
    if _is_marked(kind, AS_WRITTEN):
        return written
    if get_origin(kind) in {Union, UnionType}:  # one type or None
        (kind,) = set(get_args(kind)) - {NoneType}
        return None if written is None else _value(kind, written, key)
    if isinstance(kind, type) and issubclass(kind, Section):
        return checked(kind, written, key)
    if get_origin(kind) is list:
        return _list(kind, written, key)
    if get_origin(kind) is dict:
        return _mapping(kind, written, key)
    return _scalar(kind, written, key)


def _list(kind: Any, written: Any, key: str) -> list[Any]:
    (inner,) = get_args(kind)
    if not isinstance(written, Iterable) or isinstance(written, str | bytes | Mapping):
        raise SettingsError(key, "must be a list, like [a, b]")
    return [_value(inner, item, _below(key, number)) for number, item in enumerate(written)]


def _mapping(kind: Any, written: Any, key: str) -> dict[str, Any]:
    _, inner = get_args(kind)
    if not isinstance(written, Mapping):
        raise SettingsError(key, "must be a mapping, like {name: value}")
    for name in written:
        if not isinstance(name, str) or not _is_text(name):
            raise SettingsError(_below(key, name), "must be text: put the name in quotes")
    return {name: _value(inner, item, _below(key, name)) for name, item in written.items()}


def _scalar(kind: Any, written: Any, key: str) -> Any:
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if written == IS_SET and _is_marked(kind, SECRET):
        raise SettingsError(key, f"{IS_SET} stands where a secret is not shown: write the secret")
    if isinstance(written, str) and _is_marked(kind, SIZE):
        written = _or_else(bytes_of(written), written)
    if isinstance(written, str) and _is_marked(kind, DURATION):
        written = _or_else(seconds_of(written), written)
    if isinstance(written, str) and plain in {bool, int, float}:
        written = _without_quotes(plain, written)
    if isinstance(written, str) and not _is_text(written):
        raise SettingsError(key, "is not Unicode: save or type it as UTF-8")
    if isinstance(written, float) and plain in {int, float} and not math.isfinite(written):
        raise SettingsError(key, "must be a finite number")
    with suppress(ValidationError):
        return convert(written, kind, strict=False)  # 5.0 is a whole number, 0 and 1 are switches
    is_bare = plain is str and isinstance(written, int | float)
    raise SettingsError(key, f"must be {_wanted(kind)}{': put it in quotes' if is_bare else ''}")


def _or_else(number: float | None, text: str) -> float | str:
    return text if number is None else number


def _is_marked(kind: Any, mark: object) -> bool:
    return mark in getattr(kind, "__metadata__", ())


def _shown(kind: Any, value: Any) -> Any:
    if isinstance(value, Section):
        return value.shown()
    if isinstance(value, list):
        return [_shown(get_args(kind)[0], item) for item in value]
    if isinstance(value, dict):
        return {name: _shown(get_args(kind)[1], item) for name, item in value.items()}
    if value and _is_marked(kind, SECRET):
        return IS_SET
    return without_credentials(value) if _is_marked(kind, ADDRESS) else to_builtins(value)


def _is_text(written: str) -> bool:
    """False for text with lone surrogates, which no encoding supports."""
    try:
        written.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_quotes(kind: type, text: str) -> bool | float | str:
    """The YAML value of the text without its quotes; the text itself if that is no value."""
    if kind is bool:
        return _SWITCHES.get(text.lower(), text)
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _wanted(kind: Any) -> str:
    """The expected values in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(member.value for member in kind)}"
    plain, *marks = get_args(kind) or [kind]
    words = "a number of bytes" if SIZE in marks else _WORDS[plain]
    words = "a number of seconds" if DURATION in marks else words
    example = ", or like 10MB or 1GiB" if SIZE in marks else ""
    example = ", or like 90s, 10m or 1h30m" if DURATION in marks else example
    return words + "".join(_ruled(mark) for mark in marks if isinstance(mark, Meta)) + example


def _ruled(rule: Meta) -> str:
    if rule.le is not None:
        return f" from {rule.ge} to {rule.le}"
    return f" above {rule.gt}" if rule.gt is not None else f" of at least {rule.ge}"


def _below(key: str, name: object) -> str:
    return f"{key}.{name}" if key and name != "" else f"{key}{name}"
