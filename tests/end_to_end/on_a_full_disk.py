"""One session on a small file system of its own, which is filled at a chosen event: `python -m … FOLDER ENDS EVENT...`.

How it `ENDS` is `lands` or `keeps`: what becomes of the child that writes.

A process of its own, because the file system is mounted where only it and what it starts can see it. Says nothing when
every law holds; an assertion tells which does not.
"""

import sys
from functools import partial
from pathlib import Path

import trio

from tests.end_to_end.covey import serving
from tests.end_to_end.faults import FillDisk
from tests.end_to_end.laws import Aftermath, Spared, go_through, script
from tests.fixtures_on_disk import commit_fixture


async def fill_at(folder: Path, event: int, *, keeps: bool) -> None:
    folder.mkdir()
    repository = commit_fixture("python_package", folder / "repository")
    async with serving(*script(keeps=keeps)) as server:
        await go_through(Aftermath(repository), server, FillDisk(), Spared(), event)


def main(folder: str, ends: str, *events: str) -> None:
    for number, event in enumerate(events):
        try:
            trio.run(partial(fill_at, Path(folder, str(number)), int(event), keeps=ends == "keeps"))
        except BaseException:
            print(f"filled at event {event}:", file=sys.stderr)
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
