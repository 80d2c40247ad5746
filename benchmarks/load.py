"""A hundred children at once: do all finish, does the parent stay small, and is its loop ever held up?

`python -m benchmarks.load [--children 100] [--turns 10]`. The session runs in this process, so that its event loop can
be watched; its children are real workers over real HTTP to the scripted endpoint, which runs in a process of its own
and has no latency. Each child makes so many model calls with a tool each.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import trio

from benchmarks.delegation import REQUEST, serving
from benchmarks.memory import tree_memory
from benchmarks.repository import make_repository, open_scratch, path_of
from benchmarks.table import megabytes, milliseconds, render_table
from merge.repository import find_repository
from orchestrator.config.limits import Limits
from orchestrator.events import ChildFinished, Replied
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import Entry, read_entries
from orchestrator.session import open_session
from worker.protocol import Answered


class LoopWatch(trio.abc.Instrument):
    """How long single steps of tasks took: while one runs, nothing else in the parent does."""

    def __init__(self) -> None:
        self.longest_seconds = 0.0
        self.over_limit = 0
        self._began = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.perf_counter()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        seconds = time.perf_counter() - self._began
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.over_limit += seconds > _LIMIT_SECONDS


_LIMIT_SECONDS = 0.05


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--children", type=int, default=100)
    parser.add_argument("--turns", type=int, default=10, help="model calls with a tool, a child")
    options = parser.parse_args(words)
    with open_scratch() as scratch:
        root = make_repository(scratch / "repository", 1_000)
        scenario = scratch / "load.toml"
        scenario.write_text(_scenario(options.children, options.turns))
        with serving(scenario) as url:
            watch = LoopWatch()
            before = _own_pss()
            began = time.perf_counter()
            trio.run(_delegate, root, url, options.children, instruments=[watch])
            seconds = time.perf_counter() - began
            after = _own_pss()
        entries = _journal(root)
    _check(entries, options.children, options.turns)
    tokens = sum(
        entry.event.reply.usage.output_tokens for entry in entries if isinstance(entry.event, Replied)
    )
    rows = [
        ["children", str(options.children)],
        ["model calls", str(sum(isinstance(entry.event, Replied) for entry in entries))],
        ["wall time", milliseconds(seconds)],
        ["children per second", f"{options.children / seconds:.1f}"],
        ["tokens streamed per second", f"{tokens / seconds:,.0f}"],
        ["longest step of the parent's loop", milliseconds(watch.longest_seconds)],
        ["steps over 50 ms", str(watch.over_limit)],
        ["parent's PSS before, after", f"{megabytes(before)}, {megabytes(after)}"],
        ["events in the journal", f"{len(entries):,}, each once and in order"],
    ]
    print(render_table(["what", "measured"], rows))


async def _delegate(root: Path, url: str, children: int) -> None:
    endpoint = Endpoint("openai", url, "scripted")
    async with open_session(find_repository(root), endpoint, Limits(children=children)) as session:
        finished = await session.run_turn(REQUEST)
    assert isinstance(finished.ending, Answered), finished


def _own_pss() -> int:
    return tree_memory(os.getpid())[0].pss_bytes


def _journal(root: Path) -> list[Entry]:
    (path,) = (root / ".covey" / "sessions").glob("*/journal.jsonl")
    return list(read_entries(path))


def _check(entries: Sequence[Entry], children: int, turns: int) -> None:
    """What must hold however much happens at once."""
    assert [entry.number for entry in entries] == list(range(len(entries))), (
        "an event is missing, or out of order"
    )
    ends = [entry.event for entry in entries if isinstance(entry.event, ChildFinished)]
    assert len(ends) == children
    assert all(isinstance(end.ending, Answered) for end in ends), Counter(
        type(end.ending).__name__ for end in ends
    )
    calls = Counter(entry.who for entry in entries if isinstance(entry.event, Replied))
    assert all(calls[who] == turns + 1 for who in calls if who), calls


def _scenario(children: int, turns: int) -> str:
    calls: list[str] = []
    talks: list[str] = []
    for number in range(children):
        marker = f"Read part {number:03}."
        words = f'kind = "research", title = "part {number}", prompt = "{marker}"'
        calls.append(f'    {{ name = "task", arguments = {{ {words} }} }},')
        replies = "".join(
            f"""
[[conversations.replies]]
text = "Reading part {turn} of what I was given, to see what it holds and how it fits together."
calls = [{{ name = "read", arguments = {{ path = "{path_of(number * 7 + turn)}", offset = {turn + 1}, limit = 40 }} }}]
"""
            for turn in range(turns)
        )
        talks.append(
            f'\n[[conversations]]\nmarker = "{marker}"\n{replies}\n[[conversations.replies]]\ntext = "Read."\n'
        )
    lines = "\n".join(calls)
    return f"""
[[conversations]]
marker = "{REQUEST}"
[[conversations.replies]]
calls = [
{lines}
]
[[conversations.replies]]
text = "All of it is read."
{"".join(talks)}"""


if __name__ == "__main__":
    main(sys.argv[1:])
