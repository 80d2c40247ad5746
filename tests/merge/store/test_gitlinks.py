"""Real git. Every commit in a tree is found, at first by a look at all of it, later by what changed."""

import pytest

from merge.store import gitlinks
from merge.store.gitlinks import find_gitlinks, last_gitlinks
from merge.store.objects import edit_tree
from merge.store.trees import SUBMODULE, Entry, ObjectId, RepoPath
from tests.merge.landing_places import head_tree
from tests.merge.places import MakePlace, Place

LINK = Entry(SUBMODULE, ObjectId("1" * 40))


def with_links(place: Place, tree: ObjectId, **paths: bool) -> ObjectId:
    edits = [
        (RepoPath(path.replace("_", "/").encode()), LINK if there else None) for path, there in paths.items()
    ]
    return edit_tree(place.repository, tree, edits)


def test_links_come_and_go_with_the_tree(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, base = place.repository, head_tree(place)
    assert find_gitlinks(repository, base) == ()
    monkeypatch.delattr(gitlinks, "run_git")  # no look at all of it any more
    more = with_links(place, base, vendor_one=True, two=True)
    assert find_gitlinks(repository, more) == (b"two", b"vendor/one")
    assert find_gitlinks(repository, with_links(place, more, two=False)) == (b"vendor/one",)
    assert last_gitlinks(repository) == (b"vendor/one",)
    assert find_gitlinks(repository, base) == ()


def test_a_path_that_no_text_can_tell_is_found(place: Place) -> None:
    path = RepoPath(b"caf\xe9\n\tx/160000")
    tree = edit_tree(place.repository, head_tree(place), [(path, LINK), (RepoPath(b"a"), LINK)])
    assert find_gitlinks(place.repository, tree) == (b"a", path)
    assert last_gitlinks(place.repository) == (b"a", path)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"tree":"' + b"2" * 40 + b'","paths":[]}'])
def test_what_was_kept_is_no_use_and_all_is_looked_at(place: Place, content: bytes) -> None:
    file = place.repository.common_dir / "covey/gitlinks-.git.json"
    file.parent.mkdir()
    file.write_bytes(content)
    tree = with_links(place, head_tree(place), two=True)
    assert find_gitlinks(place.repository, tree) == (b"two",)


def test_longer_ids_are_read_as_well(make_place: MakePlace) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.write("a", "a\n")
    place.commit()
    link = Entry(SUBMODULE, ObjectId("1" * 64))
    tree = edit_tree(place.repository, head_tree(place), [(RepoPath(b"sub"), link)])
    assert find_gitlinks(place.repository, tree) == (b"sub",)
