"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from crawl4r.processes import entrypoints

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "crawl4r"
MACHINE_PATHS = re.compile(rb"/(?:work|root)/")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
UNNAMED = re.compile(r"\b(?:whoever|nobody|somebody|anybody|nought)\b", re.IGNORECASE)
WORDS_AS_DATA = {"src/crawl4r/content/verdict/signature_list.py"}
PATH_IN_TEXT = re.compile(r"`((?:src|tests|docs|bench)/[\w./-]+)`")
PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,._-]+\])?==\S+", re.MULTILINE)

MOST_LINES, MOST_OF_A_FUNCTION, USUAL_FUNCTION, MOST_PARAMETERS = 350, 45, 25, 8
LONG_MODULES = {  # each with its reason
    "content/verdict/signature_list.py",  # a list of data
}
LONG_FUNCTIONS = {
    "content/extract/blocks.py _walk",  # a loop over each node of a page: a call a node costs as much
    "workspace/run.py __init__",  # is being cut
}


def imports_of(file: Path) -> set[tuple[str, str]]:
    """(module, name) of everything a file imports, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{file}: write the whole name of {node.module}"
            found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
    return found


def test_only_the_http_door_asks_for_what_comes_with_its_framework() -> None:
    offences = [
        str(file.relative_to(PACKAGE))
        for file in sorted(PACKAGE.rglob("*.py"))
        for module, _ in imports_of(file)
        if module.partition(".")[0] in {"fastapi", "pydantic", "starlette"}
        and PACKAGE / "interfaces" / "http" not in file.parents
    ]
    assert offences == []


def sources() -> Iterator[tuple[str, Path]]:
    """The path of each module inside the package, and its file."""
    for file in sorted(PACKAGE.rglob("*.py")):
        yield file.relative_to(PACKAGE).as_posix(), file


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for path, file in sources():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, Function):
                yield f"{path} {node.name}", node


def lines_of(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_longer_than_a_sitting() -> None:
    lines = {path: len(file.read_text().splitlines()) for path, file in sources()}
    assert len(lines) > 100
    too_long = {path: count for path, count in lines.items() if count > MOST_LINES}
    assert too_long.keys() - LONG_MODULES == set()


def test_functions_fit_a_screen() -> None:
    lengths = sorted((lines_of(node), name) for name, node in functions())
    assert len(lengths) > 1_000
    assert lengths[int(len(lengths) * 0.95)][0] <= USUAL_FUNCTION
    too_long = {name for length, name in lengths if length > MOST_OF_A_FUNCTION}
    assert too_long - LONG_FUNCTIONS == set()


def test_constructors_take_few_values_outside_of_wiring() -> None:
    too_many = {
        name.removesuffix(" __init__")
        for name, node in functions()
        if name.endswith(" __init__")
        and len(node.args.args) + len(node.args.kwonlyargs) - 1 > MOST_PARAMETERS
    }
    assert {path for path in too_many if not path.startswith("wiring/")} == set()


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path, file in sources():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_modules_do_not_import_each_other() -> None:
    """Counted are imports for types and inside functions, too: a reader follows those as well."""
    modules = {f"crawl4r/{path}".removesuffix(".py").replace("/", "."): f for path, f in sources()}
    modules = {name.removesuffix(".__init__"): file for name, file in modules.items()}
    needs: dict[str, set[str]] = {}
    for name, file in modules.items():
        named = {f"{module}.{each}" for module, each in imports_of(file)}
        parents = {module for module, each in imports_of(file) if f"{module}.{each}" not in modules}
        needs[name] = ((named | parents) & modules.keys()) - {name}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as problem:
        pytest.fail(" -> ".join(problem.args[1]))


def test_what_the_sandbox_is_to_run_is_there() -> None:
    names = [name for key, name in vars(entrypoints).items() if key.isupper()]
    assert len(names) >= 4
    for name in names:
        module, _, function = name.partition(":")
        assert callable(getattr(import_module(module), function)), name


def test_every_folder_begins_with_the_question_it_answers() -> None:
    folders = [file for file in PACKAGE.rglob("__init__.py") if file.parent != PACKAGE]
    assert len(folders) > 5
    for file in folders:
        docstring = ast.get_docstring(ast.parse(file.read_text())) or ""
        first = docstring.splitlines()[0] if docstring else ""
        assert re.fullmatch(rf"{file.parent.name}: .+\?", first), f"{file}: {first!r}"


def files_linked_from(document: Path) -> list[Path]:
    targets = [target for target in LINK.findall(document.read_text()) if "://" not in target]
    names = [target.partition("#")[0] for target in targets if not target.startswith("#")]
    return [document.parent / name for name in names]


def test_links_to_files_lead_somewhere() -> None:
    documents = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    linked = {document: files_linked_from(document) for document in documents}
    assert [
        f"{document.relative_to(REPOSITORY)}: {file.relative_to(document.parent)}"
        for document, files in linked.items()
        for file in files
        if not file.exists()
    ] == []
    for name in ("README.md", "ARCHITECTURE.md", "docs/how-to/README.md"):
        assert linked[REPOSITORY / name], f"{name} links to no file"


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_folders_and_files_that_a_document_names_are_there(document: str) -> None:
    named = PATH_IN_TEXT.findall((REPOSITORY / document).read_text())
    assert [path for path in named if not (REPOSITORY / path).exists()] == []


def test_the_lock_pins_everything_by_hash_and_names_no_place() -> None:
    text = (REPOSITORY / "requirements.lock").read_text()
    assert "://" not in text
    lines = [line.strip() for line in text.splitlines()]
    options = [line for line in lines if line.startswith("-") and not line.startswith("--hash=")]
    assert options == []
    starts = [match.start() for match in PIN.finditer(text)]
    pins = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    assert len(pins) > 20
    assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []
    unpinned = [line for line in text.splitlines() if line[:1].isalnum() and not PIN.match(line)]
    assert unpinned == []


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [REPOSITORY / name for name in names if (REPOSITORY / name).is_file()]


def test_no_file_names_a_path_of_one_machine() -> None:
    files = tracked_files()
    if not files:
        pytest.skip("not a git checkout")
    assert [
        f"{file.relative_to(REPOSITORY)}: {line.decode(errors='replace').strip()[:100]}"
        for file in files
        for line in file.read_bytes().splitlines()
        if MACHINE_PATHS.search(line)
    ] == []


# They still hold such words and are being rewritten; the generated reference quotes the settings.
WORDS_AS_DATA = frozenset(
    [
        "src/crawl4r/content/verdict/signature_list.py",  # the words of pages, which are data
        "src/crawl4r/documents/documenter.py",
        "src/crawl4r/formats/gzip.py",
        "src/crawl4r/search/catalogue.py",
        "src/crawl4r/settings/sections.py",
        "src/crawl4r/wiring/crawl.py",
        "src/crawl4r/workspace/page.py",
        "src/crawl4r/workspace/run.py",
        "src/crawl4r/workspace/separated_run.py",
        "src/crawl4r/workspace/store_recovery.py",
        "src/crawl4r/workspace/watch.py",
        "src/crawl4r/workspace/workspace.py",
        "docs/reference/settings.md",
    ]
)


def test_sentences_name_who_acts() -> None:
    files = [
        file
        for folder in ("src", "docs")
        for file in sorted((REPOSITORY / folder).rglob("*"))
        if file.suffix in {".md", ".py", ".yaml"}
    ]
    assert len(files) > 100
    assert [
        f"{name}:{number}: {line.strip()[:100]}"
        for file in files
        if (name := file.relative_to(REPOSITORY).as_posix()) not in WORDS_AS_DATA
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if UNNAMED.search(line)
    ] == []
