"""The cache of answers, cursors, and the folders of an index."""

import threading
from pathlib import Path

import pytest

from crawl4r.errors import UsageError
from crawl4r.search.answer_cache import AnswerCache
from crawl4r.search.cursor import Cursor
from crawl4r.search.generations import Generations


def test_an_answer_is_kept_until_the_index_changes() -> None:
    cache: AnswerCache[int] = AnswerCache(2)
    made = iter(range(10))
    assert cache.get("a", 1, lambda: next(made)) == (0, False)
    assert cache.get("a", 1, lambda: next(made)) == (0, True)
    assert cache.get("a", 2, lambda: next(made)) == (1, False)


def test_the_oldest_answer_makes_room() -> None:
    cache: AnswerCache[str] = AnswerCache(2)
    for key in "abac":
        cache.get(key, 0, lambda key=key: key)
    assert cache.get("a", 0, lambda: "new") == ("a", True)
    assert cache.get("b", 0, lambda: "new") == ("new", False)


def test_many_who_ask_at_once_wait_for_one_answer() -> None:
    cache: AnswerCache[int] = AnswerCache(4)
    calls, gate, answers = [], threading.Event(), []

    def make() -> int:
        calls.append(1)
        gate.wait(10)
        return 42

    threads = [
        threading.Thread(target=lambda: answers.append(cache.get("q", 0, make)[0]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert (len(calls), answers) == (1, [42] * 8)


def test_a_failure_is_not_kept() -> None:
    cache: AnswerCache[int] = AnswerCache(4)
    with pytest.raises(ZeroDivisionError):
        cache.get("q", 0, lambda: 1 // 0)
    assert cache.get("q", 0, lambda: 7) == (7, False)


def test_a_cursor_remembers_what_was_shown() -> None:
    first = Cursor.read(None, 99)
    second = Cursor.read(first.after([5, 3]), 1_000)
    assert (second.up_to, second.shown) == (99, [5, 3])
    assert Cursor.read(second.after([8]), 0).shown == [5, 3, 8]


@pytest.mark.parametrize("text", ["", "nonsense", "e30=", "W10=", "\N{SNOWMAN}"])
def test_a_strange_cursor_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cursor"):
        Cursor.read(text, 1)


def test_a_new_generation_is_searched_only_after_the_switch(tmp_path: Path) -> None:
    generations = Generations(tmp_path / "index")
    assert generations.current() is None
    first = generations.begin()
    assert generations.current() is None
    generations.switch_to(first)
    second = generations.begin()
    assert generations.current() == first
    generations.switch_to(second)
    assert generations.current() == second
    assert not first.exists()


def test_what_a_killed_rebuild_left_is_removed(tmp_path: Path) -> None:
    generations = Generations(tmp_path / "index")
    generations.switch_to(generations.begin())
    left = generations.begin()
    (left / "file").write_text("half")
    generations.remove_others()
    assert not left.exists()
    assert generations.current() is not None
