"""Writes docs/reference from the code: `make docs`. A test compares it with what is committed."""

from __future__ import annotations

import ast
import inspect
import itertools
from pathlib import Path

import click
from msgspec import NODEFAULT
from msgspec.structs import fields

from crawl4r.interfaces.cli.main import __doc__ as main_doc
from crawl4r.interfaces.cli.main import group
from crawl4r.interfaces.json.names import FORMER, NAMES, PAGES_CSV
from crawl4r.settings import load as settings
from crawl4r.settings.validate import Section
from docs import python_reference

FOLDER = Path(__file__).parent / "reference"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """The reference pages by file name."""
    return {
        "cli.md": _cli(),
        "names.md": _names(),
        "python.md": python_reference.page(),
        "settings.md": _settings(),
    }


def _names() -> str:
    """The names that answers have in common."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in NAMES.items()]
    columns = [f"| `{column}` | `{name}` |" for column, name in PAGES_CSV.items()]
    former = [f"| `{before}` | `{name}` |" for before, name in FORMER.items()]
    return "\n".join(
        [
            "# Names\n",
            "The same thing has the same name in the JSON of every command, in every export and log.",
            "A moment is ISO 8601 in UTC, to the millisecond: names that end in `_at`, and `at`,",
            "`since`, `until`, `lastmod` and `last_beat`.\n",
            "| name | meaning |",
            "|---|---|",
            *rows,
            "\n`logs/pages.csv` has columns of its own:\n",
            "| column | name elsewhere |",
            "|---|---|",
            *columns,
            "\nNames of earlier versions:\n",
            "| before | now |",
            "|---|---|",
            *former,
            "",
        ]
    )


def _cli() -> str:
    parts = ["# Commands\n", (main_doc or "").split("\n\n", 1)[1].strip() + "\n"]
    context = click.Context(group, info_name="crawl4r", max_content_width=100, terminal_width=100)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            parts += _command(command, context, name)
    return "\n".join(parts)


def _command(command: click.Command, parent: click.Context, name: str) -> list[str]:
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=100, terminal_width=100
    )
    title = f"## {context.command_path}\n"
    parts = [title, "```", command.get_help(context), "```\n"]
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                parts += _command(found, context, inner)
    return parts


def _settings() -> str:
    parts = [
        "# Settings\n",
        "Keys of `crawl4r.yaml`. A variable `CRAWL4R_SECTION__KEY` and a command-line option go before "
        "the file.\n",
    ]
    parts += _section(settings.Settings, "", "at the top")
    return "\n".join(parts)


def _section(model: type[Section], prefix: str, title: str) -> list[str]:
    doc = inspect.getdoc(model) or ""
    parts = [
        f"## {title}\n",
        f"{doc}\n" if doc else "",
        "| key | default | meaning |",
        "|---|---|---|",
    ]
    comments = _comments(model)
    inner: list[str] = []
    for field in fields(model):
        name = f"{prefix}{field.name}"
        if isinstance(field.type, type) and issubclass(field.type, Section):
            inner += _section(field.type, f"{name}.", name)
            continue
        is_made = field.default_factory is not NODEFAULT
        default = field.default_factory() if is_made else field.default
        shown = "required" if field.required else f"`{_plain(default)}`"
        parts.append(f"| `{name}` | {shown} | {comments.get(field.name, '')} |")
    return [*parts, "", *inner]


def _plain(value: object) -> str:
    return str(getattr(value, "value", value)) if value != "" else '""'


def _comments(model: type[Section]) -> dict[str, str]:
    """The comment behind each field, or above it: there the settings say what they mean."""
    source = inspect.getsource(model)
    lines = source.splitlines()
    found = {}
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            _, _, comment = lines[(node.end_lineno or 1) - 1].partition("  # ")
            comment = comment or _above(lines[: node.lineno - 1])
            found[node.target.id] = comment.replace("|", "\\|")
    return found


def _above(lines: list[str]) -> str:
    stripped = [line.strip() for line in reversed(lines)]
    comments = list(itertools.takewhile(lambda line: line.startswith("# "), stripped))
    return " ".join(line.removeprefix("# ") for line in reversed(comments))


if __name__ == "__main__":
    main()
