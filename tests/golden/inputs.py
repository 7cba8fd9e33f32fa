"""Files that the golden commands read."""

from __future__ import annotations

from pathlib import Path

_PAPERS = """\
{"id": "p1", "title": "On anchors", "text": "An anchor holds best in mud and worst on rock."}
{"id": "p2", "title": "On ropes", "text": "Wet hemp shrinks, wet nylon stretches."}
{"url": "http://papers.test/3", "title": "On bells", "text": "A bell is heard two miles out in fog."}
"""
_QUESTIONS = """\
{"id": "q1", "text": "who lives in the inner basin"}
{"id": "q2", "text": "price of a boat"}
"""
_LIST = """\
<!doctype html><html lang="en"><title>News, page 2</title><main><h1>News, page 2</h1>
<p>What the harbour master told the town in the second half of the year, the newest first.</p>
<ul><li><a href="/news/a.html">A whale in the bay</a></li><li><a href="b.html">Fog</a></li></ul>
<nav><a href="/news/">1</a> <b>2</b> <a href="/news/?page=3">3</a> <a href="/news/?page=4">4</a>
<a rel="next" href="/news/?page=3">older</a> <a rel="prev" href="/news/">newer</a></nav></main></html>
"""
_ROBOTS = """\
User-agent: x
Allow: /a/b
Disallow: /a/
"""


def write_inputs(folder: Path) -> None:
    files = {
        "papers.jsonl": _PAPERS,
        "questions.jsonl": _QUESTIONS,
        "list.html": _LIST,
        "robots.txt": _ROBOTS,
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
