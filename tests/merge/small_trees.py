"""Generated trees, small enough that names, lines and moves meet: a base, and what two sides make of it."""

from collections.abc import Mapping

from hypothesis import strategies as st

from merge.store.objects import edit_tree, write_blob
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, Entry, ObjectId, RepoPath

Model = Mapping[str, tuple[int, tuple[str, ...]]]
"""A small tree: mode and lines by path."""

FOLDERS = ["", "a/", "b/", "a/s/", "c/"]
NAMES = ["f", "g", "h", "n"]


def lines_of(kind: int) -> tuple[str, ...]:
    return tuple(f"line {kind} {number}\n" for number in range(10))


paths = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map("".join)
files = st.tuples(st.sampled_from([FILE, FILE, EXECUTABLE]), st.integers(0, 4).map(lines_of))


def without_clashes(tree: Model) -> Model:
    """The tree with files dropped that stand where others need a folder."""
    return {
        path: file for path, file in tree.items() if not any(other.startswith(path + "/") for other in tree)
    }


trees = st.dictionaries(paths, files, min_size=1, max_size=6).map(without_clashes)


@st.composite
def edited(draw: st.DrawFn, tree: Model) -> Model:
    """What somebody makes of a tree: edits, modes, renames, moved folders, files where folders were."""
    new = dict(tree)
    for _ in range(draw(st.integers(0, 4))):
        deed = draw(
            st.sampled_from(("edit", "edit", "edit", "remove", "rename", "add", "mode", "move", "clash"))
        )
        path = draw(st.sampled_from(sorted(new))) if new else None
        if deed == "add" or path is None:
            new[draw(paths)] = draw(files)
        elif deed == "edit":
            mode, lines = new[path]
            number = draw(st.sampled_from((0, 1, 5, 9)))
            new[path] = mode, (*lines[:number], f"edit {draw(st.integers(0, 1))}\n", *lines[number + 1 :])
        elif deed == "remove":
            del new[path]
        elif deed == "rename":
            moved = new.pop(path)
            new[draw(paths)] = moved
        elif deed == "mode":
            mode, lines = new[path]
            new[path] = FILE if mode == EXECUTABLE else EXECUTABLE, lines
        elif deed == "move":
            folder, to = draw(st.sampled_from((("a/", "z/"), ("a/", "b/"), ("b/", "c/"), ("a/s/", "c/"))))
            new = {to + old.removeprefix(folder) if old.startswith(folder) else old: new[old] for old in new}
        else:
            new[draw(st.sampled_from(("a", "b", "f/x")))] = draw(files)
    return without_clashes(new)


@st.composite
def three_trees(draw: st.DrawFn) -> tuple[Model, Model, Model]:
    base = draw(trees)
    return base, draw(edited(base)), draw(edited(base))


def store(repository: Repository, tree: Model) -> ObjectId:
    entries = [
        (RepoPath(path.encode()), Entry(mode, write_blob(repository, "".join(lines).encode())))
        for path, (mode, lines) in tree.items()
    ]
    return edit_tree(repository, None, entries)
