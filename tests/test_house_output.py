"""Rules of the house for what is printed: one way out, no markup in strings, quoted commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from crawl4r.interfaces.cli.main import group

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "crawl4r"
CLI = "interfaces/cli"
OUTPUT, SCREEN, BARS = f"{CLI}/output.py", f"{CLI}/screen.py", f"{CLI}/view/progress_bar.py"
LOG_LINES = f"{CLI}/log_lines.py"
JSON_LOG = f"{CLI}/json_log.py"  # what is printed becomes JSON there
Offences = Callable[[str, ast.Module], Iterator[str]]

PRINTING = {"echo", "secho", "echo_via_pager", "confirm", "prompt", "progressbar", "StreamHandler"}
HARMLESS = {"isatty", "fileno"}  # questions about a stream
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
PARSES_MARKUP = {  # of rich: makes a console of its own, or takes a string for markup
    "Console", "Live", "Panel", "Progress", "Prompt", "Confirm", "Rule", "Status", "from_markup",
    "render_markup", "RichHandler", "Traceback",
}  # fmt: skip
TAG = re.compile(r"\[/?(?:bold|dim|italic|red|green|yellow|blue|magenta|cyan|link)\b[^\]]*\]|\[/\]")
NAMES = "|".join(group.list_commands(click.Context(group)))
COMMAND = re.compile(rf"\bcrawl4r (?:{NAMES}) (?:[^`]* )?['\"]?$")
OPTION = re.compile(r"(?:^|[\s`])--?[a-z][a-z-]* ['\"]?$")


def sources() -> list[tuple[str, ast.Module]]:
    files = sorted(PACKAGE.rglob("*.py"))
    return [(str(file.relative_to(PACKAGE)), ast.parse(file.read_text())) for file in files]


def name_of(node: ast.AST) -> str:
    """`b` of `a.b`, `a` of `a`."""
    return getattr(node, "attr", "") or getattr(node, "id", "")


def other_ways_out(file: str, tree: ast.Module) -> Iterator[str]:
    """Where text could leave past `output` and `screen`."""
    if file in {OUTPUT, SCREEN, JSON_LOG, LOG_LINES}:
        return
    asked = {id(node.value) for node in ast.walk(tree) if name_of(node) in HARMLESS}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and name_of(node.value) == "sys":
            if node.attr in STREAMS and id(node) not in asked:
                yield f"{file}:{node.lineno} sys.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in {"sys", "click"}:
            names = {alias.name for alias in node.names} & (STREAMS | PRINTING)
            yield from (f"{file}:{node.lineno} import {name}" for name in names)
        elif isinstance(node, ast.Call):
            owner = name_of(getattr(node.func, "value", node))
            called = name_of(node.func)
            if (owner in {"click", "logging"} and called in PRINTING) or (
                called == "print" and isinstance(node.func, ast.Name)
            ):
                yield f"{file}:{node.lineno} {called}"
            is_json = owner == "json" and called.startswith("dump")
            if (
                is_json and file.startswith(CLI) and not file.endswith("saved_options.py")
            ):  # for state.db
                yield f"{file}:{node.lineno} json.{called}"


def markup(file: str, tree: ast.Module) -> Iterator[str]:
    """Where rich could take a string for markup."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = name_of(node.func)
            told = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
            is_unsafe = called == "TextColumn" and told.get("markup") is not False
            if told.get("markup") is True or is_unsafe:
                yield f"{file}:{node.lineno} {called} with markup"
            is_ours = file == SCREEN or (file == BARS and called == "Progress")
            if called in PARSES_MARKUP and not is_ours and imports_rich(tree):
                yield f"{file}:{node.lineno} {called}"
        is_word = isinstance(node, ast.Constant) and file.startswith(CLI) and id(node) not in prose
        if is_word and TAG.search(str(node.value)):
            yield f"{file}:{node.lineno} {node.value!r}"


def imports_rich(tree: ast.Module) -> bool:
    modules = [getattr(node, "module", "") or "" for node in ast.walk(tree)]
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    return any(name.partition(".")[0] == "rich" for name in [*modules, *names])


def unquoted_commands(file: str, tree: ast.Module) -> Iterator[str]:
    """A value in a string that comes after a command or an option: `command_line` would quote it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        before = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                before += str(part.value)
            elif COMMAND.search(before) or OPTION.search(before):
                yield f"{file}:{node.lineno} {before!r}"
                break
            else:
                before += "{}"


@pytest.mark.parametrize("rule", [other_ways_out, markup, unquoted_commands])
def test_the_package_keeps_the_rule(rule: Offences) -> None:
    assert [offence for file, tree in sources() for offence in rule(file, tree)] == []


OFFENDERS: dict[Offences, list[str]] = {
    other_ways_out: [
        "click.echo(title)",
        "click.secho(title, fg='red')",
        "from click import echo",
        "print(title)",
        "sys.stdout.write(title)",
        "out = sys.stderr",
        "from sys import stdout",
        "json.dumps(title)",
        "logging.StreamHandler()",
    ],
    markup: [
        "import rich.console\nrich.console.Console()",
        "from rich.text import Text\nText.from_markup(title)",
        "from rich.live import Live\nLive()",
        "from rich.panel import Panel\nPanel('x', title=title)",
        "screen.print(f'[bold]{title}[/bold]')",
        "screen.print(title, markup=True)",
        "TextColumn('{task.description}')",
    ],
    unquoted_commands: [
        "f'see `crawl4r why {url}`'",
        "f'crawl4r crawl {url}'",
        "f'crawl4r crawl URL --workspace {path}'",
        "f\" --deny '{pattern}'\"",
        "f'{name} get URL -w {path}'",
        "f'repeat with --seed {seed}'",
    ],
}


@pytest.mark.parametrize(
    ("rule", "source"), [(rule, source) for rule, all_ in OFFENDERS.items() for source in all_]
)
def test_the_rule_finds_what_it_forbids(rule: Offences, source: str) -> None:
    assert list(rule(f"{CLI}/some.py", ast.parse(source)))


def test_the_rules_leave_alone_what_is_fine() -> None:
    fine = (
        "sys.stdout.isatty()\nos.dup2(1, sys.stdout.fileno())\nf'--out: {path} is a folder'\nsay(x)"
    )
    for rule in OFFENDERS:
        assert list(rule(f"{CLI}/some.py", ast.parse(fine))) == []
