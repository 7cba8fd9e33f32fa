"""Turn a stored body into a verdict and a document. Pure; runs in a sandbox process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turbohtml import Document as Tree

from crawl4r.content.compare.minhash import signature
from crawl4r.content.compare.near_duplicates import bands
from crawl4r.content.extract.feed import read_feed
from crawl4r.content.extract.language import language_of, load_detector
from crawl4r.content.extract.links import images_of, links_of
from crawl4r.content.extract.main_content import fingerprints, load_model, prune
from crawl4r.content.extract.metadata import Metadata, metadata_of
from crawl4r.content.extract.pdf import read_pdf
from crawl4r.content.markdown.convert import markdown_of
from crawl4r.content.markdown.plain_text import plain_text
from crawl4r.content.markdown.safe_links import without_unsafe_links
from crawl4r.content.verdict.signatures import bundled
from crawl4r.content.verdict.validate import validate
from crawl4r.errors import InvalidUrl
from crawl4r.formats.charset import as_utf8, decode, guess_encoding, load_codecs
from crawl4r.formats.dates import load_mail_dates
from crawl4r.formats.html import head_of, parse_html
from crawl4r.formats.media_kind import Kind, kind_of, text_of_record
from crawl4r.model import (
    Document,
    Extraction,
    PageBody,
    PageLink,
    PageVerdict,
    ReadOptions,
    Verdict,
)
from crawl4r.safe_text import load_json
from crawl4r.urls.canonical import AS_WRITTEN, canonicalize

MOST_CHARACTERS = 4_000_000  # of a document's markdown; a long novel has three million
_LONGEST_FIELD = 5_000  # characters of a title, a description and the like
_LONGEST_KEYWORD = 200
_MOST_BLOCKS = 5_000  # fingerprints of a page; normal pages have hundreds
_LONGEST_FENCE = 32  # a longer run of backquotes is no real code
_TIMES_LONGER = 8  # maximum growth of JSON by line breaks and indents
_ALWAYS_INDENTED = 64 * 1024  # characters; shorter JSON is always indented
_BACKQUOTES = re.compile("`{3,}")
_OK = PageVerdict(Verdict.OK, "", ())
_UNREADABLE_PDF = PageVerdict(Verdict.UNDECODABLE, "the PDF file is broken or locked", ("pdf",))
_EVERYTHING = ReadOptions()
_NOT_TEXT = PageVerdict(Verdict.OK, "", ("not-text",))


def extract(
    page: PageBody,
    options: ReadOptions = _EVERYTHING,
    most: int = MOST_CHARACTERS,
) -> Extraction:
    """Decode, validate, prune to the main content, convert to markdown, and read the metadata.

    Keeps at most the first `most` characters of the markdown; the document's note tells so.
    """
    media_type = page.content_type.partition(";")[0].strip().lower()
    kind = kind_of(media_type, page.body)
    if kind is Kind.OTHER:
        return Extraction(_NOT_TEXT)
    if kind is Kind.PDF:
        return _from_pdf(page, most)
    if kind is Kind.RECORD:
        return _from_record(page, most)
    encoding = guess_encoding(page.body, page.content_type)
    if kind is Kind.HTML:
        return _from_html(page, encoding, options, most)
    return _from_text(page, kind, decode(page.body, encoding), most)


def _from_html(page: PageBody, encoding: str, options: ReadOptions, most: int) -> Extraction:
    html = as_utf8(page.body, encoding)
    tree = parse_html(html)
    verdict = validate(tree, html, url=page.url, status=page.status, headers=page.headers)
    said = metadata_of(tree)
    base = _base_of(tree, page.url)
    links = links_of(tree, base) if options.with_links else ()
    images = images_of(tree, base) if options.with_links else ()
    content, words = prune(tree, frozenset(options.repeated))
    # Of what is left: the rest is known for what it is.
    blocks = fingerprints(tree)[:_MOST_BLOCKS] if options.learn else ()
    markdown, note = _cut(markdown_of(content, base, said.title), most)
    document = _document(page.url, Kind.HTML, said, markdown, words, base, note)
    text = plain_text(markdown) if options.with_links else ""
    found = Extraction(verdict, document, text, links, images, blocks=blocks)
    return _with_signature(found, words)


def _from_text(page: PageBody, kind: Kind, text: str, most: int) -> Extraction:
    title, links, note = "", [], ""
    if kind is Kind.FEED and (feed := read_feed(text, page.url)):
        title = feed.title
        markdown, note = _cut_safe(feed.markdown, most)
        links = [PageLink(link, "", "") for link in feed.links]
    elif kind in {Kind.XML, Kind.FEED}:
        kept, note = _cut(text, most)
        markdown = _fenced(kept, "xml")
    elif kind is Kind.JSON:
        kept, note = _cut(text, most)
        markdown = _fenced(kept if note else _indented(kept, most), "json")
    else:
        markdown, note = _cut_safe(text, most)
    text = plain_text(markdown)
    said = Metadata(title=title)
    document = _document(page.url, kind, said, markdown, text, page.url, note)
    return _with_signature(Extraction(_OK, document, text, links), text)


def _from_record(page: PageBody, most: int) -> Extraction:
    """Read a record of `crawl4r import`, which the import has checked."""
    record = load_json(page.body)
    said = Metadata(title=record.get("title") or "")
    text, note = _cut_safe(text_of_record(record), most)
    document = _document(page.url, Kind.RECORD, said, text, text, page.url, note)
    document = document._replace(external_id=str(record.get("id", ""))[:_LONGEST_FIELD])
    return _with_signature(Extraction(_OK, document, text), text)


def _from_pdf(page: PageBody, most: int) -> Extraction:
    pdf = read_pdf(page.body)
    if pdf is None:
        return Extraction(_UNREADABLE_PDF)
    said = Metadata(title=pdf.title, author=pdf.author)
    text, note = _cut_safe(pdf.markdown, most)
    notes = "; ".join(each for each in (pdf.note, note) if each)
    document = _document(page.url, Kind.PDF, said, text, text, page.url, notes)
    return _with_signature(Extraction(_OK, document, text), text)


def _cut(markdown: str, most: int) -> tuple[str, str]:
    """Cut the markdown at a line end, with a note if it was cut."""
    if len(markdown) <= most:
        return markdown, ""
    end = markdown.rfind("\n", most - most // 100, most)
    kept = markdown[: end if end > 0 else most]
    return kept, f"only the first {len(kept):,} of {len(markdown):,} characters are kept"


def _cut_safe(markdown: str, most: int) -> tuple[str, str]:
    """The same text with unsafe links made harmless."""
    kept, note = _cut(markdown, most)
    return without_unsafe_links(kept), note


def _with_signature(extraction: Extraction, text: str) -> Extraction:
    made = signature(text)
    return extraction._replace(signature=made, bands=bands(made))


def _document(
    url: str, kind: Kind, said: Metadata, markdown: str, text: str, base: str, note: str
) -> Document:
    return Document(
        url=url,
        kind=kind.value,
        title=said.title[:_LONGEST_FIELD],
        markdown=markdown,
        author=said.author[:_LONGEST_FIELD],
        published=said.published,
        description=said.description[:_LONGEST_FIELD],
        keywords=tuple(keyword[:_LONGEST_KEYWORD] for keyword in said.keywords),
        image=_absolute(said.image, base),
        canonical=_absolute(said.canonical, base),
        site_name=said.site_name[:_LONGEST_FIELD],
        language=language_of(text, said.declared_language),
        note=note,
    )


def _base_of(tree: Tree, url: str) -> str:
    head = head_of(tree)
    for node in head.iter_elements("base") if head is not None else ():
        if (href := node.attr("href")) is not None:
            return _absolute(href, url) or url
    return url


def _absolute(href: str, base: str) -> str:
    if not href:
        return ""
    try:
        return canonicalize(href.strip(), base or None, AS_WRITTEN)
    except InvalidUrl:
        return ""


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in _BACKQUOTES.findall(text)), default=2)
    fence = "`" * min(longest + 1, _LONGEST_FENCE)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def _indented(text: str, most: int) -> str:
    """Indent minified JSON, because one long line can neither be read nor cut into chunks.

    Invalid or too deeply nested JSON, and JSON that would grow too much, stays as it is.
    """
    room = min(most, max(_TIMES_LONGER * len(text), _ALWAYS_INDENTED))
    pieces = []
    try:
        value = json.loads(text)
        for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                return text
    except (ValueError, RecursionError):
        return text
    return "".join(pieces)


def make_extractor(config: Mapping[str, Any]) -> Callable[[Sequence[Any], bytes], Extraction]:
    """The sandbox's entry: `(head, body) -> extraction`; `extract_safely` makes the head.

    `max_characters` of the config limits the text of a document.
    """
    # Load everything that a page may need, because the process cannot open files later.
    bundled().prepare()
    load_codecs()
    load_mail_dates()
    load_detector()
    load_model()
    most = config["max_characters"]

    def run(head: Sequence[Any], body: bytes) -> Extraction:
        known, options = head[0], ReadOptions(*head[1])
        found = extract(PageBody(body, *known), options, most)
        return found if options.with_links else found._replace(text="")

    return run
