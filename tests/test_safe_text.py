"""How the words of strangers are shown: escapes, JSON with the same value, quoted words."""

from __future__ import annotations

import json
import re
import shlex

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.safe_text import command_line, json_text, visible, visible_text
from tests.hostile.commanding_site import WORDS
from tests.hostile.terminals import smuggled

TEXTS = st.text() | st.text(
    st.sampled_from([*WORDS, *"\r\n\t\v\f\x00\xa0\xad\u200c\u200d\ud800\\\"'"])
)


@given(TEXTS)
def test_nothing_harmful_is_left(text: str) -> None:
    assert smuggled(visible_text(text)) == smuggled(visible(text)) == []
    assert smuggled(json_text([text])) == []
    assert "\n" not in visible(text) + json_text(text)


@given(TEXTS)
def test_what_is_harmless_stays_and_twice_is_once(text: str) -> None:
    shown = visible_text(text)
    assert visible_text(shown) == shown
    assert visible(visible(text)) == visible(text)
    shown.encode()  # a terminal can be sent all of it


@given(st.recursive(TEXTS | st.integers() | st.none(), st.lists))
def test_json_means_the_same_and_a_strict_reader_takes_it(value: object) -> None:
    meant = re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(value, ensure_ascii=False))
    assert json.loads(json_text(value)) == json.loads(meant)
    assert msgspec.json.decode(json_text(value)) == json.loads(meant)


@given(st.lists(TEXTS, min_size=1))
def test_a_shell_reads_the_words_that_were_meant(words: list[str]) -> None:
    assert shlex.split(command_line(*words)) == words


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cشود",  # a non-joiner that Persian is spelled with
        "👩\u200d🔬 at work",  # one sign of two
        "Donau\u00addampf\u00adschiff",
        "Qu\u2019est-ce\u202fque c\u2019est\u00a0?",
        "ภาษา\u200bไทย",  # where a Thai line may break
        "a\tb\nc",
        "日本語\u3000です",
    ],
)
def test_text_that_needs_odd_characters_stays_as_it_is(text: str) -> None:
    assert visible_text(text) == text


def test_line_breaks_of_other_systems_are_line_breaks() -> None:
    assert visible_text("a\r\nb\rc") == "a\nb\\rc"
    assert visible("a\r\nb") == "a\\r\\nb"
