"""Pure. Every reason has a sentence, and the sentence names the path and who did what."""

from typing import get_args

import pytest

from merge.merging.conflict import Conflict, Why, describe
from merge.store.trees import FILE, SYMLINK, Entry, ObjectId, RepoPath

MINE, YOURS = Entry(FILE, ObjectId("a" * 40)), Entry(SYMLINK, ObjectId("b" * 40))


def conflict(why: Why, *others: bytes) -> Conflict:
    return Conflict(RepoPath(b"a.py"), why, None, MINE, YOURS, tuple(map(RepoPath, others)))


@pytest.mark.parametrize("why", get_args(Why))
def test_every_reason_has_a_sentence(why: Why) -> None:
    assert describe(conflict(why)).startswith("a.py: ")
    assert describe(conflict(why)) != "a.py: "


def test_the_other_side_is_called_as_the_caller_says() -> None:
    assert describe(conflict("deleted there"), there="the undo") == "a.py: changed here, deleted by the undo"
    assert describe(conflict("kind")) == "a.py: a file here, a symlink by the child"


def test_paths_of_the_same_trouble_are_named() -> None:
    assert describe(conflict("renamed twice", b"b.py", b"c\xff")) == (
        'a.py: both renamed it, differently (b.py, "c\\377")'
    )
