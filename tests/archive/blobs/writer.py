"""python -m tests.archive.blobs.writer DATABASE FOLDER: a writer in a process of its own.

It obeys lines on its standard input, and answers each with a line: `add TEXT` stores bytes and syncs
them, `commit` commits their rows, `where` names the segments with bytes of this writer.
"""

from __future__ import annotations

import sys
from pathlib import Path

from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.storage.database import Database


def main() -> None:
    database = Database(Path(sys.argv[1]))
    blobs = SegmentBlobs(Path(sys.argv[2]), database, segment_bytes=2_000)
    places: list[str] = []
    print("ready", flush=True)
    for line in sys.stdin:
        order, _, text = line.rstrip("\n").partition(" ")
        if order == "add":
            name, _ = blobs.add(text.encode(), "text/html")
            blobs.flush()
            places.append(blobs.locate(name))
            print(name, flush=True)
        elif order == "commit":
            database.commit()
            print("committed", flush=True)
        else:
            print(*sorted({place.partition("@")[0] for place in places}), flush=True)


if __name__ == "__main__":
    main()
