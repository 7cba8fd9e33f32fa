"""The embedded keyword index: crashes, other processes, damage, languages."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from crawl4r.errors import StorageDamaged, WorkspaceError
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import Facets, Filters, Passage
from crawl4r.search.query import parse

KILLS = int(os.environ.get("CRAWL4R_KILLS", "8"))
BATCH = 20

WRITER = """
import sys
from pathlib import Path
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import Facets, Passage

index = TantivyIndex(Path(sys.argv[1]), writable=True)
first, batch = int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
while True:
    numbers = range(first, first + batch)
    index.put([Passage(n, "title", (), f"wing word{n}", Facets()) for n in numbers])
    index.put([Passage(n, "", (), "old wing", Facets(retired_at=9.0)) for n in range(-batch, 0)])
    index.commit()
    first += batch
    print(first - 1, flush=True)
"""


def passage(number: int, text: str, **facets: object) -> Passage:
    return Passage(number, "", (), text, Facets(**facets))  # type: ignore[arg-type]


def found(index: TantivyIndex, text: str, where: Filters | None = None) -> set[int]:
    return {hit.number for hit in index.best(parse(text).keywords, 100_000, where or Filters())}


def start_writer(folder: Path, first: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first), str(BATCH)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def kill_and_read(process: subprocess.Popen[str], after: int = 0) -> int:
    """Kill it once it has said so many numbers: the last that it said was committed; 0 if none was."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(after)]
    process.kill()
    said += process.communicate()[0].splitlines(keepends=True)
    whole_lines = [line for line in said if line.endswith("\n")]
    return int(whole_lines[-1]) if whole_lines else 0


def test_a_killed_writer_leaves_its_last_commit_and_no_lock(tmp_path: Path) -> None:
    rng = random.Random(4)
    committed = 0
    for _ in range(KILLS):
        process = start_writer(tmp_path, committed + 1)
        said = max(kill_and_read(process, after=rng.randint(0, 3)), committed)
        reader = TantivyIndex(tmp_path, writable=False)
        committed = reader.count()
        # A commit that was done before its number was said is there too; half of one never is.
        assert committed in (said, said + BATCH)
        assert found(reader, "wing") == set(range(1, committed + 1))
        assert found(reader, f"word{committed}") == ({committed} if committed else set())
        reader.close()
    writer = TantivyIndex(tmp_path, writable=True)
    writer.put([passage(committed + 1, "zeppelin")])
    writer.commit()
    assert found(writer, "zeppelin") == {committed + 1}
    writer.close()


def test_what_another_process_commits_is_seen(tmp_path: Path) -> None:
    reader = TantivyIndex(tmp_path, writable=False)
    assert reader.count() == 0
    process = start_writer(tmp_path, 1)
    try:
        assert process.stdout is not None
        for _ in range(3):
            said = int(process.stdout.readline())
            assert said in found(reader, f"word{said}")
    finally:
        kill_and_read(process)
    reader.close()


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    first = TantivyIndex(tmp_path, writable=True)
    first.put([passage(1, "wing")])
    first.commit()
    with pytest.raises(WorkspaceError, match="another process"):
        TantivyIndex(tmp_path, writable=True)
    first.close()
    TantivyIndex(tmp_path, writable=True).close()


def test_a_reader_does_not_write(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError):
        TantivyIndex(tmp_path, writable=False).put([passage(1, "wing")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["meta.json", ".idx", ".term", ".fast", ".fieldnorm"])
@pytest.mark.parametrize("damage", ["cut", "overwritten", "missing"])
def test_damage_is_told_with_what_mends_it(tmp_path: Path, suffix: str, damage: str) -> None:
    index = TantivyIndex(tmp_path, writable=True)
    index.put([passage(number, f"wing word{number}") for number in range(1, 50)])
    index.commit()
    index.close()
    [file] = [file for file in (tmp_path / "current").iterdir() if file.name.endswith(suffix)]
    if damage == "missing" and suffix == "meta.json":
        pytest.skip("a folder without it is one without an index")
    if damage == "cut":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif damage == "overwritten":
        file.write_bytes(b"\xff" * file.stat().st_size)
    else:
        file.unlink()
    with pytest.raises(StorageDamaged, match="crawl4r index --rebuild"):
        TantivyIndex(tmp_path, writable=False).best(parse("wing").keywords, 10, Filters())


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("de", "Die Häuser stehen am Wasser", "Haus"),
        ("fr", "les chevaux couraient", "cheval"),
        ("es", "las canciones populares", "canción"),
        ("ru", "в больших городах", "город"),
        ("fi", "taloissa asutaan", "talossa"),
        ("pl", "piękne domy", "domy"),
        ("", "running engines", "engine"),
        ("zh", "机器学习是人工智能的一个分支", "人工智能"),
        ("th", "ภาษาไทยเป็นภาษาที่มีวรรณยุกต์", "วรรณยุกต์"),
        ("ko", "한국어를 공부합니다", "한국어"),
        ("en", "a café in Zürich", "zurich cafe"),
    ],
)
def test_languages(tmp_path: Path, language: str, text: str, query: str) -> None:
    index = TantivyIndex(tmp_path, writable=True)
    index.put([passage(1, text, language=language), passage(2, "nothing of that", language="en")])
    index.commit()
    assert found(index, query) == {1}
    index.close()


def test_rare_languages_are_not_ranked_lower(tmp_path: Path) -> None:
    """One field for all: in fields of their own, passages of a rare language look too long."""
    index = TantivyIndex(tmp_path, writable=True)
    index.put(
        [passage(n, "some python words of english text", language="en") for n in range(2, 99)]
    )
    index.put([passage(1, "einige python wörter in deutschem text", language="de")])
    index.commit()
    scores = index.scores(parse("python").keywords, [1, 2])
    assert scores[1] == pytest.approx(scores[2], rel=0.01)
    index.close()


def test_long_words_are_not_indexed(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path, writable=True)
    index.put([passage(1, "x" * 200 + " " + "y" * 64)])
    index.commit()
    assert found(index, "x" * 200) == set()
    assert found(index, "y" * 64) == {1}
    assert index.stems(["x" * 200], "en") == [""]
    index.close()


def test_a_commit_without_changes_writes_nothing(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path, writable=True)
    index.put([passage(1, "wing"), passage(2, "wing", retired_at=5.0)])
    index.commit()
    before = (tmp_path / "past" / "meta.json").stat().st_mtime_ns
    index.put([passage(3, "wing"), passage(1, "wing")])
    index.delete([1, 77])
    index.commit()
    assert (tmp_path / "past" / "meta.json").stat().st_mtime_ns == before
    assert found(index, "wing") == {3}
    index.close()
