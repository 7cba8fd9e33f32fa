"""Is this a page, or what a site shows instead of one?

In stages, cheap first. Most pages have paragraphs enough and an innocent title, and are done after the
first. For the others one walk over the tree tells what a reader would see; every sign found in it
speaks for one verdict with a weight, and the loudest verdict wins once its weights come to 1. How much
text stands beside a sign decides whether it counts: an article may well speak of denied access.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from turbohtml import Document

from crawl4r.content.verdict.likeness import Likeness, likeness, resembles
from crawl4r.content.verdict.signatures import Signature, bundled, lines_of
from crawl4r.content.verdict.visible import Visible, look, tidy
from crawl4r.formats.html import body_of, head_of, spaced_text
from crawl4r.model import PageVerdict, Verdict

__all__ = [
    "LITTLE_PROSE",
    "Likeness",
    "PageVerdict",
    "is_hard",
    "is_soft",
    "likeness",
    "resembles",
    "validate",
]

_LONGEST_PARAGRAPH = 4_000  # bytes, as far as one is read
_MOST_PARAGRAPHS = 500
_TYPICAL_TAG = 20  # bytes: half of them close, the others have an attribute
_ENOUGH_PROSE = 1_200  # characters in paragraphs, after which only the title can raise doubts
_SOME_PROSE = 250  # characters, more than a shell has
_PLENTY_OF_PROSE = 5_000  # characters, after which nothing can
_LARGE = 24_000  # bytes: no refusal and no shell has prose in the middle of so many
_SAMPLE, _DENSE = 16_000, 1_500  # bytes from the middle, and characters of prose in them
_PLENTY_OF_LINKS = 120  # an index, a list; few pages that are none have as many
_ENOUGH_CODE = 5  # pieces; an error page may have one or two
_ENOUGH_WORDS = 450  # beside more than this hardly a signature counts
_BRIEF, _VERY_BRIEF = 40, 30  # words
_NO_TEMPLATE = (
    150  # words of a page, navigation included, that a site has not put into its template
)
_FOR_BREVITY = 0.4
_TOLD = 12  # words
_MOST_HTML = 200_000  # bytes in which markers are looked for
_DECIDED = 1.0

_PARAGRAPH = re.compile(rb"<p[\s>]")
_HEADING = re.compile(rb"<h1[^<>]{0,500}>([^<]{1,300})")
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_DATA = re.compile(r"""\s*(?:[\[{]\s*["\[{\]}]|%pdf-|[\w.#*-]+\s*\{[^}]*:[^}]*\})""", re.IGNORECASE)

_REASONS = {
    Verdict.BLOCKED: "a challenge, a refusal or a rate limit instead of the page",
    Verdict.LOGIN_WALL: "asks for a login instead of showing the page",
    Verdict.PARKED: "a parked domain or a server's default page",
    Verdict.ERROR_PAGE: "an error page",
    Verdict.SOFT_404: "says that there is no such page",
    Verdict.NEEDS_BROWSER: "a shell that only scripts fill",
    Verdict.NO_STRUCTURE: "not an HTML document",
    Verdict.TOO_SMALL: "next to nothing on it",
}
_ORDER = tuple(_REASONS)  # of equally loud ones the first wins


LITTLE_PROSE = (
    "little-prose",
)  # signals of a page that may be fine, but had to be looked at closely
_FINE = PageVerdict(Verdict.OK)
_FINE_SO_FAR = PageVerdict(Verdict.OK, "", LITTLE_PROSE)


def is_hard(verdict: Verdict) -> bool:
    """The host refuses us, and should be left alone for a while."""
    return verdict is Verdict.BLOCKED


def is_soft(verdict: Verdict) -> bool:
    """Nothing is wrong but the means: a browser would see the page."""
    return verdict is Verdict.NEEDS_BROWSER


def validate(
    tree: Document,
    body: bytes,
    *,
    url: str = "",
    status: int = 200,
    headers: Sequence[tuple[str, str]] = (),
) -> PageVerdict:
    """Judge a page by its tree and its bytes, in time linear in their size.

    Never raises, and leaves the tree as it is. `url`, `status` and `headers` may be left out; they
    are signals among others, and a status alone decides only about a page that says little.
    """
    if status < 400:
        if _is_dense(tree, body) or _is_index(tree, body):
            return _FINE
        prose = _prose(body, 0, len(body), _PLENTY_OF_PROSE)
        if _is_plainly_fine(tree, body, prose):
            return _FINE
        if prose >= _SOME_PROSE and _is_quiet(tree, body, headers):
            return _FINE_SO_FAR
    visible = look(tree, _ENOUGH_WORDS)
    signals = list(_signals(visible, body, url, status, headers))
    return _loudest(visible, signals) or _shape(visible) or _FINE_SO_FAR


def _is_dense(tree: Document, body: bytes) -> bool:
    """Most pages with much to say are known by their middle."""
    if len(body) < _LARGE:
        return False
    middle = len(body) // 3
    prose = _prose(body, middle, middle + _SAMPLE, _DENSE)
    return prose >= _DENSE and _has_paragraphs(tree)


def _is_index(tree: Document, body: bytes) -> bool:
    links = tree.find_all("a", limit=_PLENTY_OF_LINKS)
    return len(links) == _PLENTY_OF_LINKS and not _has_doubtful_name(tree, body)


def _is_plainly_fine(tree: Document, body: bytes, prose: int) -> bool:
    """Paragraphs in plenty; or enough of them, or of code, and neither title nor first heading sound
    like anything else."""
    if prose >= _PLENTY_OF_PROSE and _has_paragraphs(tree):
        return True
    if prose >= _ENOUGH_PROSE:
        is_plenty = _has_paragraphs(tree)
    else:
        is_plenty = prose >= _SOME_PROSE and _has_code(tree)
    return is_plenty and not _has_doubtful_name(tree, body)


def _has_paragraphs(tree: Document) -> bool:
    """Scripts and comments may hold some that are none."""
    return tree.find("p") is not None


def _has_code(tree: Document) -> bool:
    """Documentation explains code, and nothing that stands in for a page does."""
    return len(tree.find_all("code")) + len(tree.find_all("pre")) >= _ENOUGH_CODE


def _is_quiet(tree: Document, body: bytes, headers: Sequence[tuple[str, str]]) -> bool:
    """Nothing anywhere on the page that any signature listens for, and no password to be given."""
    html = body[:_MOST_HTML].lower()
    if b"password" in html or _has_doubtful_name(tree, body):
        return False
    said = body_of(tree)
    text = spaced_text(said)[:_MOST_HTML].lower() if said is not None else ""
    spoken = {
        "text": text,
        "noscript": text if b"<noscript" in html else "",
        "html": html.decode("utf-8", "replace"),
        "cookie": _joined(value for name, value in headers if name.lower() == "set-cookie"),
        "header": _joined(f"{name}: {value}" for name, value in headers),
    }
    return not any(_raises_doubts(place, said) for place, said in spoken.items())


def _has_doubtful_name(tree: Document, body: bytes) -> bool:
    head = head_of(tree)
    title = head.find("title") if head is not None else None
    if title is not None and _raises_doubts("title", lines_of([tidy(title.text)])):
        return True
    heading = _HEADING.match(body, max(body.find(b"<h1"), 0))
    said = heading[1].decode("utf-8", "replace") if heading else ""
    return bool(said) and _raises_doubts("heading", lines_of([tidy(said)]))


def _raises_doubts(place: str, text: str) -> bool:
    heard = bundled().heard(place, text, 0)
    return any(signature.verdict is not Verdict.OK for signature in heard)


def _prose(body: bytes, first: int, last: int, enough: int) -> int:
    """Characters in paragraphs between two places, as far as it matters. Read from the bytes, which is
    several times faster than to ask the tree."""
    prose = 0
    for paragraph in islice(_PARAGRAPH.finditer(body, first, last), _MOST_PARAGRAPHS):
        start = paragraph.end()
        end = body.find(b"</p", start, start + _LONGEST_PARAGRAPH)
        if end > start:
            tags = body.count(b"<", start, end)
            prose += max(0, end - start - tags * _TYPICAL_TAG)
            if prose >= enough:
                break
    return prose


def _signals(
    visible: Visible, body: bytes, url: str, status: int, headers: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, Signature]]:
    """Everything that speaks, each with the place it was heard in."""
    words = visible.words
    texts = {
        "title": lines_of([visible.title]),
        "heading": lines_of(visible.headings),
        "url": url.lower(),
        "cookie": _joined(value for name, value in headers if name.lower() == "set-cookie"),
        "header": _joined(f"{name}: {value}" for name, value in headers),
    }
    if not visible.is_plenty:
        html = body[:_MOST_HTML].lower().decode("utf-8", "replace")
        texts |= {"text": visible.text, "html": html}
        if not _is_told_without_scripts(visible):
            texts["noscript"] = visible.noscript
    for place, text in texts.items():
        for signature in bundled().heard(place, text, words):
            yield place, signature
    for signature in (*_from_status(status, words), *_from_shape(visible)):
        yield "shape", signature


def _is_told_without_scripts(visible: Visible) -> bool:
    """Text under a heading of its own: what <noscript> asks for is then no more than a convenience."""
    return bool(visible.headings) and visible.main_words + visible.link_words >= _TOLD


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines).lower()


def _from_status(status: int, words: int) -> Iterator[Signature]:
    verdict, weight = _SAID_BY_STATUS.get(status, (Verdict.ERROR_PAGE, 0.6))
    if status >= 400 and words <= 200:
        yield Signature(f"status-{status}", verdict, weight, 200)
    if status == 503 and words <= 200:  # so do challenges call themselves
        yield Signature("status-503", Verdict.BLOCKED, 0.4, 200)


_SAID_BY_STATUS = {
    401: (Verdict.LOGIN_WALL, 0.6),
    403: (Verdict.BLOCKED, 0.6),
    404: (Verdict.SOFT_404, 0.6),
    407: (Verdict.BLOCKED, 0.6),
    410: (Verdict.SOFT_404, 0.6),
    429: (Verdict.BLOCKED, 0.8),
    451: (Verdict.BLOCKED, 0.8),
}


def _from_shape(visible: Visible) -> Iterator[Signature]:
    """Signs that no text gives: forms, and places that scripts are to fill."""
    words = visible.words
    if visible.passwords and words <= 80:
        weight = 1.0 if words <= 25 and visible.links <= 12 else 0.5
        yield Signature("password-form", Verdict.LOGIN_WALL, weight, 80)
    if not visible.scripts or visible.refreshes:
        return
    if visible.roots and visible.root_words <= 12 and visible.all_words <= 40:
        yield Signature("empty-app-root", Verdict.NEEDS_BROWSER, 1.0, 40)
    if visible.has_content or visible.links > 2:
        return
    if visible.all_words <= 14:
        weight = 1.0 if visible.all_words <= 6 else 0.5
        yield Signature("scripts-and-no-text", Verdict.NEEDS_BROWSER, weight, 14)


def _loudest(visible: Visible, signals: Sequence[tuple[str, Signature]]) -> PageVerdict | None:
    """The verdict with the most weight behind it, when that is enough."""
    by_verdict: dict[Verdict, list[tuple[str, Signature]]] = defaultdict(list)
    for place, signal in signals:
        by_verdict[signal.verdict].append((place, signal))
    against = sum(signal.weight for _, signal in by_verdict[Verdict.OK])
    scores = {
        verdict: _score(visible, verdict, spoke) - against for verdict, spoke in by_verdict.items()
    }
    decided = [verdict for verdict in _ORDER if scores.get(verdict, 0.0) >= _DECIDED]
    if Verdict.NEEDS_BROWSER in decided:
        decided = _beside_a_shell(visible, decided)
    if not decided:
        return None
    verdict = max(decided, key=lambda each: scores[each])
    spoke = sorted((signal for _, signal in by_verdict[verdict]), key=lambda each: -each.weight)
    names = dict.fromkeys(signal.name for signal in spoke)
    return PageVerdict(verdict, f"{_REASONS[verdict]} ({spoke[0].name})", tuple(names))


def _score(visible: Visible, verdict: Verdict, spoke: Sequence[tuple[str, Signature]]) -> float:
    score = sum(signal.weight for _, signal in spoke)
    if score >= 0.5 and _is_brief(visible, verdict, {place for place, _ in spoke}):
        score += _FOR_BREVITY
    return round(score, 3)


def _is_brief(visible: Visible, verdict: Verdict, places: set[str]) -> bool:
    """Is there so little text that it can hardly be about the matter rather than the matter itself?"""
    fits = verdict in _IN_TEMPLATES or visible.all_words <= _NO_TEMPLATE
    if places - {"text"}:
        return fits and visible.words <= _BRIEF
    return fits and visible.words <= _VERY_BRIEF


# What a site says itself, with its navigation around it.
_IN_TEMPLATES = frozenset([Verdict.SOFT_404, Verdict.ERROR_PAGE, Verdict.LOGIN_WALL])
_MADE_OF_SCRIPTS = frozenset([Verdict.BLOCKED, Verdict.PARKED, Verdict.LOGIN_WALL])


def _beside_a_shell(visible: Visible, decided: list[Verdict]) -> list[Verdict]:
    """A shell's title names the app, not the page; but a challenge and a parking script are shells."""
    shell = Verdict.NEEDS_BROWSER
    kept = _MADE_OF_SCRIPTS if visible.all_words <= 8 else frozenset(decided) - {shell}
    return [verdict for verdict in decided if verdict in kept] or [shell]


def _shape(visible: Visible) -> PageVerdict | None:
    """What no signature could tell: no document at all, or nothing on it."""
    start = visible.text[:20_000]
    odd = len(_NOT_TEXT.findall(start))
    if odd > 8 and odd > len(start) * 0.05:
        return _because(Verdict.NO_STRUCTURE, "binary")
    if visible.has_content or visible.drawings or visible.links or visible.refreshes:
        return None
    if _DATA.match(start):
        return _because(Verdict.NO_STRUCTURE, "data-not-markup")
    has_markup = visible.elements > _NO_MARKUP
    if not visible.all_words or (has_markup and visible.all_words < 4):
        return _because(Verdict.TOO_SMALL, "hardly-a-word")
    if not has_markup and visible.all_words < 60:
        return _because(Verdict.NO_STRUCTURE, "no-markup")
    return None


_NO_MARKUP = 3  # html, head and body are there in any case


def _because(verdict: Verdict, signal: str) -> PageVerdict:
    return PageVerdict(verdict, f"{_REASONS[verdict]} ({signal})", (signal,))
