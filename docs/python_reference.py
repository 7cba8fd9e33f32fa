"""docs/reference/python.md: every public name of the package, from its signature and docstring."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.workspace import options

EXAMPLES = Path(__file__).parent / "examples"
_INTRODUCTION = """# Python

Everything here is imported from `crawl4r` and has type hints (`py.typed`). The command line stands on
it. A function or method whose name ends in `_async` is awaited; its namesake without it is for code
without an event loop. In a running event loop, those that write to a workspace refuse and name the one
to await.

`crawl4r.open` opens or makes a workspace, for `with` and for `async with`. Nothing is indexed before
`index` is called, unless `index=True` is given.
"""
# Parts of a class that only other parts of the package call.
_INTERNAL = {
    "CrawlRun": {"is_ahead", "leave", "reopen", "seconds_left", "visits", "watch_rules"},
    "Workspace": {"budgets_for", "glance", "counts", "reopen", "search_handle", "repeated_blocks"},
}
_WIDEST = 100  # characters of a signature in one line
_OPTIONS = ("RequestOptions", "SiteOptions", "CrawlOptions", "SearchOptions", "ExportOptions")


def page() -> str:
    """The whole reference page."""
    parts = [_INTRODUCTION, *_examples()]
    names = [name for name in crawl4r.__all__ if name != "__version__"]
    functions = [name for name in names if inspect.isfunction(getattr(crawl4r, name))]
    classes = [name for name in names if name not in functions]
    parts.append("## Functions\n")
    for name in functions:
        parts += _function(f"crawl4r.{name}", getattr(crawl4r, name))
    parts.append("## Options\n")
    for name in _OPTIONS:
        parts += _option_table(name)
    parts.append("## Classes\n")
    for name in classes:
        parts += _class(name, getattr(crawl4r, name))
    return "\n".join(parts)


def _examples() -> list[str]:
    parts = ["## Examples\n"]
    for file in sorted(EXAMPLES.glob("*.py")):
        parts += [f"`docs/examples/{file.name}`:\n", "```python", file.read_text().strip(), "```\n"]
    return parts


def _function(title: str, function: Any) -> list[str]:
    begins = "await " if inspect.iscoroutinefunction(function) else ""
    signature = inspect.signature(function)
    words = [_parameter(each) for each in signature.parameters.values() if each.name != "self"]
    words = _with_star(words, list(signature.parameters.values()))
    shown = f"{begins}{title}({', '.join(words)}) -> {signature.return_annotation}"
    if len(shown) > _WIDEST:
        lines = "".join(f"    {word},\n" for word in words)
        shown = f"{begins}{title}(\n{lines}) -> {signature.return_annotation}"
    return ["```python", shown, "```\n", f"{inspect.getdoc(function) or ''}\n"]


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = parameter.default
    if default is parameter.empty:
        return f"{stars}{parameter.name}: {parameter.annotation}"
    shown = "..." if callable(default) else repr(default)
    return f"{parameter.name}: {parameter.annotation} = {shown}"


def _with_star(words: list[str], parameters: list[inspect.Parameter]) -> list[str]:
    """With the sign behind which arguments are named, where nothing else says so."""
    named = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    if not named or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return words
    shown = [each for each in parameters if each.name != "self"]
    at = shown.index(named[0])
    return [*words[:at], "*", *words[at:]]


def _option_table(name: str) -> list[str]:
    """The fields of a TypedDict, with the comments behind them."""
    kind = getattr(options, name)
    source = inspect.getsource(kind).splitlines()
    rows = []
    for line in source[1:]:
        field, _, rest = line.strip().partition(": ")
        if not rest or not field.isidentifier():
            continue
        hint, _, comment = rest.partition("  # ")
        rows.append(f"| `{field}` | `{hint.replace('|', '&#124;')}` | {comment} |")
    more = sorted(set(kind.__annotations__) - {row.split("`")[1] for row in rows})
    also = " Also all of RequestOptions." if more else ""
    title = f"### {name}\n\n{inspect.getdoc(kind)}{also}\n"
    return [title, "| option | type | meaning |", "|---|---|---|", *rows, ""]


def _class(name: str, kind: Any) -> list[str]:
    parts = [f"### {name}\n", f"{inspect.getdoc(kind) or ''}\n"]
    fields = getattr(kind, "__struct_fields__", ()) or getattr(kind, "_fields", ())
    if fields:
        parts.append(f"Fields: {', '.join(f'`{field}`' for field in fields)}.\n")
    members = _public_members(name, kind)
    for member, value in members.items():
        if isinstance(value, property) and member not in fields:
            doc = inspect.getdoc(value) or ""
            parts.append(f"- `{member}`{': ' + doc if doc else ''}")
    parts.append("")
    for member, value in members.items():
        if inspect.isfunction(value):
            parts += _function(f"{name}.{member}", value)
    return parts


def _public_members(name: str, kind: Any) -> dict[str, Any]:
    """Those of our own, in the order of the alphabet."""
    hidden = _INTERNAL.get(name, set())
    ours = {
        member
        for each in kind.__mro__
        if each.__module__.startswith("crawl4r")
        for member in vars(each)
    }
    return {
        member: value
        for member, value in inspect.getmembers_static(kind)
        if member in ours - hidden and not member.startswith("_")
    }
