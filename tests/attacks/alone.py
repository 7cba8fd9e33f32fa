"""A network with only loopback, so that a mutated address reaches no other machine.

A mutation may turn 127.0.0.2 into the address of a real host, and a fault may let it pass.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

_MARK = "CRAWLER_ATTACKS_ALONE"
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1  # netdevice(7)


def go_where_only_loopback_is() -> bool:
    """Start this program again in a network namespace; False where that cannot be made."""
    if os.environ.get(_MARK):
        _raise_loopback()
        return True
    unshare = shutil.which("unshare")
    options = ["--net"] if os.geteuid() == 0 else ["--net", "--map-root-user"]
    if not unshare or subprocess.run([unshare, *options, "true"], check=False).returncode:
        return False
    os.environ[_MARK] = "yes"
    os.execv(unshare, [unshare, *options, sys.executable, "-m", "tests.attacks", *sys.argv[1:]])
    raise AssertionError("execv does not return")


def _raise_loopback() -> None:
    with socket.socket() as any_socket, contextlib.suppress(OSError):
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
