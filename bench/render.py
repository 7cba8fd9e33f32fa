"""One page of the generated site: about 45 KB of HTML with about 67 links."""

import html
import random

from bench.prose import NOUNS, heading, pick, sentences
from bench.tree import Tree, slug

SEED = 20_261
SECTIONS = 8  # headings in an article, each named in the table of contents
CROSS_LINKS = 16  # to any page of the site, from the running text
RELATED = 8  # to pages close by

_INLINE = (
    '<em class="term">{}</em>',
    '<code class="docutils literal"><span class="pre">{}</span></code>',
    '<span class="c7"><strong>{}</strong></span>',
)
_STYLE = "".join(
    f".c{n}{{margin:{n}px;padding:{n % 7}px;color:#{n * 4111:06x}}}" for n in range(40)
)


def _marked(text: str, rng: random.Random) -> str:
    """The sentence with one word in inline markup, as documentation has it: 20 tags a KB."""
    words = text.split(" ")
    chosen = 1 + int(rng.random() * (len(words) - 1))
    words[chosen] = pick(rng, _INLINE).format(words[chosen].rstrip("."))
    return " ".join(words)


_PLAIN = sentences(6_000, SEED)
_POOL = [_marked(text, random.Random(number)) for number, text in enumerate(_PLAIN)]


def render(tree: Tree, page: int, extra_links: list[str], variant: int = 0) -> bytes:
    """The bytes of a page. Another `variant` has other words and the same relative links."""
    rng = random.Random(SEED + page * 1_009 + variant)
    title = html.escape(f"{slug(page).replace('-', ' ').title()}: {heading(rng)}")
    body = "\n".join(
        (
            _navigation(tree, page),
            f'<main id="content"><article><h1>{title}</h1>',
            _contents(),
            *(_section(tree, rng, number) for number in range(SECTIONS)),
            _anchors("more", extra_links),
            "</article></main>",
            _sidebar(tree, page, rng),
            _footer(tree, page),
        )
    )
    head = (
        f'<meta charset="utf-8"><title>{title}</title>'
        f'<meta name="description" content="{_PLAIN[page % len(_PLAIN)]}">'
        f'<meta property="article:published_time" content="{2000 + page % 25}-06-01">'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    ).encode()


def _anchor(href: str, text: str) -> str:
    return f'<a class="link" href="{html.escape(href)}">{text}</a>'


def _anchors(name: str, hrefs: list[str]) -> str:
    items = "".join(f"<li>{_anchor(href, href.strip('/') or 'home')}</li>" for href in hrefs)
    return f'<ul class="{name}">{items}</ul>'


def _navigation(tree: Tree, page: int) -> str:
    sections = [tree.path(child) for child in tree.children(0)]
    trail = [tree.path(ancestor) for ancestor in tree.ancestors(page)]
    return f"<header><nav>{_anchors('menu', sections)}{_anchors('trail', trail)}</nav></header>"


def _contents() -> str:
    return _anchors("contents", [f"#section-{number}" for number in range(SECTIONS)])


def _section(tree: Tree, rng: random.Random, number: int) -> str:
    """A heading, paragraphs with links to anywhere, and a list, a table or a code block."""
    words = rng.choices(_POOL, k=27)
    parts = [
        f'<h2 id="section-{number}">{heading(rng)}</h2>',
        *(f'<p class="c{n}">{" ".join(words[n : n + 5])}</p>' for n in range(0, 20, 5)),
    ]
    for _ in range(CROSS_LINKS // SECTIONS):
        target = int(rng.random() * tree.pages)
        parts.append(f"<p>See also {_anchor(tree.path(target), heading(rng))}. {words[20]}</p>")
    extra = (_list, _table, _code)[number % 3]
    return "\n".join((*parts, extra(words[21:], rng)))


def _list(words: list[str], rng: random.Random) -> str:
    items = (f"<li><p><strong>{heading(rng)}</strong> {text}</p></li>" for text in words)
    return f"<ol>{''.join(items)}</ol>"


def _table(words: list[str], rng: random.Random) -> str:
    rows = "".join(
        f"<tr><th>{NOUNS[number]}</th><td>{rng.random():.4f}</td><td>{text}</td></tr>"
        for number, text in enumerate(words)
    )
    return f"<table><tr><th>Name</th><th>Value</th><th>Note</th></tr>{rows}</table>"


def _code(words: list[str], rng: random.Random) -> str:
    lines = "\n".join(
        f'<span class="k">def</span> <span class="nf">{pick(rng, NOUNS)}</span>'
        f'<span class="p">(</span><span class="n">value</span><span class="p">):</span>\n'
        f'    <span class="c1"># {text}</span>\n    <span class="k">return</span> '
        f'<span class="n">value</span> &amp; <span class="mi">{int(rng.random() * 4_096)}</span>'
        for text in words
    )
    return f'<div class="highlight"><pre><code class="python">{lines}</code></pre></div>'


def _sidebar(tree: Tree, page: int, rng: random.Random) -> str:
    """Children, or siblings of a leaf, as relative links; cousins as links from the root."""
    near = tree.children(page) or tree.siblings(page)
    base = tree.directory(page)
    relative = [tree.path(other).removeprefix(base) or "./" for other in near]
    first = max(0, page - 40)
    cousins = [first + int(rng.random() * 80) for _ in range(RELATED)]
    related = [tree.path(cousin) for cousin in cousins if cousin < tree.pages]
    return f"<aside>{_anchors('near', relative)}{_anchors('related', related)}</aside>"


def _footer(tree: Tree, page: int) -> str:
    previous, following = max(page - 1, 0), min(page + 1, tree.pages - 1)
    links = [
        "/",
        tree.path(tree.parent(page)),
        f"{tree.path(previous)}#content",
        f"{tree.path(following)}#content",
        "/#content",
        "https://external.example/about",
        "mailto:editor@external.example",
    ]
    return f"<footer>{_anchors('foot', links)}<p>{_POOL[-1]}</p></footer>"
