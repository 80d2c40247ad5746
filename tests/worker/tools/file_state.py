"""What is the same of a file for as long as nobody writes it; when it was last read is not."""

from pathlib import Path


def state(path: Path) -> tuple[int, ...]:
    """Its inode, size, mode and dates of change."""
    found = path.stat()
    return (found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns)
