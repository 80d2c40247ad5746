"""Repositories with submodules for tests: `super` has `lib` at `libs/one`, which has `core` at `deep`."""

from dataclasses import dataclass

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
    core, lib = make_place("core-origin"), make_place("lib-origin")
    core.write("core.c", LINES)
    core.commit("core")
    lib.write("lib.c", LINES)
    lib.write("inc/lib.h", "int lib;\n")
    lib.write(".gitignore", "*.o\n")
    add_submodule(lib, core, "deep")
    outer = make_place("super")
    outer.write("main.c", LINES)
    add_submodule(outer, lib, "libs/one")
    outer.git(*_LOCAL, "submodule", "--quiet", "update", "--init", "--recursive")
    return Nest(outer, Place(outer.root / "libs/one"), Place(outer.root / "libs/one/deep"))


def add_submodule(place: Place, origin: Place, path: str) -> Place:
    """Add and commit a submodule; its working tree."""
    place.git(*_LOCAL, "submodule", "--quiet", "add", str(origin.root), path)
    place.commit(f"add {path}")
    return Place(place.root / path)
