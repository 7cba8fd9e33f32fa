"""`waiter.py REPORT PROGRAM ...`: start a program, and report how it ended and what it cost."""

import json
import os
import signal
import sys
import time
from pathlib import Path


def main(report: str, *command: str) -> None:
    pid = os.posix_spawn(command[0], command, os.environ)
    for number in (signal.SIGINT, signal.SIGTERM):  # they are meant for the program
        signal.signal(number, signal.SIG_IGN)
    memory = 0
    while True:
        # Of this process alone: what the kernel tells at its end includes the processes it started.
        memory = _peak_of(pid) or memory
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    told = {
        "code": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": memory,
    }
    Path(report).write_text(json.dumps(told), "utf-8")


def _peak_of(pid: int) -> int:
    """Bytes; zero when it has ended."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else 0


if __name__ == "__main__":
    main(*sys.argv[1:])
