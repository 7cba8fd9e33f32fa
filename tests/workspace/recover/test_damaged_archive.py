"""The store or the metadata is damaged too: what is whole comes back, and the rest is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.running import LOOPBACK, run
from tests.workspace.recover.looking import LINES, STATE, recover, rows_of, said_by

Copy = Callable[[str], Path]
SEGMENT = Path("store", "segments", "000001.c4s")


def places(workspace: Path) -> list[tuple[str, int, int]]:
    """Hash, offset and length of each record, in order."""
    with rows_of(workspace) as rows:
        found = rows.execute("SELECT sha256, offset, length FROM blobs ORDER BY offset").fetchall()
    return [(key.hex(), offset, length) for key, offset, length in found]


def lines_of(workspace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (workspace / LINES).read_text("utf-8").splitlines()]


def assert_only_these_lost_their_bytes(
    workspace: Path, whole: Path, lost: set[str], told: dict[str, Any]
) -> None:
    before, after = said_by(whole), said_by(workspace)
    assert [each.id for each in after.captures] == [each.id for each in before.captures]
    gone = {each.id for each in before.captures if each.sha256 in lost}
    assert gone
    assert told["without_bytes"] == len(gone)
    for old, new in zip(before.captures, after.captures, strict=True):
        if old.id not in gone:
            assert new == old
        else:
            assert (new.sha256, new.url, new.status) == (None, old.url, old.status)
            assert "lost" in new.reason
            assert new.verdict == ("unreadable" if old.verdict == "ok" else old.verdict)
    assert run("reprocess", "-w", workspace).code == 0
    assert run("export", "jsonl", "-w", workspace, "--out", workspace / "d.jsonl").code == 0
    assert run("export", "warc", "-w", workspace, "--out", workspace / "d.warc").code == 0
    assert run("replay", "-w", workspace).code == 0


def test_a_damaged_record_in_the_middle_costs_that_record(
    copy: Copy, sound: dict[str, Path]
) -> None:
    workspace = copy("segments")
    records = places(workspace)
    key, offset, length = records[len(records) // 2]
    data = bytearray((workspace / SEGMENT).read_bytes())
    data[offset + 48 + length // 2] ^= 0xFF
    (workspace / SEGMENT).write_bytes(data)
    (workspace / STATE).unlink()
    told = recover(workspace)
    assert (told["damaged_records"], told["damaged_bytes"]) == (1, length + 48)
    assert_only_these_lost_their_bytes(workspace, sound["segments"], {key}, told)


def test_a_torn_tail_costs_the_last_record(copy: Copy, sound: dict[str, Path]) -> None:
    workspace = copy("segments")
    key, offset, length = places(workspace)[-1]
    data = (workspace / SEGMENT).read_bytes()
    (workspace / SEGMENT).write_bytes(data[: offset + 48 + length // 2])
    (workspace / STATE).unlink()
    told = recover(workspace)
    assert told["damaged_records"] == 1
    assert_only_these_lost_their_bytes(workspace, sound["segments"], {key}, told)


def test_damaged_heads_cost_their_records(copy: Copy, sound: dict[str, Path]) -> None:
    workspace = copy("segments")
    records = places(workspace)
    data = bytearray((workspace / SEGMENT).read_bytes())
    lost = [records[0], records[3], records[4]]
    for _, offset, _ in lost:
        data[offset : offset + 48] = bytes(48)
    (workspace / SEGMENT).write_bytes(data)
    (workspace / STATE).unlink()
    told = recover(workspace)
    assert told["damaged_records"] == 2  # two of them touch each other
    assert told["damaged_bytes"] == sum(length + 48 for _, _, length in lost)
    keys = {key for key, _, _ in lost}
    assert_only_these_lost_their_bytes(workspace, sound["segments"], keys, told)


def test_a_page_whose_bytes_are_lost_is_fetched_again(copy: Copy, sound: dict[str, Path]) -> None:
    workspace = copy("segments")
    lost = {line["sha256"] for line in lines_of(workspace)[2:6]} - {None}
    data = bytearray((workspace / SEGMENT).read_bytes())
    for key, offset, length in places(workspace):
        if key in lost:
            data[offset + 48 : offset + 48 + length] = bytes(length)
    (workspace / SEGMENT).write_bytes(data)
    (workspace / STATE).unlink()
    told = recover(workspace)
    assert told["to_visit"] > 0
    for crawl in ("guide", "few"):
        assert run("crawl", "-w", workspace, "--name", crawl, *LOOPBACK, "--json").code == 0
    before, after = said_by(sound["segments"]), said_by(workspace)
    assert {url: after.bodies.get(url) for url in before.bodies} == before.bodies
    assert {url: after.documents.get(url) for url in before.documents} == before.documents


@pytest.mark.parametrize("how", ["cut", "flipped", "deleted"])
def test_a_damaged_file_costs_its_page(copy: Copy, sound: dict[str, Path], how: str) -> None:
    workspace = copy("files")
    victim = min(workspace.glob("store/html/*/*/*.html.zst"))
    key, data = victim.name.partition(".")[0], bytearray(victim.read_bytes())
    if how == "deleted":
        victim.unlink()
    else:
        data[len(data) // 2] ^= 0xFF
        victim.write_bytes(data[: len(data) // 2] if how == "cut" else data)
    (workspace / STATE).unlink()
    told = recover(workspace)
    assert told["damaged_records"] == (how != "deleted")
    assert_only_these_lost_their_bytes(workspace, sound["files"], {key}, told)
    assert not victim.exists()


def test_a_torn_last_line_costs_its_capture_and_not_its_bytes(
    copy: Copy, sound: dict[str, Path]
) -> None:
    workspace = copy("segments")
    data = (workspace / LINES).read_bytes()
    (workspace / LINES).write_bytes(data[:-40])
    (workspace / STATE).unlink()
    told = recover(workspace)
    before, after = said_by(sound["segments"]), said_by(workspace)
    assert told["torn_lines"] == 1
    assert after.captures == before.captures[:-1]
    assert run("crawl", "-w", workspace, "--refresh", *LOOPBACK, "--json").code == 0
    assert [line["capture_id"] for line in lines_of(workspace)] == [
        each.id for each in said_by(workspace).captures
    ]


def test_a_line_without_its_end_that_is_whole_is_a_capture(
    copy: Copy, sound: dict[str, Path]
) -> None:
    workspace = copy("segments")
    (workspace / LINES).write_bytes((workspace / LINES).read_bytes()[:-1])
    (workspace / STATE).unlink()
    assert recover(workspace)["torn_lines"] == 0
    assert said_by(workspace).captures == said_by(sound["segments"]).captures


def test_garbage_and_missing_lines_cost_themselves(copy: Copy, sound: dict[str, Path]) -> None:
    workspace = copy("segments")
    lines = (workspace / LINES).read_bytes().splitlines(keepends=True)
    missing = json.loads(lines[5])
    broken = {"verdict": "fine", "sha256": "no hash", "url": "no url", "captured_at": "never"}
    bad = [json.dumps(json.loads(lines[9]) | {name: value}) for name, value in broken.items()]
    bad += [b"\x00\xff".decode("latin-1"), "[" * 100_000, '{"capture_id": true}']
    garbage = [line.encode("latin-1", "replace") + b"\n" for line in bad]
    kept = [*lines[:5], *garbage, *lines[6:], lines[7]]
    (workspace / LINES).write_bytes(b"".join(kept))
    (workspace / STATE).unlink()
    told = recover(workspace)
    before, after = said_by(sound["segments"]), said_by(workspace)
    assert (told["unreadable_lines"], told["doubled_lines"]) == (len(bad), 1)
    assert after.captures == [each for each in before.captures if each.id != missing["capture_id"]]
    is_only_one = missing["sha256"] not in {each.sha256 for each in after.captures}
    assert told["without_line"] == is_only_one


def test_lines_of_older_versions_are_read(copy: Copy, sound: dict[str, Path]) -> None:
    """They have no headers and no crawl: all captures belong to the first host's crawl."""
    workspace = copy("segments")
    newer = {"http_version", "address", "location", "crawl", "headers"}
    older = [
        {name: value for name, value in line.items() if name not in newer}
        for line in lines_of(workspace)
    ]
    text = "".join(json.dumps(line) + "\n" for line in older)
    (workspace / LINES).write_text(text, "utf-8")
    (workspace / STATE).unlink()
    told = recover(workspace)
    before, after = said_by(sound["segments"]), said_by(workspace)
    assert [(c.id, c.url, c.sha256) for c in after.captures] == [
        (c.id, c.url, c.sha256) for c in before.captures
    ]
    assert after.bodies == before.bodies
    assert len(told["crawls"]) == 1
    assert told["crawls"][0].startswith("127.0.0.1")
