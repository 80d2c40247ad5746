"""Keeps this process and all it starts from setting the resource limits of others, by a filter on one system call.

prlimit(2) can make any process of the same user run out of time or files, and neither Landlock nor a namespace has a
word for it. A process's own limits, and reading those of others, stay as they are.
"""

import ctypes
import errno
import struct

from worker.system_calls import control_process

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

# seccomp(2): what a filter answers. linux/bpf_common.h: load a word, jump when it is equal, return.
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06

_NUMBERS = {
    0xC000003E: (302, 0x40000000 + 302),  # x86-64, and its mode with short pointers
    0x40000003: (340,),  # i386
    0xC00000B7: (261,),  # AArch64
    0x40000028: (369,),  # ARM
    0xC00000F3: (261,),  # RISC-V
}
"""prlimit64 by what linux/audit.h calls the architecture: a processor may have more than one."""

# Where `struct seccomp_data` has them: number, architecture, and six arguments of eight bytes, low half first.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_PROCESS, _NEW_LIMIT = _ARGUMENTS, _ARGUMENTS + 2 * 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def keep_limits_of_others() -> None:
    """Refuse it from here on. This process must have given up gaining privileges (`PR_SET_NO_NEW_PRIVS`).

    Raises:
        OSError: when the kernel takes no filter.
    """
    instructions = ctypes.create_string_buffer(b"".join(_filter()))
    program = _Program(len(instructions) // 8, ctypes.cast(instructions, ctypes.c_void_p))
    control_process(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program))


def _filter() -> list[bytes]:
    refuse = [
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
    program: list[bytes] = []
    for architecture, numbers in _NUMBERS.items():
        for number in numbers:
            program += [
                _instruction(_LOAD, _ARCHITECTURE),
                _instruction(_IF_EQUAL, architecture, other=2 + len(refuse)),
                _instruction(_LOAD, _NUMBER),
                _instruction(_IF_EQUAL, number, other=len(refuse)),
                *refuse,
            ]
    return [*program, _instruction(_RETURN, _ALLOW)]


def _instruction(code: int, value: int, *, equal: int = 0, other: int = 0) -> bytes:
    """One instruction; `equal` and `other` are how many it skips."""
    return struct.pack("=HBBI", code, equal, other, value)
