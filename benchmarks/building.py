"""What sharing build caches is worth: eight children build one Rust crate, beside eight cold builds of it.

`python -m benchmarks.building [--children 8] [--checkouts auto] [--on-disk]`. The crate has a dependency that takes
most of the time; the parent has built it once. Each child sets another constant, builds, and runs what it built: each
must print its own, which `plain` checkouts, whose cache is one for all, don't promise. Cold ones are in copies of the
repository without a cache. Needs cargo, and no network: the dependency is beside the repository, where cargo finds it
by one path from everywhere, as what a registry gave. `--on-disk` measures where temporary files are.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import trio

from benchmarks.repository import open_scratch
from benchmarks.table import milliseconds, render_table, times
from merge.checkouts.checkout import Checkout, checkout_mount, make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.ways import Way
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import Repository, find_repository
from orchestrator.children.checkout_ways import open_checkout_ways
from orchestrator.children.mounting import step_of
from orchestrator.children.spawning import open_spawner
from orchestrator.config.tables import Checkouts
from tests.real_git import commit_all, init_repository
from worker.confinement.first_steps import encode_steps

_FUNCTIONS = 1_500

_BUILD = """
import os, subprocess, sys
from worker.confinement.first_steps import decode_steps, take_steps
steps, folder, number = sys.argv[1:]
take_steps(decode_steps(steps) if steps else ())
os.chdir(folder)
source = open("src/main.rs").read()
open("src/main.rs", "w").write(source.replace("N: u64 = 0", f"N: u64 = {number}"))
print(subprocess.run(["cargo", "run", "--quiet", "--offline"], check=True, capture_output=True, text=True).stdout)
"""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--children", type=int, default=8)
    parser.add_argument("--checkouts", default="auto", choices=get_args(Checkouts), help="as in [children]")
    parser.add_argument("--on-disk", action="store_true", help="not in memory")
    arguments = parser.parse_args(words)
    children: int = arguments.children
    wish: Checkouts = arguments.checkouts
    if shutil.which("cargo") is None:
        print("cargo is not installed, so nothing is measured", file=sys.stderr)
        return
    with open_scratch(on_disk=arguments.on_disk) as scratch:
        root = _make_crate(scratch / "crate")
        cold = [shutil.copytree(root, scratch / f"cold-{number}") for number in range(children)]
        subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=root, check=True)
        beside = _build_all([("", folder) for folder in cold])
        way, took = trio.run(_children, find_repository(root), scratch / "home", children, wish)
    name = f"{children} children build a crate ({way}), beside {children} cold builds"
    row = [name, milliseconds(took), milliseconds(beside), times(took, beside)]
    print(render_table(["what", "covey", "beside it", "ratio"], [row]))


async def _children(repository: Repository, home: Path, count: int, wish: Checkouts) -> tuple[str, float]:
    async with (
        open_spawner() as spawner,
        open_checkout_ways(wish, repository, home, spawner, lambda why: print(why, file=sys.stderr)) as ways,
    ):
        return await trio.to_thread.run_sync(_build_in_checkouts, repository, await ways.take(), count)


def _build_in_checkouts(repository: Repository, ways: tuple[Way, ...], count: int) -> tuple[str, float]:
    began = time.perf_counter()
    snapshot = take_snapshot(repository)
    made: list[Checkout] = [
        make_checkout(repository, f"child-{number}", snapshot, ways=ways) for number in range(count)
    ]
    prepared = time.perf_counter() - began
    places: list[tuple[str, Path]] = []
    for checkout in made:
        mount = checkout_mount(repository, checkout)
        places.append((encode_steps((step_of(mount),)) if mount is not None else "", Path(checkout.path)))
    took = prepared + _build_all(places)
    for checkout in made:
        remove_checkout(repository, checkout)
    return made[0].way, took


def _build_all(places: Sequence[tuple[str, Path]]) -> float:
    """Build in every place at once, each with a number of its own, which it must print; how long all of it took."""
    began = time.perf_counter()
    with ThreadPoolExecutor(len(places)) as pool:
        printed = list(pool.map(_build, range(1, len(places) + 1), places))
    took = time.perf_counter() - began
    assert printed == [str(number) for number in range(1, len(places) + 1)], printed
    return took


def _build(number: int, place: tuple[str, Path]) -> str:
    command = [sys.executable, "-c", _BUILD, place[0], str(place[1]), str(number)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _make_crate(root: Path) -> Path:
    init_repository(root)
    vendored = root.with_name("vendor")
    dependency = vendored / "heavy"
    functions = "\n".join(
        f"pub fn f{number}(x: u64) -> u64 {{ (0..x).map(|y| y.wrapping_mul({number}).rotate_left(3)).sum() }}"
        for number in range(_FUNCTIONS)
    )
    package = '[package]\nname = "{}"\nversion = "0.1.0"\nedition = "2021"\n'
    files = {
        root / "Cargo.toml": package.format("app") + '\n[dependencies]\nheavy = "0.1"\n',
        root / ".cargo/config.toml": '[source.crates-io]\nreplace-with = "here"\n[source.here]\n'
        f'directory = "{vendored}"\n',
        root / "src/main.rs": 'const N: u64 = 0;\nfn main() { println!("{}", N + heavy::f7(0)); }\n',
        root / ".gitignore": "target/\n",
        dependency / "Cargo.toml": package.format("heavy"),
        dependency / "src/lib.rs": functions + "\n",
        dependency / ".cargo-checksum.json": '{"files":{}}\n',
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    commit_all(root, "a crate")
    return root


if __name__ == "__main__":
    main()
