"""When did a request arrive? The kernel knows, also while the site waits for a busy core."""

import socket
import struct
from asyncio.trsock import TransportSocket

_FIELDS = struct.Struct("8B12I")  # of struct tcp_info (linux/tcp.h), up to tcpi_last_data_recv
_GRAIN = 0.01  # seconds: the kernel counts in ticks, of 10 ms at most


def seconds_since_data(connection: TransportSocket) -> float:
    """How long ago the kernel got the last bytes; 0 for less than it can tell, or where it does not."""
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _FIELDS.size)
    except OSError:
        return 0.0
    if len(info) < _FIELDS.size:
        return 0.0
    seconds: float = _FIELDS.unpack(info)[-1] / 1000
    return seconds if seconds > _GRAIN else 0.0
