"""Real git, and laws. On generated trees a landing makes of the folder what git makes of it, and undo takes it back."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings

from merge.landings.landing import Conflicted, Landed, NothingToLand, land
from merge.landings.undo import Undone, undo_landing
from merge.merging.git_merge import merge_by_git
from merge.snapshots.snapshot import take_snapshot
from merge.store.objects import list_tree, read_blob
from merge.store.trees import EXECUTABLE, ObjectId
from tests.merge.landing_places import exact_state, own_files, untouched_state
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.merge_cases import Files, files_of
from tests.merge.places import Place
from tests.merge.small_trees import Model, store, three_trees


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A repository whose working tree is made anew for each example."""
    place = Place(tmp_path_factory.mktemp("workplace"))
    place.git("init", "-q", "--template=")
    return place


def put(place: Place, model: Model) -> None:
    """Let the working tree hold just the model."""
    for old in place.root.iterdir():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for path, (mode, lines) in model.items():
        place.write(path, "".join(lines), executable=mode == EXECUTABLE)


def files_in(place: Place, tree: ObjectId) -> Files:
    """The files of a stored tree, as `files_of` tells those of a folder."""
    entries = list_tree(place.repository, tree)
    return {
        path.decode(): (
            "executable" if entry.mode == EXECUTABLE else "file",
            read_blob(place.repository, entry.object),
        )
        for path, entry in entries.items()
    }


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(models=three_trees())
def test_a_landing_is_the_merge_of_git_and_its_undo_is_its_reverse(
    workplace: Place, models: tuple[Model, Model, Model]
) -> None:
    repository = workplace.repository
    base, _, theirs = (store(repository, model) for model in models)
    put(workplace, models[0])
    workplace.commit()
    put(workplace, models[1])
    before, untouched = exact_state(workplace.root), untouched_state(workplace)
    by_git = merge_by_git(repository, base, take_snapshot(repository).tree, theirs)

    landing = land(repository, child="c", checkout="/c", base=base, result=theirs)

    if by_git.is_clean:
        assert isinstance(landing, Landed | NothingToLand)
        assert files_of(workplace.root) == files_in(workplace, by_git.tree)
    else:
        assert isinstance(landing, Conflicted)
        assert exact_state(workplace.root) == before
    if isinstance(landing, Landed):
        assert isinstance(undo_landing(repository, landing.landing), Undone)
        assert exact_state(workplace.root) == before
    assert untouched_state(workplace) == untouched
    assert own_files(workplace) == []
