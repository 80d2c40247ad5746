"""Keeps this process and all it starts from a few system calls for which neither Landlock nor a namespace has a word.

prlimit(2) can make any process of the same user run out of time or files; a process's own limits, and reading those of
others, stay as they are. The kernel's keyrings hold tickets and passphrases of the person's, and are given to every
process that the person starts; here they are not there, as on a kernel without them.
"""

import ctypes
import errno
import struct
from typing import NamedTuple

from worker.confinement.system_calls import control_process

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

# seccomp(2): what a filter answers. linux/bpf_common.h: load a word, jump when it is equal, return.
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06

# x86-64's mode with short pointers has the numbers of x86-64, and this added (syscalls(2)).
_X86_64, _SHORT_POINTERS = 0xC000003E, 0x40000000


class _Calls(NamedTuple):
    """The numbers of system calls on one architecture."""

    limits: tuple[int, ...]
    keyrings: tuple[int, ...]


_CALLS = {
    _X86_64: _Calls((302,), (248, 249, 250)),  # x86-64
    0x40000003: _Calls((340,), (286, 287, 288)),  # i386
    0xC00000B7: _Calls((261,), (217, 218, 219)),  # AArch64
    0x40000028: _Calls((369,), (309, 310, 311)),  # ARM
    0xC00000F3: _Calls((261,), (217, 218, 219)),  # RISC-V
}
"""prlimit64; add_key, request_key, keyctl. A processor may have several of what linux/audit.h calls architectures."""

# Where `struct seccomp_data` has them: number, architecture, and six arguments of eight bytes, low half first.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_PROCESS, _NEW_LIMIT = _ARGUMENTS, _ARGUMENTS + 2 * 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def filter_calls() -> None:
    """Refuse them from here on. This process must have given up gaining privileges (`PR_SET_NO_NEW_PRIVS`).

    Raises:
        OSError: when the kernel takes no filter.
    """
    instructions = b"".join(_filter())
    held = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.cast(held, ctypes.c_void_p))
    control_process(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program))


def _filter() -> list[bytes]:
    of_others = [
        # Of one's own (process 0), or only asked for (no new limit): allowed.
        _instruction(_LOAD, _PROCESS),
        _instruction(_IF_EQUAL, 0, equal=5),
        _instruction(_LOAD, _NEW_LIMIT),
        _instruction(_IF_EQUAL, 0, other=2),
        _instruction(_LOAD, _NEW_LIMIT + 4),
        _instruction(_IF_EQUAL, 0, equal=1),
        _instruction(_RETURN, _FAIL | errno.EPERM),
        _instruction(_RETURN, _ALLOW),
    ]
    not_there = [_instruction(_RETURN, _FAIL | errno.ENOSYS)]
    program: list[bytes] = []
    for architecture, calls in _CALLS.items():
        numbers = [(number, of_others) for number in calls.limits]
        numbers += [(number, not_there) for number in calls.keyrings]
        if architecture == _X86_64:
            numbers += [(_SHORT_POINTERS + number, answer) for number, answer in numbers]
        body = [
            instruction
            for number, answer in numbers
            for instruction in (_instruction(_IF_EQUAL, number, other=len(answer)), *answer)
        ]
        program += [
            _instruction(_LOAD, _ARCHITECTURE),
            _instruction(_IF_EQUAL, architecture, other=2 + len(body)),
            _instruction(_LOAD, _NUMBER),
            *body,
            _instruction(_RETURN, _ALLOW),
        ]
    return [*program, _instruction(_RETURN, _ALLOW)]


def _instruction(code: int, value: int, *, equal: int = 0, other: int = 0) -> bytes:
    """One instruction; `equal` and `other` are how many it skips."""
    return struct.pack("=HBBI", code, equal, other, value)
