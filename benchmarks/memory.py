"""How much memory a tree of processes holds at its fullest: proportional set size, from
/proc/PID/smaps_rollup.

PSS counts a page that several processes share once between them, so the parts add up. Reading it stops the
process for a moment, so memory is measured in a run of its own, never in one that is timed. Linux only.
"""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """One process of the tree: its id, its command line, and its share of memory."""

    pid: int
    command: str
    pss_bytes: int


@dataclass
class Peak:
    """The fullest moment seen so far. It is complete when the `with` block that sampled it has ended."""

    parts: tuple[Part, ...] = ()
    samples: int = 0

    @property
    def pss_bytes(self) -> int:
        return sum(part.pss_bytes for part in self.parts)


@contextmanager
def sample_memory(root: int, *, every_seconds: float = 0.02) -> Generator[Peak]:
    """Look at the process `root` and all its descendants again and again while the block runs."""
    peak = Peak()
    ended = threading.Event()

    def look() -> None:
        while True:
            parts = tree_memory(root)
            peak.samples += 1
            if sum(part.pss_bytes for part in parts) > peak.pss_bytes:
                peak.parts = parts
            if ended.wait(every_seconds):
                return

    sampler = threading.Thread(target=look, name="memory sampler")
    sampler.start()
    try:
        yield peak
    finally:
        ended.set()
        sampler.join()


def tree_memory(root: int) -> tuple[Part, ...]:
    """The process `root` and its descendants as they are now; one that goes meanwhile is left out."""
    return tuple(part for pid in _tree(root) if (part := _part_or_none(pid)) is not None)


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (parent := _parent_or_none(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _parent_or_none(name: str) -> int | None:
    try:
        stat = Path("/proc", name, "stat").read_text(errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def _part_or_none(pid: int) -> Part | None:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    kilobytes = [int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")]
    words = os.fsdecode(command.replace(b"\0", b" ")).strip()
    return Part(pid, words, kilobytes[0] * 1024) if kilobytes else None
