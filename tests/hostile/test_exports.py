"""Exports of documents with hostile addresses, titles and links: every document once, nothing live."""

import json
import random
import resource
import sqlite3
import subprocess
from pathlib import Path

import pytest
import yaml

import crawl4r
from crawl4r.formats.csv_line import cells_of
from crawl4r.formats.zstd import compress
from tests.interfaces.cli.running import EXECUTABLE, run

WORDS = "Foxes sleep in the sun while the river runs past the old mill. " * 4
LONGEST = 64 * 1024  # bytes of a file where there is no more room; SQLite needs 32 KiB
ADDRESSES = [
    "http://e.org/a",
    "https://e.org/a",
    "https://e.org/A",
    "https://e.org/a.md/b",
    "https://e.org/a/",
    "https://e.org/index",
    "https://e.org/",
    "http://[::1]/a",
    "http://[1::]/a",
    "https://e.org/" + "s/" * 1000,
    "https://e.org/" + "x" * 1500,
    "https://e.org/con/nul.txt",
    "https://e.org/a.md.part/c",
    "https://e.org/%2e%2e%2f%2e%2e%2fescaped",
    "https://e.org/nul%00byte?q=%0a",
]
TITLE = "a: \"b\" #\n---\n- {c}\u2028=cmd|'/c calc'!A1\x1b]0;x\x07"
LINKS = """
[inline](javascript:alert(1)) [spaced]( \n JaVaScRiPt:alert(2)) [entity](java&#115;cript:alert(3))
[escaped](javascript\\:alert(4)) ![image](data:text/html;base64,AAAA) [angle](<vbscript:x>)
<javascript:alert(5)> [file](file:///etc/passwd)

[reference]: javascript:alert(6)

[good](https://e.org/x) [mail](mailto:a@e.org) [here](#part) [near](../up)
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    chance = random.Random(1)
    lines = []
    for url in ADDRESSES:
        noise = chance.randbytes(8_000).hex()  # that no compression makes small
        lines.append(json.dumps({"url": url, "title": TITLE, "text": f"{WORDS}{noise}{LINKS}"}))
    (folder / "records.jsonl").write_text("\n".join(lines))
    assert run("import", folder / "records.jsonl", "-w", folder / "ws").code == 0
    return folder / "ws"


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def export(form: str, workspace: Path, out: Path) -> None:
    assert run("export", form, "-w", workspace, "-o", out, "--with-near").code == 0


def front_of(text: str) -> dict[str, object]:
    before, head, _ = text.split("---\n", 2)
    assert before == ""
    found: dict[str, object] = yaml.safe_load(head)
    return found


def test_every_document_has_a_file_of_its_own_and_always_the_same(
    workspace: Path, tmp_path: Path
) -> None:
    export("markdown", workspace, tmp_path / "out")
    first = files_in(tmp_path / "out")
    assert len(first) == len(ADDRESSES)
    fronts = [front_of(text.decode()) for text in first.values()]
    with crawl4r.open(workspace, read_only=True) as opened:
        assert {front["url"] for front in fronts} == {d.document.url for d in opened.documents()}
    assert {front["title"] for front in fronts} == {TITLE}
    export("markdown", workspace, tmp_path / "out")
    assert files_in(tmp_path / "out") == first
    assert not (tmp_path / "escaped").exists()


def test_no_link_of_an_export_runs_anything_or_opens_a_file(
    workspace: Path, tmp_path: Path
) -> None:
    export("markdown", workspace, tmp_path / "out")
    export("jsonl", workspace, tmp_path / "out.jsonl")
    texts = [text.decode().partition("\n---\n")[2] for text in files_in(tmp_path / "out").values()]
    lines = (tmp_path / "out.jsonl").read_text().split("\n")
    texts += [json.loads(line)["markdown"] for line in lines if line]
    assert len(texts) == 2 * len(ADDRESSES)
    for text in texts:
        assert text.count("unsafe:") == 9
        for words in ("[inline](unsafe:javascript:", "(https://e.org/x)", "(#part)", "(../up)"):
            assert words in text


def test_documents_of_an_earlier_version_are_made_harmless_when_they_are_exported(
    workspace: Path, tmp_path: Path
) -> None:
    old = tmp_path / "ws"
    subprocess.run(["cp", "-r", workspace, old], check=True)
    (old / "state.sum").unlink()
    database = sqlite3.connect(old / "state.db")
    database.execute("UPDATE documents SET content = ?", (compress(b"[x](javascript:alert(1))"),))
    database.commit()
    database.close()
    export("markdown", old, tmp_path / "out")
    texts = files_in(tmp_path / "out").values()
    assert len(texts) == len(ADDRESSES)
    assert all(text.endswith(b"[x](unsafe:javascript:alert(1))\n") for text in texts)


def test_a_page_keeps_the_words_of_links_that_lead_nowhere_good() -> None:
    page = f"""<title>T</title><h1>T</h1><p>{WORDS}<a href="javascript:alert(1)">one</a>
        <a href=" java\nscript:alert(2)">two</a> <a href="&#1;javascript:alert(3)">three</a>
        <a href="data:text/html,x">four</a> <a href="tel:1">five</a> <a href="/good">good</a>
        <a href="jav&amp;#97;script:alert(6)">six</a>
        <img src="data:image/png;base64,AAAA" alt="picture"> {WORDS}</p>"""
    whole = run("extract", "--url", "https://e.org/", "--json", stdin=page).json["markdown"]
    assert "one two three four five [good](https://e.org/good)" in " ".join(whole.split())
    assert "[six](https://e.org/jav" in whole
    alone = run("extract", "--json", stdin=page).json["markdown"]
    assert "one two three four five [good](/good) six" in " ".join(alone.split())
    for scheme in ("javascript:", "data:", "tel:"):
        assert scheme not in whole + alone


def test_a_row_of_a_table_is_never_a_formula(workspace: Path, tmp_path: Path) -> None:
    export_csv = run("export", "csv", "-w", workspace, "-o", tmp_path / "pages.csv")
    assert export_csv.code == 0
    rows = [cells_of(line) for line in (tmp_path / "pages.csv").read_bytes().splitlines()]
    assert len(rows) == len(ADDRESSES) + 1
    assert not any(cell[:1] in {"=", "+", "-", "@"} for row in rows for cell in row)


@pytest.mark.parametrize("form", ["jsonl", "parquet", "warc", "wacz", "markdown"])
def test_an_export_follows_no_link_that_waits_at_its_place(
    workspace: Path, tmp_path: Path, form: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    name = {"warc": "x.warc.gz", "wacz": "x.wacz", "markdown": "e.org"}.get(form, "x")
    for link in {name, f"{name}.part", f".{name}.part", "x.cdxj.part"}:
        (out / link).symlink_to(precious)
    near = [] if form in {"warc", "wacz"} else ["--with-near"]
    place = out if form == "markdown" else out / name
    answer = run("export", form, "-w", workspace, "-o", place, *near)
    assert answer.code == (2 if form == "markdown" else 0), answer.err
    assert precious.read_text() == "mine"


@pytest.mark.parametrize(
    ("form", "place"),
    [("jsonl", "state.db"), ("markdown", "."), ("csv", "logs/pages.csv"), ("warc", "store/x")],
)
def test_an_export_does_not_replace_the_workspace(workspace: Path, form: str, place: str) -> None:
    before = files_in(workspace)
    answer = run("export", form, "-w", workspace, "-o", workspace / place)
    assert (answer.code, "belongs to the workspace" in answer.err) == (2, True), answer.err
    assert files_in(workspace) == before


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet", "x.wacz", "x.warc"])
def test_an_export_that_fails_leaves_what_was_there(
    workspace: Path, tmp_path: Path, name: str
) -> None:
    """As on a full disk: no file may be longer than half of what is to be written."""
    out = tmp_path / name
    out.write_text("earlier")
    near = [] if name in {"x.wacz", "x.warc"} else ["--with-near"]
    command = [EXECUTABLE, "export", out.suffix[1:], "-w", workspace, "-o", out, *near]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LONGEST, LONGEST)),
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (4, False), ended.stderr
    assert out.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_package_is_not_written_over_a_folder(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "x.wacz").mkdir()
    answer = run("export", "wacz", "-w", workspace, "-o", tmp_path / "x.wacz")
    assert (answer.code, "is a folder" in answer.err) == (2, True)
