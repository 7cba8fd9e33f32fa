"""`crawl4r configure`: write a workspace's crawl4r.yaml."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
import yaml

from crawl4r.errors import UsageError, WorkspaceError
from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.interfaces.cli.output import say_prose, say_text
from crawl4r.safe_text import command_line, visible
from crawl4r.settings.load import FILE_NAME, Settings, load_settings, profile_names, profile_text
from crawl4r.storage.own_files import PRIVATE, replacing
from crawl4r.urls.canonical import as_seed, canonicalize, split
from crawl4r.urls.scope import Scope

_SEEDS = re.compile(r"^seeds:.*\n", re.MULTILINE)  # of a profile, on one line
_HEAD = """\
# crawl4r configuration. Every key is optional; `crawl4r configure --show` prints the defaults.
# Patterns are RE2, searched in the whole URL.
"""


@click.command("configure")
@click.argument("seeds", nargs=-1, metavar="[URL]...")
@workspace_option
@click.option("--profile", help="Start from a bundled configuration.")
@click.option("--contact", help="Tell sites how their owner can reach you: a URL or an address.")
@click.option("--show", is_flag=True, help="Print the settings in force and write nothing.")
@click.option("--profiles", is_flag=True, help="List the bundled configurations.")
@click.option("--force", is_flag=True, help="Replace an existing crawl4r.yaml.")
@json_option
def command(
    seeds: tuple[str, ...],
    workspace: Path,
    profile: str | None,
    contact: str | None,
    show: bool,
    profiles: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write crawl4r.yaml in a workspace, or show the settings.

    Without a URL it writes the seeds of the profile. It shows whether passwords and keys are set, but
    not their values.

    \b
    crawl4r configure https://example.org/ -w docs --contact you@example.org
    crawl4r configure -w gh --profile github --contact you@example.org
    crawl4r configure -w docs --show
    """
    if profiles:
        say_text("\n".join(profile_names()))
        return
    agent = {"contact": contact} if contact else {}
    settings = load_settings(
        workspace / FILE_NAME if show else None, profile=profile, overrides={"agent": agent}
    )
    if show:
        _show(settings, as_json)
        return
    for seed in seeds:
        _check(seed, settings)
    path = _write(workspace, _text(seeds, profile, contact), force=force)
    if as_json:
        print_json({"written": str(path)})
    else:
        words = ("-w", workspace) if seeds or settings.seeds else ("URL", "-w", workspace)
        say_prose(visible(f"wrote {path}; start with `{command_line('crawl4r', 'crawl', *words)}`"))


def _check(seed: str, settings: Settings) -> None:
    """Refuse a seed outside of the scope now, before the crawl does."""
    url = canonicalize(as_seed(seed), None, settings.scope.canonical())
    ruling = Scope(settings.scope_rules([split(url).netloc])).judge(url)
    if not ruling.admitted:
        raise UsageError(f"the seed {url} is out of scope: {ruling.rule}")


def _show(settings: Settings, as_json: bool) -> None:
    plain = settings.shown()
    if as_json:
        print_json(plain)
    else:
        say_text(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), end="")


def _text(seeds: tuple[str, ...], profile: str | None, contact: str | None) -> str:
    parts = [_HEAD]
    if seeds:
        parts.append(yaml.safe_dump({"seeds": list(seeds)}))
    body = profile_text(profile) if profile else _EXAMPLE
    if seeds:
        body = _SEEDS.sub("", body)
    if contact:
        line = yaml.safe_dump({"contact": contact}).strip()
        has_agent = "\nagent:\n" in body or body.startswith("agent:\n")
        body = (
            body.replace("agent:\n", f"agent:\n  {line}\n", 1)
            if has_agent
            else f"agent:\n  {line}\n{body}"
        )
    parts.append(body)
    return "".join(parts)


def _write(workspace: Path, text: str, *, force: bool) -> Path:
    path = workspace / FILE_NAME
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists; edit it, or replace it with --force")
    try:
        workspace.mkdir(parents=True, exist_ok=True)
        with replacing(path, PRIVATE) as file:  # the file may hold keys
            file.write(text.encode())
    except OSError as problem:
        raise WorkspaceError(f"cannot write {path}: {problem.strerror}") from problem
    return path


_EXAMPLE = """\
agent:
  require_contact: false
scope:
  include_subdomains: false
  deny: []
politeness:
  rate: 1        # requests a second to a host
  per_host: 1    # requests at once to a host
  concurrency: 16
limits: {}
"""
