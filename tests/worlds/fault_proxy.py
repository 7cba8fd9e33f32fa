"""A TCP proxy between crawler and site, whose faults a test switches while both run."""

from __future__ import annotations

from dataclasses import asdict

from tests.worlds.process import Companion
from tests.worlds.relay import HOST, Fault, Plan

__all__ = ["Fault", "FaultProxy"]


class FaultProxy(Companion):
    """Relays to a port of 127.0.0.1.

    A fault is in force when `follow` returns, for what arrives after. A request that met one keeps it
    (`counts` tell when it did); a request on a connection that is open already meets the new one.
    While connections are refused, a request on an open connection is reset.
    """

    def __init__(self, upstream: int) -> None:
        super().__init__("tests.worlds.relay", [str(upstream)])
        self.port: int = self.ready["port"]

    def url(self, path: str = "/") -> str:
        return f"http://{HOST}:{self.port}{path}"

    def follow(
        self, fault: Fault, *, times: int | None = None, after: int = 100, ms: int = 20
    ) -> None:
        """The next requests meet this fault (see `relay.Plan`)."""
        if times is not None and (times < 1 or fault is Fault.REFUSE):
            raise ValueError("refused connections cannot be counted; others are hit once at least")
        self.say(asdict(Plan(fault, times, after, ms)))

    def behave(self) -> None:
        self.follow(Fault.NORMAL)

    def counts(self) -> dict[str, int]:
        """How often so far: `connections`, `requests`, `bytes` to clients, and each fault by its name
        ("normal" too). Refused connections never get here."""
        return self.say({})
