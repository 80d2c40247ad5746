"""A small file written whole, in as few system calls as it takes: landings write a few each."""

import os
from pathlib import Path


def write_file(path: Path, content: bytes) -> None:
    """Write a file anew; what stood there is gone, and until this returns part of it may be.

    Raises:
        OSError: when the disk refuses.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
