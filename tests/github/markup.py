"""The frame of every page: a header and a footer full of links that no crawler should follow."""

from __future__ import annotations

from html import escape

from tests.github.repositories import Repository

# Words that stand in the navigation of every page and in no text.
NAVIGATION = ("Step inside", "Bazaar of tools", "Our prices", "Small print", "Pulse of the work")

_HEADER = """\
<a href="#start-of-content">Go to the text</a>
<header class="Header" role="banner"><nav aria-label="Global">
<a href="https://github.com/">Front door</a>
<a href="/login?return_to={here}">Step inside</a>
<a href="/signup?ref_cta=top&amp;source=header">Become a member</a>
<ul><li><a href="/marketplace">Bazaar of tools</a></li>
<li><a href="/features/actions">Machines at work</a></li>
<li><a href="/pricing">Our prices</a></li><li><a href="/explore">Look around</a></li>
<li><a href="/topics">All subjects</a></li><li><a href="/trending?since=weekly">In fashion</a></li>
<li><a href="/settings/profile">Your papers</a></li><li><a href="/logout">Leave</a></li>
<li><a href="/sponsors/lantern">Patrons</a></li><li><a href="/orgs/lantern/people">People</a></li>
<li><a href="/notifications">Letters</a></li><li><a href="/new">Begin something</a></li></ul>
<form action="/search"><input name="q"></form><a href="/search?q=kite&amp;type=code">Seek</a>
</nav></header>
"""
_FOOTER = """\
<footer class="footer" role="contentinfo"><nav aria-label="Footer"><ul>
<li><a href="/site/terms">Small print</a></li><li><a href="/security/advisories">Locks</a></li>
<li><a href="https://docs.github.com/en">Manuals</a></li>
<li><a href="https://gist.github.com/lantern/0123456789abcdef">Scraps</a></li>
<li><a href="https://api.github.com/repos/lantern/kite">For machines</a></li>
<li><a href="http://github.com/lantern/kite">An unsafe way</a></li>
<li><a href="HTTPS://GitHub.COM/lantern/kite/">A loud way</a></li>
<li><a href="//github.com:443/lantern/kite?tab=readme-ov-file#use">A short way</a></li>
</ul></nav></footer>
"""
_TABS = (
    ("", "Code"),
    ("/issues", "Issues"),
    ("/pulls", "Proposals"),
    ("/actions", "Machines"),
    ("/projects", "Plans"),
    ("/pulse", "Pulse of the work"),
    ("/network/members", "Relations"),
    ("/graphs/contributors", "Curves"),
    ("/stargazers", "Admirers"),
    ("/watchers", "Watchers"),
    ("/forks", "Branches off"),
    ("/branches", "Branches"),
    ("/tags", "Tags"),
    ("/releases", "Releases"),
    ("/releases/download/v1/all.zip", "Parcel"),
    ("/archive/refs/heads/main.zip", "Whole"),
    ("/wiki", "Notes"),
    ("/discussions", "Talk"),
    ("/security", "Locks of the house"),
    ("/compare/main...next", "Differences"),
    ("/commits", "All changes"),
    ("/commits/main/", "Changes"),
    ("/commit/0123456789abcdef0123456789abcdef01234567", "Last change"),
    ("/settings", "Screws"),
    ("/settings/access", "Keys"),
    ("/tree/main/src", "src"),
    ("/tree/main", "main"),
    ("/find/main", "Find a file"),
    ("/issues/new/choose", "Complain"),
    ("/issues?q=is%3Aissue+is%3Aopen", "Open ones"),
    ("/issues?page=2", "More of them"),
    ("/labels/bug", "Labels"),
    ("/milestones", "Stones"),
    ("/", "Back"),
)


def link(href: str, text: str) -> str:
    return f'<a href="{escape(href)}">{escape(text)}</a>'


def listed(links: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>\n" for item in links) + "</ul>"


def page(title: str, main: str, here: str) -> bytes:
    """A whole page around `main`."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<link rel="canonical" href="https://github.com{escape(here)}"></head>\n<body>'
        f"{_HEADER.format(here=escape(here))}"
        f'<div id="start-of-content"></div><main>{main}</main>\n{_FOOTER}</body></html>\n'
    ).encode()


def with_tabs(repository: Repository, inner: str) -> str:
    """What every page of a repository has above it."""
    root = repository.path
    tabs = listed([link(root + tail, word) for tail, word in _TABS])
    owner = link(f"/{repository.owner}", repository.owner)
    return (
        '<div id="repository-container-header">'
        f"<strong>{owner} / {link(root, repository.name)}</strong>"
        f'<nav class="UnderlineNav" aria-label="Repository">{tabs}</nav></div>\n{inner}'
    )
