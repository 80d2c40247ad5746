"""A hundred children at once: do all finish, does the parent stay small, and is its loop ever held up?

`python -m benchmarks.load [--children 100] [--turns 10]`. The session runs in this process, so that its event loop can
be watched; its children are real workers over real HTTP to the scripted endpoint, which runs in a process of its own
and has no latency. Each child makes so many model calls with a tool each. One turn delegates to a single child, so that
everything is loaded; two more to all of them, of which the first is timed. Memory is flat when the last adds nothing.
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
from merge.store.repository import find_repository
from orchestrator.config.limits import Limits
from orchestrator.events import ChildFinished, Replied, RequestGiven
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import Entry, read_entries
from orchestrator.parent.opening import open_session
from worker.protocol import Answered


class LoopWatch(trio.abc.Instrument):
    """How long single steps of tasks took: while one runs, nothing else in the parent does.

    `longest_busy_seconds` counts processor time alone: on a machine with other work a step also waits to be run.
    """

    def __init__(self) -> None:
        self.longest_seconds = 0.0
        self.longest_busy_seconds = 0.0
        self.over_limit = 0
        self._began = 0.0
        self._busy_before = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began, self._busy_before = time.perf_counter(), time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        seconds = time.perf_counter() - self._began
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.longest_busy_seconds = max(self.longest_busy_seconds, time.thread_time() - self._busy_before)
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
            seconds, memory = trio.run(_delegate, root, url, options.children, instruments=[watch])
        entries = _journal(root)
    _check(entries, 2 * options.children + 1, options.turns)
    tokens = sum(
        entry.event.reply.usage.output_tokens
        for entry in _of_second_turn(entries)
        if isinstance(entry.event, Replied)
    )
    rows = [
        ["children", str(options.children)],
        ["model calls", str(sum(isinstance(entry.event, Replied) for entry in _of_second_turn(entries)))],
        ["wall time", milliseconds(seconds)],
        ["children per second", f"{options.children / seconds:.1f}"],
        ["tokens streamed per second", f"{tokens / seconds:,.0f}"],
        ["longest step of the parent's loop", milliseconds(watch.longest_seconds)],
        ["the longest by its processor time", milliseconds(watch.longest_busy_seconds)],
        ["steps over 50 ms", str(watch.over_limit)],
        ["parent's PSS after the first child", megabytes(memory[0])],
        [
            f"after {options.children + 1}, after {2 * options.children + 1}",
            ", ".join(map(megabytes, memory[1:])),
        ],
        ["events in the journal", f"{len(entries):,}, each once and in order"],
    ]
    print(render_table(["what", "measured"], rows))


async def _delegate(root: Path, url: str, children: int) -> tuple[float, list[int]]:
    """Hold the three turns: the seconds of the second, and the memory after each."""
    endpoint = Endpoint("openai", url, "scripted")
    seconds: list[float] = []
    memory: list[int] = []
    async with open_session(find_repository(root), endpoint, Limits(children=children)) as session:
        for request in (REQUEST, "All of them.", "All of them again."):
            began = time.perf_counter()
            finished = await session.run_turn(request)
            assert isinstance(finished.ending, Answered), finished
            seconds.append(time.perf_counter() - began)
            memory.append(_own_pss())
    return seconds[1], memory


def _own_pss() -> int:
    return tree_memory(os.getpid())[0].pss_bytes


def _of_second_turn(entries: Sequence[Entry]) -> list[Entry]:
    """The entries between the second request and the third."""
    begins = [number for number, entry in enumerate(entries) if isinstance(entry.event, RequestGiven)]
    return list(entries[begins[1] : begins[2]])


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
    talks: list[str] = []
    parent = f'\n[[conversations]]\nmarker = "{REQUEST}"\n'
    for turn, count in enumerate((1, children, children)):
        names = [f"{turn}-{number:03}" for number in range(count)]
        calls = "".join(
            f'    {{ name = "task", arguments = {{ kind = "research", title = "part {name}",'
            f' prompt = "Read part {name}." }} }},\n'
            for name in names
        )
        parent += f"[[conversations.replies]]\ncalls = [\n{calls}]\n"
        parent += '[[conversations.replies]]\ntext = "All of it is read."\n'
        talks += [_talk(name, number, turns) for number, name in enumerate(names)]
    return parent + "".join(talks)


def _talk(name: str, number: int, turns: int) -> str:
    replies = "".join(
        f"""
[[conversations.replies]]
text = "Reading part {turn} of what I was given, to see what it holds and how it fits together."
calls = [{{ name = "read", arguments = {{ path = "{path_of(number * 7 + turn)}", offset = {turn + 1}, limit = 40 }} }}]
"""
        for turn in range(turns)
    )
    return f'\n[[conversations]]\nmarker = "Read part {name}."\n{replies}\n[[conversations.replies]]\ntext = "Read."\n'


if __name__ == "__main__":
    main(sys.argv[1:])
