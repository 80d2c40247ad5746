"""Real git. The folder of all checkouts: there while it is needed, and no part of a repository around it."""

import os
import threading

import pytest

from merge.checkouts.children_place import NoPlace, claim_folder, forget_folder
from merge.store.repository import children_folder
from tests.merge.places import Place


@pytest.fixture
def inner(place: Place) -> Place:
    """A repository in the working tree of another, which is clean but for that."""
    root = place.root / "vendor/lib"
    root.mkdir(parents=True)
    inner = Place(root)
    inner.git("init", "-q", "--template=", "-b", "main")
    inner.write("lib.txt", "lib\n")
    inner.commit()
    return inner


def staged(place: Place) -> list[str]:
    """What `git add --all` would take."""
    return place.ask("add", "--all", "--dry-run").splitlines()


def test_a_repository_around_it_does_not_take_a_checkout_for_work(place: Place, inner: Place) -> None:
    before = staged(place)
    folder = claim_folder(inner.repository, "child")
    (folder / "README.md").write_text("a checkout\n")
    assert staged(place) == before == ["add 'vendor/lib/'"]
    assert place.ask("clean", "-n", "-d") == "", "nor for something to be cleared away"
    forget_folder(inner.repository, folder)
    assert not children_folder(inner.repository).exists()


def test_with_no_repository_around_it_holds_nothing_but_checkouts(place: Place) -> None:
    folder = claim_folder(place.repository, "child")
    assert os.listdir(folder.parent) == ["child"]
    forget_folder(place.repository, folder)
    assert not folder.parent.exists()


def test_it_stays_hidden_while_there_is_one_in_it(place: Place, inner: Place) -> None:
    one, other = (claim_folder(inner.repository, name) for name in ("one", "other"))
    forget_folder(inner.repository, one)
    assert staged(place) == ["add 'vendor/lib/'"]
    with pytest.raises(NoPlace, match="is there already"):
        claim_folder(inner.repository, "other")
    forget_folder(inner.repository, other)
    assert not other.parent.exists()


@pytest.mark.parametrize("is_one_there", [True, False])
def test_many_come_and_go_at_once(inner: Place, is_one_there: bool) -> None:
    faults: list[BaseException] = []
    resident = claim_folder(inner.repository, "resident") if is_one_there else None

    def come_and_go(number: int) -> None:
        try:
            for _ in range(40):
                folder = claim_folder(inner.repository, f"child-{number}")
                assert (folder.parent / ".gitignore").exists() or resident is None
                forget_folder(inner.repository, folder)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    if resident is not None:
        forget_folder(inner.repository, resident)
    assert not children_folder(inner.repository).exists()
