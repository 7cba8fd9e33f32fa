"""One stored body to a verdict and a document. Pure; run where it can be killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from turbohtml import Document as Tree

from crawl4r.content.decode import as_utf8, decode, guess_encoding, load_codecs
from crawl4r.content.feeds import read_feed
from crawl4r.content.kinds import Kind, kind_of
from crawl4r.content.language import language_of, load_detector
from crawl4r.content.main_content import fingerprints, load_model, prune
from crawl4r.content.markdown import markdown_of, plain_text
from crawl4r.content.metadata import Metadata, metadata_of
from crawl4r.content.minhash import signature
from crawl4r.content.near import bands
from crawl4r.content.outline import links_of
from crawl4r.content.pdf import read_pdf
from crawl4r.content.safe_links import without_unsafe_links
from crawl4r.content.signatures import bundled
from crawl4r.content.validate import validate
from crawl4r.errors import InvalidUrl
from crawl4r.markup import head_of, parse_html
from crawl4r.model import Document, Extraction, PageBody, PageLink, PageVerdict, Verdict
from crawl4r.urls.canonical import AS_WRITTEN, canonicalize

_OK = PageVerdict(Verdict.OK, "", ())
_UNREADABLE_PDF = PageVerdict(Verdict.UNDECODABLE, "the PDF file is broken or locked", ("pdf",))
_NOT_TEXT = PageVerdict(Verdict.OK, "", ("not-text",))


def extract(
    page: PageBody,
    repeated: frozenset[int] = frozenset(),
    *,
    with_links: bool = True,
    learn: bool = False,
) -> Extraction:
    """Decode, validate, prune to the main content, turn it into markdown, and read the metadata."""
    media_type = page.content_type.partition(";")[0].strip().lower()
    kind = kind_of(media_type, page.body)
    if kind is Kind.OTHER:
        return Extraction(_NOT_TEXT)
    if kind is Kind.PDF:
        return _from_pdf(page)
    if kind is Kind.RECORD:
        return _from_record(page)
    encoding = guess_encoding(page.body, page.content_type)
    if kind is Kind.HTML:
        return _from_html(page, encoding, repeated, with_links=with_links, learn=learn)
    return _from_text(page, kind, decode(page.body, encoding))


def _from_html(
    page: PageBody, encoding: str, repeated: frozenset[int], *, with_links: bool, learn: bool
) -> Extraction:
    html = as_utf8(page.body, encoding)
    tree = parse_html(html)
    verdict = validate(tree, html, url=page.url, status=page.status, headers=page.headers)
    said = metadata_of(tree, html)
    base = _base_of(tree, page.url)
    links = links_of(tree, base) if with_links else ()
    content, words = prune(tree, repeated, len(html))
    # Of what is left: the rest is known for what it is.
    blocks = fingerprints(tree) if learn else ()
    markdown = markdown_of(content, base)
    document = _document(page.url, Kind.HTML, said, markdown, words, base)
    text = plain_text(markdown) if with_links else ""
    return _with_signature(Extraction(verdict, document, text, links, blocks=blocks), words)


def _from_text(page: PageBody, kind: Kind, text: str) -> Extraction:
    title, markdown, links = "", text, []
    if kind is Kind.FEED and (feed := read_feed(text, page.url)):
        title, markdown = feed.title, without_unsafe_links(feed.markdown)
        links = [PageLink(link, "", "") for link in feed.links]
    elif kind in {Kind.XML, Kind.FEED}:
        markdown = _fenced(text, "xml")
    elif kind is Kind.JSON:
        markdown = _fenced(_indented(text), "json")
    else:
        markdown = without_unsafe_links(text)
    text = plain_text(markdown)
    document = _document(page.url, kind, Metadata(title=title), markdown, text, page.url)
    return _with_signature(Extraction(_OK, document, text, links), text)


def _from_record(page: PageBody) -> Extraction:
    """What `crawl4r import` kept: checked then, and so of the right shape."""
    record = json.loads(page.body.decode("utf-8", "surrogatepass"))
    said = Metadata(title=record.get("title") or "")
    text = without_unsafe_links(record["text"])
    document = _document(page.url, Kind.RECORD, said, text, text, page.url)
    document = document._replace(external_id=str(record.get("id", "")))
    return _with_signature(Extraction(_OK, document, text), text)


def _from_pdf(page: PageBody) -> Extraction:
    pdf = read_pdf(page.body)
    if pdf is None:
        return Extraction(_UNREADABLE_PDF)
    said = Metadata(title=pdf.title, author=pdf.author)
    markdown = without_unsafe_links(pdf.markdown)
    document = _document(page.url, Kind.PDF, said, markdown, markdown, page.url)
    document = document._replace(note=pdf.note)
    return _with_signature(Extraction(_OK, document, markdown), markdown)


def _with_signature(extraction: Extraction, text: str) -> Extraction:
    made = signature(text)
    return extraction._replace(signature=made, bands=bands(made))


def _document(
    url: str, kind: Kind, said: Metadata, markdown: str, text: str, base: str
) -> Document:
    return Document(
        url=url,
        kind=kind.value,
        title=said.title,
        markdown=markdown,
        author=said.author,
        published=said.published,
        description=said.description,
        keywords=said.keywords,
        image=_absolute(said.image, base),
        canonical=_absolute(said.canonical, base),
        site_name=said.site_name,
        language=language_of(text, said.declared_language),
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
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def _indented(text: str) -> str:
    """One line of minified JSON cannot be read, nor cut into chunks."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def make_extractor(_: Any) -> Callable[[Mapping[str, Any], bytes], Extraction]:
    """The sandbox's entry: `(head, body) -> extraction`; `documenting.extract_body` makes the head."""
    # All that a page may need is loaded now: the process cannot open a file later.
    bundled().prepare()
    load_codecs()
    load_detector()
    load_model()

    def run(head: Mapping[str, Any], body: bytes) -> Extraction:
        page = PageBody(body, head["url"], head["content_type"], head["status"], head["headers"])
        with_links = head["with_links"]
        repeated = frozenset(head["repeated"])
        found = extract(page, repeated, with_links=with_links, learn=head["learn"])
        return found if with_links else found._replace(text="")

    return run
