"""What the parent and the fork server say to each other, one message a packet.

Apart from the server, so that the parent can speak to it without importing what a worker imports.
"""

import msgspec

from worker.confinement.confinement import Enforced
from worker.confinement.first_steps import AnyStep

PACKET_LIMIT_BYTES = 128 * 1024
"""A request longer than this is not sent: the kernel takes about 200 KiB for one packet (`wmem_default`)."""


class Fork(msgspec.Struct, frozen=True):
    """Fork a worker. Comes with three descriptors: its standard input, output and error.

    The environment is bytes, as the system has it: a value need not be UTF-8. The steps are taken before it begins.
    """

    number: int
    environment: dict[bytes, bytes]
    steps: tuple[AnyStep, ...] = ()


class ServerReport(msgspec.Struct, frozen=True, tag=True):
    """Base of what the server says."""


class Warm(ServerReport, frozen=True):
    """The server has imported everything and takes requests. `enforced` is what its workers can be held to."""

    enforced: Enforced


class Forked(ServerReport, frozen=True):
    """The worker asked for by `number` runs. Comes with one descriptor: a pidfd of it."""

    number: int
    pid: int


class CantFork(ServerReport, frozen=True):
    """The system refused the worker asked for by `number`, with this error number."""

    number: int
    errno: int


class Exited(ServerReport, frozen=True):
    """A worker is gone. `status` is its exit status, or minus the number of the signal that ended it."""

    pid: int
    status: int


AnyServerReport = Warm | Forked | CantFork | Exited
"""Everything the server says, in the order it happened: a worker's `Forked` before its `Exited`."""
