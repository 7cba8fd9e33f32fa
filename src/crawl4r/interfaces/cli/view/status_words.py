"""What `crawl4r status` says of each part of a workspace, in lines and in the drawn table alike."""

from __future__ import annotations

from typing import Any

from crawl4r.interfaces.cli.view.format import clock_time, guess_words, human_bytes, human_seconds

WINDOWS = {
    "last_minute": "last minute",
    "last_5_minutes": "last 5 minutes",
    "since_start": "since the start",
}


def running_words(status: dict[str, Any]) -> str:
    """Which processes work there since when, and what holds them."""
    words = [
        f"{'' if process['work'] == 'crawl' else process['work'] + ' '}process {process['pid']}"
        f" since {clock_time(process['since'])}"
        for process in status["processes"]
    ]
    if not status["running"]:
        words.insert(0, "not running")
    if status["control"]:
        words.append(f"held by the file {' and '.join(status['control'])}")
    return ", ".join(words)


def health_words(health: dict[str, Any] | None) -> str:
    """What the crawl says of itself, and of the last time that it stalled."""
    if health is None:
        return "-"
    words = [health["state"]]
    if health["why"]:
        words.append(f"({health['why']})")
    if health["until"]:
        words.append(f"until {clock_time(health['until'])}")
    words.append(f"last action {clock_time(health['last_beat'])}")
    if stall := health["last_stall"]:
        found = "; ".join(stall["findings"]) or "nothing wrong was found"
        when = clock_time(stall["at"])
        words.append(f"last stall {when}: {found}, decided to {stall['decision']}")
    if loss := health["last_store_loss"]:
        away = f"was away for {human_seconds(loss['seconds'])} and is reopened"
        words.append(f"store {clock_time(loss['at'])}: {away} ({loss['problem']})")
    return ", ".join(words).replace(", (", " (")


def eta_words(status: dict[str, Any]) -> str:
    eta = status["eta"]
    if eta is None:
        return "unknown" if status["running"] else "-"
    about, by = f"about {human_seconds(eta['seconds'])}", eta["limited_by"] or ""
    if by.startswith("--"):
        return f"{about} until {by} is reached, an estimate"
    slowest = f", as long as {by} takes" if by else ""
    return f"{about} for the URLs known now, an estimate{slowest}"


def index_words(totals: dict[str, Any] | None) -> str:
    if totals is None:
        return "none"
    return (
        f"{totals['documents']:,} documents in {totals['passages']:,} passages,"
        f" {totals['embedded']:,} of them with a vector"
    )


def guessed_words(status: dict[str, Any]) -> str:
    return f"{status['guesses']['asked']:,} {guess_words(status['guesses'])}"


def kept_words(status: dict[str, Any]) -> str:
    return (
        f"{status['pages']:,} kept, {human_bytes(status['bytes'])} in"
        f" {status['blobs']:,} distinct bodies ({human_bytes(status['stored_bytes'])} on disk)"
    )


def spool_words(spool: dict[str, Any]) -> str:
    """How far the two sides of separated mode are apart."""
    discoverer = spool["discoverer"]
    words = [
        f"discoverer {'process ' + str(discoverer) if discoverer else 'not running'}"
        + (", held until the scraper has caught up" if spool["is_held"] else ""),
        f"{spool['backlog']:,} of at most {spool['max_backlog']:,} discoveries wait"
        f" ({spool['unread']:,} not read, {spool['unfinished']:,} not visited)",
    ]
    return "; ".join(words)
