"""Remove all privileges of a process that will parse untrusted bytes.

Called once, after the process has loaded all modules. From then on it can compute and use its open
descriptors: it gets no new file, socket, process or program, no executable memory, and sends no signal
to another process. The limits (setrlimit) apply on every Unix. On Linux a seccomp filter allows only
the system calls named here and answers EPERM to all others.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22  # prctl.h
_SECCOMP_MODE_FILTER = 2

# Classic BPF, as in linux/filter.h and linux/seccomp.h: code, jump if true, jump if false, value.
_INSTRUCTION = struct.Struct("HBBI")
_DESCRIPTION = struct.Struct("HP")
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
# Offsets in struct seccomp_data: of the call, and of its first and third argument.
_NUMBER_AT, _ARCHITECTURE_AT, _RECEIVER_AT, _PROTECTION_AT = 0, 4, 16, 32
# The positions of the results, counted in instructions after the last comparison.
_TO_PROTECTION, _TO_RECEIVER, _TO_ALLOW = 1, 3, 5
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | 1  # with EPERM
_PROT_EXEC = 4


# System calls that stay allowed, with their numbers on x86-64 and on ARM64. Most frequent first.
_ALLOWED = {
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "setitimer": (38, 103),  # the limit of CPU time for a job
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "ppoll": (271, 73),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "times": (100, 153),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "set_robust_list": (273, 99),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
# Allowed without executable memory, which could run injected code.
_MAPPING = {"mmap": (9, 222), "mprotect": (10, 226)}
_SIGNAL = (234, 131)  # tgkill, allowed for the process itself: abort() calls it
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH_...


def lock_down(memory_bytes: int) -> None:
    """Drop all privileges. `memory_bytes`: the memory that may be mapped in addition."""
    _limit(resource.RLIMIT_AS, _mapped_bytes() + memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_NOFILE, 0)  # open files stay open
    if sys.platform == "linux":
        _filter_system_calls()


def _limit(what: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # a lower limit applies already
        resource.setrlimit(what, (most, most))


def _mapped_bytes() -> int:
    with contextlib.suppress(OSError), open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
    return 1024**3


def _filter_system_calls() -> None:
    """Install the filter. Does nothing on a system without one, where only the limits apply."""
    if platform.machine() not in _MACHINES:
        return
    program = _program(*_MACHINES[platform.machine()])
    code = ctypes.create_string_buffer(program, len(program))
    count = len(program) // _INSTRUCTION.size
    described = _DESCRIPTION.pack(count, ctypes.addressof(code))  # struct sock_fprog
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, described)


def _program(column: int, architecture: int) -> bytes:
    """The filter's code: compare the number of a call with each allowed one, refuse all others."""
    compared = [(numbers[column], _TO_ALLOW) for numbers in _ALLOWED.values()]
    compared += [(numbers[column], _TO_PROTECTION) for numbers in _MAPPING.values()]
    compared += [(_SIGNAL[column], _TO_RECEIVER)]
    instructions = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER_AT),
        *(
            (_JUMP_IF_EQUAL, len(compared) - 1 - at + target, 0, number)
            for at, (number, target) in enumerate(compared)
        ),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _PROTECTION_AT),
        (_JUMP_IF_ANY_BIT, 3, 2, _PROT_EXEC),
        (_LOAD, 0, 0, _RECEIVER_AT),
        (_JUMP_IF_EQUAL, 0, 1, os.getpid()),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(_INSTRUCTION.pack(*each) for each in instructions)
