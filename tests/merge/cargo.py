"""A small crate, and cargo as whoever started the tests has it."""

import os
import subprocess
from pathlib import Path

from tests.hermetic import THEIRS
from tests.merge.places import Place


def make_crate(place: Place) -> None:
    """A crate that prints a constant, built once and committed."""
    place.write("Cargo.toml", '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n')
    place.write("src/main.rs", 'const N: u32 = 0;\nfn main() { println!("{N}"); }\n')
    cargo(place.root, "build")
    place.commit("a crate")


def edit_build_and_take_back(place: Place) -> None:
    """As a person who tries something: what is built last is not what the files say. Their dates are the commit's."""
    source = place.root / "src/main.rs"
    status = source.stat()
    set_constant(place.root, "9")
    cargo(place.root, "build")
    place.git("checkout", "-q", "--", "src/main.rs")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))


def set_constant(root: Path, number: str) -> None:
    source = root / "src/main.rs"
    source.write_text(source.read_text().replace("= 0", f"= {number}"))


def cargo(root: Path, verb: str) -> str:
    """What a command of cargo's prints."""
    # Toolchains are found in the home of whoever started the tests.
    homes = {
        name: THEIRS.get(name, f"{THEIRS['HOME']}/.{name.removesuffix('_HOME').lower()}")
        for name in ("CARGO_HOME", "RUSTUP_HOME")
    }
    done = subprocess.run(
        ["cargo", verb, "--quiet", "--offline"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **homes},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
