"""robots.txt, a different answer for each host address."""

from collections.abc import Mapping
from pathlib import Path

from tests.site.exchange import Reply, Request, Routes

DEFAULT_RULES = b"User-agent: *\nDisallow: /private/\n"
# RFC 9309 section 2.5 lets a crawler stop reading after 500 KiB: it then knows the first rule of a
# large file and not the last.
FIRST_RULES = b"User-agent: *\nDisallow: /early/\n"
LAST_RULE = b"\nDisallow: /late/\n"
PADDING = b"# nothing to see here, move along\n"

KINDS = {"status", "redirect-loop", "redirects", "size", "hang", "close"}


class RobotsAnswers:
    """Answers by the address that was asked: a misbehaviour, else the host's file, else 404.

    Misbehaviours: `status:503`, `redirect-loop`, `redirects:4` (four, then the host's file or
    DEFAULT_RULES), `size:10485760` (bytes), `hang`, `close` (before any byte).
    """

    def __init__(self, specs: Mapping[str, str], files: Mapping[str, Path]) -> None:
        unknown = [spec for spec in specs.values() if spec.partition(":")[0] not in KINDS]
        if unknown:
            raise ValueError(f"unknown robots answers: {unknown}")
        self._specs = specs
        self._files = files

    def routes(self) -> Routes:
        return {
            "/robots.txt": self._answer,
            "/robots-hop": self._hop,
            "/robots-loop": _loop_back,
        }

    async def _answer(self, request: Request, reply: Reply) -> None:
        kind, _, argument = self._specs.get(request.host, "").partition(":")
        match kind:
            case "status":
                await reply.send(b"", status=int(argument), content_type="text/plain")
            case "redirect-loop":
                await reply.redirect("/robots-loop")
            case "redirects":
                await reply.redirect(f"/robots-hop/{int(argument) - 1}")
            case "size":
                await _send_rules(reply, rules_of_size(int(argument)))
            case "hang":
                await reply.stay_silent()
            case "close":
                reply.hang_up()
            case _:
                await self._send_file(request, reply)

    async def _send_file(self, request: Request, reply: Reply) -> None:
        if request.host in self._files:
            await _send_rules(reply, self._files[request.host].read_bytes())
        else:
            await reply.send(b"not found\n", status=404, content_type="text/plain")

    async def _hop(self, request: Request, reply: Reply) -> None:
        left = int(request.tail)
        if left:
            await reply.redirect(f"/robots-hop/{left - 1}")
        elif request.host in self._files:
            await self._send_file(request, reply)
        else:
            await _send_rules(reply, DEFAULT_RULES)


async def _loop_back(request: Request, reply: Reply) -> None:
    await reply.redirect("/robots.txt")


async def _send_rules(reply: Reply, rules: bytes) -> None:
    await reply.send(rules, content_type="text/plain; charset=utf-8")


def rules_of_size(size: int) -> bytes:
    """Rules of exactly `size` bytes: /early/ is forbidden at the start, /late/ at the very end."""
    room = size - len(FIRST_RULES) - len(LAST_RULE)
    padding = PADDING * (room // len(PADDING) + 1)
    return FIRST_RULES + padding[:room] + LAST_RULE
