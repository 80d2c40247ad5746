"""Real git. Commits of covey's are commits to git, and the same for the same tree."""

import os

import pytest

from merge.store.commits import Commit, read_commit, write_commit
from merge.store.object_store import keep_open
from merge.store.trees import ObjectId
from tests.merge.places import MakePlace, Place


@pytest.fixture(params=["sha1", "sha256"])
def either(request: pytest.FixtureRequest, make_place: MakePlace) -> Place:
    place = make_place("either", f"--object-format={request.param}")
    place.write("a.txt", "a\n")
    place.commit()
    return place


def test_a_commit_is_read(either: Place) -> None:
    first = either.ask("rev-parse", "HEAD")
    second = either.commit("a subject\n\ntree of words\nparent of none")
    assert read_commit(either.repository, ObjectId(second)) == Commit(
        ObjectId(either.ask("rev-parse", "HEAD^{tree}")),
        (ObjectId(first),),
        int(either.ask("log", "-1", "--format=%ct")),
    )


def test_a_commit_is_written(either: Place) -> None:
    head = ObjectId(either.ask("rev-parse", "HEAD"))
    tree = read_commit(either.repository, head).tree
    made = write_commit(either.repository, tree, head, "A subject", seconds=86_400)
    assert made == write_commit(either.repository, tree, head, "A subject", seconds=86_400)
    shown = either.ask("log", "-1", "--format=%an %ae %at %cn %ct %P %T %s", made)
    assert shown == f"covey covey@localhost 86400 covey 86400 {head} {tree} A subject"
    root = write_commit(either.repository, tree, None, "First", seconds=0)
    assert read_commit(either.repository, root) == Commit(tree, (), 0)
    either.git("update-ref", "refs/covey/test", made)
    either.git("fsck", "--strict")


def test_a_commit_that_was_written_just_now_is_not_written_again(place: Place) -> None:
    repository = keep_open(place.repository)
    tree = ObjectId(place.ask("rev-parse", "HEAD^{tree}"))
    made = write_commit(repository, tree, None, "For siblings", seconds=0)
    file = repository.common_dir / "objects" / made[:2] / made[2:]
    os.utime(file, (1, 1))
    assert write_commit(repository, tree, None, "For siblings", seconds=0) == made
    assert file.stat().st_mtime == 1
    assert write_commit(place.repository, tree, None, "For siblings", seconds=0) == made
    assert file.stat().st_mtime > 1
