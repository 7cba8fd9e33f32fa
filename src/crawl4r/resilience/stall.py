"""Decide whether a crawl stalls, and what to do: pure functions from facts to a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct, field

from crawl4r.resilience.probes import is_there

_FILES_SHARE = 0.95  # of the limit, above which sockets may fail
_UNEXPLAINED = 10  # times `stall_seconds` of silence before a restart without a known cause
_LITTLE_DISK_MB = 64
_LONGEST_TICK = 5.0  # seconds


class Decision(StrEnum):
    GO_ON = "go on"  # no fault was found
    LOOK_AGAIN = "wait for the event loop"  # the loop is blocked and may recover
    WAIT = "wait for the network"
    REOPEN = "reopen the store"  # exit code 4 if the store does not come back
    LEAVE = "leave"  # exit code 5
    SAVE_MEMORY = "leave to free memory"  # exit code 6


class WatchRules(Struct, frozen=True):
    stall_seconds: float = 300.0  # of silence with a due event
    probe_hosts: Sequence[str] = ()  # host:port or URLs; empty: the last hosts that answered
    probe_seconds: float = 30.0  # between two probe rounds while the network is down
    network_failures: int = 10  # in a row over all hosts before the first probe round
    memory_mb: float = 0.0  # limit; 0: none
    leak_mb_hour: float = 0.0  # growth that counts as a leak; 0: no check
    store_patience: float = 600.0  # seconds to wait for a store without write access; 0: none

    @property
    def tick(self) -> float:
        """Seconds between two looks at the crawl."""
        return min(_LONGEST_TICK, max(0.02, min(self.stall_seconds / 10, self.probe_seconds / 2)))


class CrawlView(NamedTuple):
    """The last state of the crawl from the event loop. All times are of one clock."""

    beat: float  # time of the last event
    expected: float  # latest time of the next event; infinity while it waits for others
    waits_for: str = ""  # what it waits for in that case
    is_paused: bool = False  # a person or another program holds it


class Facts(Struct, frozen=True):
    """The findings of an examination. None means unknown, an empty text no problem."""

    quiet: float  # seconds since an event was due
    blocked: float = 0.0  # seconds without an answer of the event loop; 0 if it answers
    stack: Sequence[str] = ()  # of the blocked loop, the innermost call first
    probes: Mapping[str, str] = field(default_factory=dict)  # problems by endpoint
    store: str = ""  # the problem with writing to it
    disk_mb: float | None = None  # free
    files: int | None = None  # open
    files_limit: int | None = None
    memory_mb: float | None = None
    growth_mb_hour: float = 0.0

    @property
    def has_no_files(self) -> bool:
        """Whether the limit of open files is nearly reached."""
        if self.files is None or self.files_limit is None:
            return False
        return self.files >= self.files_limit * _FILES_SHARE

    def as_json(self) -> dict[str, Any]:
        """The findings as plain data, for `health.json` and the log."""
        numbers = {
            "quiet_s": round(self.quiet, 1),
            "loop_blocked_s": round(self.blocked, 1),
            "disk_free_mb": self.disk_mb and round(self.disk_mb),
            "open_files": self.files,
            "open_files_limit": self.files_limit,
            "memory_mb": self.memory_mb and round(self.memory_mb, 1),
        }
        return numbers | {"probes": dict(self.probes), "findings": self.findings()}

    def findings(self) -> list[str]:
        """The problems, in sentences."""
        found = []
        if self.blocked:
            where = f" in {self.stack[0]}" if self.stack else ""
            found.append(f"the event loop has not answered for {self.blocked:.1f} s{where}")
        if self.store:
            found.append(f"the store cannot be written: {self.store}")
        if self.has_no_files:
            found.append(f"{self.files} of at most {self.files_limit} files are open")
        if is_there(self.probes) is False:
            found.append("no probe was answered")
        if self.disk_mb is not None and self.disk_mb < _LITTLE_DISK_MB:
            found.append(f"only {self.disk_mb:.0f} MB are free on the disk")
        return found


def seconds_quiet(view: CrawlView, now: float) -> float:
    """Seconds since an event was due. Polite waits and pauses do not count."""
    return max(0.0, now - max(view.beat, view.expected))


def is_too_large(facts: Facts, rules: WatchRules) -> bool:
    """Whether the process exceeds its memory limit, or leaks."""
    is_high = bool(rules.memory_mb) and (facts.memory_mb or 0.0) > rules.memory_mb
    is_leak = bool(rules.leak_mb_hour) and facts.growth_mb_hour > rules.leak_mb_hour
    return is_high or is_leak


def decide(facts: Facts, rules: WatchRules) -> Decision:
    """The decision about a stalled crawl."""
    if facts.blocked:
        is_lasting = facts.blocked >= 2 * rules.stall_seconds
        return Decision.LEAVE if is_lasting else Decision.LOOK_AGAIN
    if facts.store:
        return Decision.REOPEN
    if is_too_large(facts, rules):
        return Decision.SAVE_MEMORY
    if facts.has_no_files:
        return Decision.LEAVE
    if is_there(facts.probes) is False:
        return Decision.WAIT
    is_hopeless = facts.quiet >= _UNEXPLAINED * rules.stall_seconds
    return Decision.LEAVE if is_hopeless else Decision.GO_ON
