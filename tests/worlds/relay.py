"""python -m tests.worlds.relay PORT: a TCP proxy to a port of 127.0.0.1 that does harm when told.

Prints `{"port": N}` once it listens. Every line on stdin is a JSON object, a `Plan` or empty, and is
answered by a line with the counts once it is in force.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

HOST = "127.0.0.1"
BYTES_AT_ONCE = 65536
GARBAGE = bytes(range(256)) * 4
BEFORE_A_RESET = 0.05  # seconds, in which the client reads what the reset would discard


class Fault(StrEnum):
    NORMAL = "normal"
    REFUSE = "refuse"  # no server listens
    RESET = "reset"  # at once, before a byte
    STALL = "stall"  # silence after the connection is made
    GARBAGE = "garbage"  # bytes that are no HTTP, then the end
    DRIP = "drip"  # the answer byte by byte
    TRUNCATE = "truncate"  # an orderly end in the middle of the body
    RESET_IN_BODY = "reset-in-body"
    STALL_IN_BODY = "stall-in-body"


AT_ONCE = {Fault.RESET, Fault.STALL}  # before the client says anything
IN_BODY = {Fault.TRUNCATE, Fault.RESET_IN_BODY, Fault.STALL_IN_BODY}


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to the next requests: `times` of them, then all is normal (None: for good).

    `after` bytes of the body, or half of it if that is less, go through before a fault in the body;
    an answer without a body is cut in its head. `ms` pass before each byte of a drip.
    """

    fault: Fault = Fault.NORMAL
    times: int | None = None
    after: int = 100
    ms: int = 20


class Relay:
    """One plan at a time for all connections. A request meets the plan in force when it arrives, and
    its fault stays with it: what was stalled under one plan is not released by the next."""

    def __init__(self, upstream: int) -> None:
        self.counts: Counter[str] = Counter()
        self._upstream = upstream
        self._plan = Plan()
        self._server: asyncio.Server | None = None
        self._conversations: set[asyncio.Task[None]] = set()
        # Keeps the port ours while no server listens on it.
        self._holder = _bound(0)
        self.port: int = self._holder.getsockname()[1]

    async def follow(self, plan: Plan) -> None:
        self._plan = plan
        if plan.fault is Fault.REFUSE and self._server:
            self._server.close()
            self._server = None
        elif plan.fault is not Fault.REFUSE and not self._server:
            listener = _bound(self.port)
            self._server = await asyncio.start_server(self._accept, sock=listener, backlog=1024)

    async def close(self) -> None:
        if self._server:
            self._server.close()
        self._holder.close()
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = asyncio.current_task()
        assert conversation is not None
        self._conversations.add(conversation)
        conversation.add_done_callback(self._conversations.discard)
        self.counts["connections"] += 1
        with suppress(ConnectionError, asyncio.CancelledError):
            if self._plan.fault in AT_ONCE:
                await self._suffer(self._claim(), reader, writer)
            else:
                await self._converse(reader, writer)
        writer.close()

    def _claim(self) -> Plan:
        """The plan for one request, counted."""
        plan = self._plan
        self.counts[plan.fault] += 1
        if plan.times is not None:
            left = plan.times - 1
            self._plan = replace(plan, times=left) if left else Plan()
        return plan

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Requests in, answers out. What a client says in one go is taken for one request."""
        source, sink = await asyncio.open_connection(HOST, self._upstream)
        answers: asyncio.Task[None] | None = None
        try:
            while said := await reader.read(BYTES_AT_ONCE):
                self.counts["requests"] += 1
                plan = self._claim()
                if plan.fault in {*AT_ONCE, Fault.REFUSE, Fault.GARBAGE}:
                    await self._suffer(plan, reader, writer)
                    return
                if answers:
                    answers.cancel()  # it waits for more of an answer that is complete
                    await asyncio.wait([answers])
                sink.write(said)
                answers = asyncio.create_task(self._bring_back(plan, source, writer))
        finally:
            if answers:
                answers.cancel()
                await asyncio.wait([answers])
            sink.close()

    async def _bring_back(
        self, plan: Plan, source: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        cut = Cut(plan.after) if plan.fault in IN_BODY else None
        with suppress(ConnectionError):
            while data := await source.read(BYTES_AT_ONCE):
                if cut:
                    data = cut.taken_of(data)
                await self._send(data, writer, plan.ms / 1000 if plan.fault is Fault.DRIP else 0)
                if cut and cut.is_over:
                    await self._end_in_body(plan.fault, writer)
                    return
            writer.close()

    async def _send(self, data: bytes, writer: asyncio.StreamWriter, pause: float) -> None:
        pieces = [data] if not pause else [bytes([byte]) for byte in data]
        for piece in pieces:
            await asyncio.sleep(pause)
            writer.write(piece)
            await writer.drain()
            self.counts["bytes"] += len(piece)

    async def _end_in_body(self, fault: Fault, writer: asyncio.StreamWriter) -> None:
        if fault is Fault.STALL_IN_BODY:
            return
        if fault is Fault.RESET_IN_BODY:
            await asyncio.sleep(BEFORE_A_RESET)
            _reset(writer)
        writer.close()

    async def _suffer(
        self, plan: Plan, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if plan.fault is Fault.STALL:
            while await reader.read(BYTES_AT_ONCE):  # until the client gives up
                pass
        elif plan.fault is Fault.GARBAGE:
            await self._send(GARBAGE, writer, 0)
        else:
            _reset(writer)


class Cut:
    """Lets the head and some of the body of one answer through."""

    def __init__(self, after: int) -> None:
        self.is_over = False
        self._after = after
        self._head = b""
        self._left: int | None = None  # of the body; None: the head is not complete

    def taken_of(self, data: bytes) -> bytes:
        if self._left is not None:
            return self._body(data)
        self._head += data
        head, end, body = self._head.partition(b"\r\n\r\n")
        if not end:
            return b""
        length = _content_length(head)
        if length is not None and length < 2:
            self.is_over = True
            return head[: len(head) // 2]
        self._left = self._after if length is None else min(self._after, length // 2)
        return head + end + self._body(body)

    def _body(self, data: bytes) -> bytes:
        assert self._left is not None
        taken = data[: self._left]
        self._left -= len(taken)
        self.is_over = self._left == 0
        return taken


def _content_length(head: bytes) -> int | None:
    """Of an answer; None: not said, as in a chunked one."""
    first, *lines = head.decode("latin-1").lower().split("\r\n")
    if first.split(" ")[1:2] in (["304"], ["204"]):
        return 0
    named = (line.partition(":") for line in lines)
    return next((int(value) for name, _, value in named if name == "content-length"), None)


def _bound(port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind((HOST, port))
    return bound


def _reset(writer: asyncio.StreamWriter) -> None:
    # A linger time of zero is what makes a close send RST.
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def serve(upstream: int) -> None:
    """Until stdin closes, so that the proxy cannot outlive the test run."""
    relay = Relay(upstream)
    await relay.follow(Plan())
    print(json.dumps({"port": relay.port}), flush=True)
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        if told := json.loads(line):
            await relay.follow(Plan(**told | {"fault": Fault(told["fault"])}))
        print(json.dumps(relay.counts), flush=True)
    await relay.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
