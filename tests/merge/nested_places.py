"""Repositories with submodules for tests: `super` has `lib` at `libs/one`, which has `core` at `deep`."""

import functools
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.merge.places import MakePlace, Place

LINES = "".join(f"line {number}\n" for number in range(1, 21))

_LOCAL = ("-c", "protocol.file.allow=always")


@dataclass(frozen=True)
class Nest:
    """A repository, its submodule, and the submodule of that: each a populated working tree."""

    outer: Place
    lib: Place
    core: Place


def make_nest(make_place: MakePlace) -> Nest:
    """A nest of the test's own: made once for all tests of a process, and copied."""
    root = make_place("super").root
    shutil.rmtree(root)
    shutil.copytree(_first_nest(), root, symlinks=True)
    nest = Nest(Place(root), Place(root / "libs/one"), Place(root / "libs/one/deep"))
    for place in (nest.core, nest.lib, nest.outer):
        place.git("update-index", "-q", "--refresh")  # a copy has other dates
    return nest


@functools.cache
def _first_nest() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="nest-"))

    def make(name: str) -> Place:
        place = Place(folder / name)
        place.root.mkdir()
        place.git("init", "-q", "--template=", "-b", "main")
        return place

    core, lib, outer = make("core-origin"), make("lib-origin"), make("super")
    core.write("core.c", LINES)
    core.commit("core")
    lib.write("lib.c", LINES)
    lib.write("inc/lib.h", "int lib;\n")
    lib.write(".gitignore", "*.o\n")
    add_submodule(lib, core, "deep")
    outer.write("main.c", LINES)
    add_submodule(outer, lib, "libs/one")
    outer.git(*_LOCAL, "submodule", "--quiet", "update", "--init", "--recursive")
    return outer.root


def add_submodule(place: Place, origin: Place, path: str) -> Place:
    """Add and commit a submodule; its working tree."""
    place.git(*_LOCAL, "submodule", "--quiet", "add", str(origin.root), path)
    place.commit(f"add {path}")
    return Place(place.root / path)
