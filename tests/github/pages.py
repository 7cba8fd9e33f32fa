"""The pages of the site, each kind as such a site lays it out, with words of its own."""

from __future__ import annotations

from html import escape

from tests.github.markup import link, listed, page, with_tabs
from tests.github.repositories import (
    GONE,
    LANGUAGES,
    LISTED,
    LOUD,
    MEMBERS,
    OLD_NAME,
    REPOSITORIES,
    SECRET,
    TOPICS,
    Repository,
    prose,
    title_of,
)

_ELSEWHERE = (OLD_NAME, GONE, MEMBERS, SECRET, *LOUD)


def topics_page() -> bytes:
    links = [link(f"/topics/{topic}", topic.title()) for topic in TOPICS]
    text = f"<p>{prose('topics', 4)}</p>"
    return page("Subjects", f"<h1>Subjects</h1>{text}{listed(links)}", "/topics")


def topic_page(topic: str) -> bytes:
    chosen = [item for item in REPOSITORIES.values() if topic in item.topics]
    more = [f"/topics/{topic}?page=2", f"/topics/{topic}?o=desc&s=stars", f"/topics/{topic}/"]
    main = f"<h1>{topic.title()}</h1><p>{prose(f'topic {topic}', 3)}</p>{_cards(chosen)}"
    main += listed([link(href, "More") for href in more])
    return page(topic.title(), main, f"/topics/{topic}")


def trending_page(language: str = "") -> bytes:
    """In every language the repositories come with those that moved, went or are closed."""
    chosen = [item for item in REPOSITORIES.values() if language in ("", item.language)]
    heading = f"In fashion: {language or 'everything'}"
    main = f"<h1>{heading}</h1><p>{prose(heading, 3)}</p>{_cards(chosen)}"
    main += listed([link(path, "Elsewhere") for path in _ELSEWHERE])
    main += listed([link(f"/trending/{name}?since=daily", name) for name in LANGUAGES])
    return page(heading, main, f"/trending/{language}".rstrip("/"))


def owner_page(owner: str) -> bytes:
    chosen = [item for item in REPOSITORIES.values() if item.owner == owner]
    return page(owner, f"<h1>{owner}</h1>{_cards(chosen)}", f"/{owner}")


def repository_page(repository: Repository) -> bytes:
    """File table, read-me and the column beside them. A terse one has hardly a word on it."""
    name = f"{repository.owner}/{repository.name}"
    rows = "".join(_file_row(repository, file) for file in repository.files)
    readme = f"<h1>{escape(repository.name)}</h1><p>A basket of willow.</p>"
    if not repository.is_terse:
        readme = (
            f"<h1>{escape(repository.name)}</h1><p>{prose(repository.path, 5)}</p>"
            f"<h2>How it is used</h2><p>{prose(repository.path + ' use', 5)}</p>"
            f"<pre><code>install {escape(repository.name)}</code></pre>"
        )
    topics = listed([link(f"/topics/{topic}", topic) for topic in repository.topics])
    inner = (
        '<div class="Layout"><div class="Layout-main">'
        f'<table aria-labelledby="folders-and-files"><tbody>{rows}</tbody></table>'
        f'<article class="markdown-body entry-content">{readme}</article></div>'
        f'<div class="Layout-sidebar"><h2>About</h2>{topics}</div></div>'
    )
    return page(name, with_tabs(repository, inner), repository.path)


def blob_page(repository: Repository, file: str) -> bytes:
    lines = [f"{number} = '{prose(file + str(number), 1)}'" for number in range(12)]
    rows = "".join(
        f'<tr><td id="L{number}"></td><td class="blob-code">{escape(line)}</td></tr>'
        for number, line in enumerate(lines, 1)
    )
    root, tail = repository.path, file
    ways = [f"{root}/{word}/main/{tail}" for word in ("raw", "blame", "edit", "commits", "delete")]
    ways += [f"https://raw.githubusercontent.com{root}/main/{tail}"]
    ways += [repository.blob(file) + end for end in ("#L4-L9", "?plain=1", "?raw=true", "/")]
    inner = f"<h1>{escape(file)}</h1>{listed([link(way, 'As it is') for way in ways])}"
    inner += f'<table class="js-file-line-container"><tbody>{rows}</tbody></table>'
    return page(f"{file} in {root}", with_tabs(repository, inner), repository.blob(file))


def list_page(repository: Repository, word: str, count: int) -> bytes:
    """The first of the lists of `issues` or `pulls`, the newest first."""
    one = "issues" if word == "issues" else "pull"
    root = repository.path
    newest = range(count, max(0, count - LISTED), -1)
    links = [link(f"{root}/{one}/{number}", title_of(repository, one, number)) for number in newest]
    links += [link(f"{root}/{word}?page=2", "Older"), link(f"{root}/{word}?q=author%3Ame", "Mine")]
    inner = f"<h1>{word.title()}</h1><p>{prose(root + word, 4)}</p>{listed(links)}"
    return page(f"{word} of {root}", with_tabs(repository, inner), f"{root}/{word}")


def talk_page(repository: Repository, word: str, number: int) -> bytes:
    """An issue or a pull request: a title and three comments."""
    root, one = repository.path, f"{repository.path}/{word}/{number}"
    title = title_of(repository, word, number)
    comments = "".join(
        f'<div class="timeline-comment"><h3>{link("/orchard", "orchard")} wrote</h3>'
        f'<div class="comment-body markdown-body"><p>{prose(f"{one} {turn}", 4)}</p></div></div>'
        for turn in range(3)
    )
    ways = [f"{one}#issuecomment-7", f"{one}?notification_referrer_id=9", f"{one}/", OLD_NAME]
    ways += [f"{OLD_NAME}/issues/{number}", f"{root}/labels/bug?q=is%3Aopen"]
    if word == "pull":
        ways += [f"{one}/files", f"{one}/commits", f"{one}/checks"]
    ways += [repository.blob(file) + "#L3" for file in repository.mentioned]
    inner = (
        f'<h1 class="gh-header-title">{escape(title)}</h1><div class="js-discussion">{comments}</div>'
        f'<div class="sidebar">{listed([link(way, "See") for way in ways])}</div>'
    )
    return page(f"{title} of {root}", with_tabs(repository, inner), one)


def wall_page() -> bytes:
    """What those who are no members see, whatever they asked for."""
    form = (
        '<h1>Sign in</h1><p>You must sign in to continue.</p><form action="/session" method="post">'
        '<input name="login" type="text"><input name="password" type="password">'
        '<input type="submit" value="Sign in"></form>'
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><title>Sign in</title></head><body>{form}'
        f"{link('/password_reset', 'Forgot password?')}</body></html>\n"
    ).encode()


def missing_page() -> bytes:
    return page("Not here", f"<h1>404</h1><p>{prose('missing', 2)}</p>", "/404")


def _cards(chosen: list[Repository]) -> str:
    cards = ""
    for item in chosen:
        stars = link(f"{item.path}/stargazers", "stars")
        cards += (
            f"<article><h2>{link(item.path, item.name)}</h2>{link(f'/{item.owner}', item.owner)}"
            f"<p>{prose(item.path + ' card', 1)}</p>{stars}</article>\n"
        )
    return cards


def _file_row(repository: Repository, file: str) -> str:
    change = link(f"{repository.path}/commit/{'0f' * 20}", "Tidy")
    return f"<tr><td>{link(repository.blob(file), file)}</td><td>{change}</td></tr>\n"
