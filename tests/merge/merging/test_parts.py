"""Real git. A change that reaches into submodules lands in all of them or in none, and is taken back as a whole."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from merge.checkouts.checkout import Checkout
from merge.checkouts.result import take_result
from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand, land
from merge.landings.landing_records import read_records
from merge.landings.recovery import recover_landings
from merge.landings.undo import UndoConflicted, Undone, list_landings, undo_landing
from merge.landings.weighing import Clear, Decision, Open, fix_decision, look_ahead
from merge.merging.git_merge import merge_by_git
from merge.merging.line_diff import find_edits, unified_diff
from merge.merging.overlaps import AtWork, find_overlap
from merge.merging.parts import changed_within, divide
from merge.merging.resolving import Content
from merge.snapshots.snapshot import take_snapshot
from merge.store.commits import write_commit
from merge.store.objects import edit_tree
from merge.store.trees import EXECUTABLE, SUBMODULE, Entry, RepoPath
from tests.merge.landing_places import exact_state, own_files, untouched_state
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.landings.test_recovery import frozen_at_each_change, thaw
from tests.merge.merge_cases import files_of
from tests.merge.nested_places import LINES, Nest, make_nest
from tests.merge.places import MakeCheckout, MakePlace, Place
from tests.merge.small_trees import Model, store, three_trees
from tests.merge.test_landing_laws import files_in, put

LIB, CORE = RepoPath(b"libs/one"), RepoPath(b"libs/one/deep")


@pytest.fixture
def nest(make_place: MakePlace) -> Nest:
    nest = make_nest(make_place)
    # The person is at work in each of them.
    for place, name in ((nest.outer, "main.c"), (nest.lib, "lib.c"), (nest.core, "core.c")):
        place.write(name, LINES.replace("line 19\n", "the person's\n"))
        place.write("mine.txt", "the person's\n")
    return nest


def edited(line: int, text: str, *, of: str = LINES) -> str:
    return of.replace(f"line {line}\n", f"{text}\n")


def dirty(line: int, text: str) -> str:
    """What the person has, with one line of a child's."""
    return edited(line, text, of=edited(19, "the person's"))


def edit_everywhere(checkout: Checkout, line: int = 2, text: str = "the child's") -> None:
    child = Place(Path(checkout.path))
    child.write("main.c", dirty(line, text))
    child.write("libs/one/lib.c", dirty(line, text))
    child.write("libs/one/deep/core.c", dirty(line, text))
    child.write("libs/one/deep/new/file.c", "new\n", executable=True)
    (child.root / "libs/one/inc/lib.h").unlink()


EVERYWHERE = (
    "libs/one/deep/core.c",
    "libs/one/deep/new/file.c",
    "libs/one/inc/lib.h",
    "libs/one/lib.c",
    "main.c",
)


def land_it(nest: Nest, checkout: Checkout, **more: object) -> AnyLanding:
    result = take_result(nest.outer.repository, checkout)
    return land(
        nest.outer.repository,
        child=checkout.name,
        checkout=checkout.path,
        base=checkout.base,
        result=result.tree,
        **more,  # pyright: ignore[reportArgumentType]
    )


def states(nest: Nest) -> tuple[object, ...]:
    """Everything in the working tree, and all that may not be touched in any of the repositories."""
    untouched = [untouched_state(place) for place in (nest.outer, nest.lib, nest.core)]
    repositories = [
        {path: data for path, data in state.items() if "/objects/" not in path and "/covey/" not in path}
        for state in untouched
    ]
    return exact_state(nest.outer.root), repositories


def test_it_lands_in_all_of_them_beside_what_the_person_does(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    # Saved while the child works, in other lines of the same files.
    for place, name in ((nest.lib, "lib.c"), (nest.core, "core.c")):
        place.write(name, dirty(10, "saved later"))
    _, before = states(nest)
    landing = land_it(nest, checkout)
    assert isinstance(landing, Landed), landing
    assert tuple(sorted(landing.paths)) == EVERYWHERE
    assert nest.outer.read("main.c") == dirty(2, "the child's").encode()
    both = edited(2, "the child's", of=dirty(10, "saved later")).encode()
    assert (nest.lib.read("lib.c"), nest.core.read("core.c")) == (both, both)
    assert nest.core.read("new/file.c") == b"new\n"
    assert (nest.core.root / "new/file.c").stat().st_mode & 0o111
    assert not (nest.lib.root / "inc").exists()
    for place in (nest.outer, nest.lib, nest.core):
        assert place.read("mine.txt") == b"the person's\n"
    # No index, HEAD, branch or setting of any of them has changed, and no commit was made that one can see.
    assert states(nest)[1] == before
    assert all(name.startswith("checkouts/") for name in own_files(nest.outer))


def test_it_lands_in_repositories_that_no_gitmodules_names(nest: Nest, checkouts: MakeCheckout) -> None:
    """As when a folder with a `.git` of its own was added by hand: nothing but its commit tells of it."""
    for place in (nest.lib, nest.outer):
        place.git("rm", "-q", "--cached", ".gitmodules")
        (place.root / ".gitmodules").unlink()
        place.git("commit", "-q", "-m", "no names")
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    landing = land_it(nest, checkout)
    assert isinstance(landing, Landed), landing
    assert tuple(sorted(landing.paths)) == EVERYWHERE
    assert nest.core.read("core.c") == dirty(2, "the child's").encode()
    assert isinstance(undo_landing(nest.outer.repository), Undone)
    assert nest.core.read("core.c") == dirty(0, "").encode()


def test_it_is_taken_back_in_all_of_them(nest: Nest, checkouts: MakeCheckout) -> None:
    before = states(nest)
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    landing = land_it(nest, checkout)
    assert isinstance(landing, Landed)
    (summary,) = list_landings(nest.outer.repository)
    assert summary.paths == EVERYWHERE
    for place in (nest.core, nest.lib, nest.outer):
        place.git("gc", "-q", "--prune=now")
    undone = undo_landing(nest.outer.repository)
    assert isinstance(undone, Undone), undone
    assert tuple(sorted(undone.paths)) == EVERYWHERE
    assert states(nest)[0] == before[0]
    again = undo_landing(nest.outer.repository, undone.undo)
    assert isinstance(again, Undone), again
    assert nest.core.read("core.c") == dirty(2, "the child's").encode()


def test_an_undo_that_conflicts_in_a_submodule_changes_nothing(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    land_it(nest, checkout)
    nest.core.write("core.c", dirty(2, "the person's own"))
    before = states(nest)
    undone = undo_landing(nest.outer.repository)
    assert isinstance(undone, UndoConflicted), undone
    assert undone.conflicts == ("libs/one/deep/core.c: both changed it",)
    assert states(nest) == before


@pytest.mark.parametrize("where", ["main.c", "libs/one/lib.c", "libs/one/deep/core.c"])
def test_a_conflict_in_any_of_them_changes_none(nest: Nest, checkouts: MakeCheckout, where: str) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    nest.outer.write(where, dirty(2, "saved later"))
    before = states(nest)
    landing = land_it(nest, checkout)
    assert isinstance(landing, Conflicted), landing
    assert landing.conflicts == (f"{where}: both changed it",)
    assert states(nest) == before


def test_a_file_in_the_way_in_a_submodule_is_a_conflict(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    nest.core.write("new", "a file where a folder would be\n")
    before = states(nest)
    landing = land_it(nest, checkout)
    assert isinstance(landing, Conflicted), landing
    assert landing.conflicts[0].startswith("libs/one/deep/new")
    assert states(nest) == before


def test_a_rename_in_the_submodule_takes_the_childs_edit(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    (nest.lib.root / "lib.c").rename(nest.lib.root / "renamed.c")
    landing = land_it(nest, checkout)
    assert isinstance(landing, Landed), landing
    assert nest.lib.read("renamed.c") == dirty(2, "the child's").encode()
    assert any(note.startswith("in libs/one: renamed.c took an edit") for note in landing.notes)


def test_choices_decide_conflicts_in_submodules(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    for place, name in ((nest.outer, "main.c"), (nest.lib, "lib.c"), (nest.core, "core.c")):
        place.write(name, dirty(2, "saved later"))
    choices = {
        RepoPath(b"main.c"): "ours",
        RepoPath(b"libs/one/lib.c"): "theirs",
        RepoPath(b"libs/one/deep/core.c"): Content(b"of both\n"),
    }
    landing = land_it(nest, checkout, choices=choices)
    assert isinstance(landing, Landed), landing
    assert nest.outer.read("main.c") == dirty(2, "saved later").encode()
    assert nest.lib.read("lib.c") == dirty(2, "the child's").encode()
    assert nest.core.read("core.c") == b"of both\n"
    assert nest.core.read("new/file.c") == b"new\n"


def test_a_look_ahead_and_a_decision_reach_into_submodules(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    repository = nest.outer.repository
    edit_everywhere(checkout)
    result = take_result(repository, checkout)
    found = look_ahead(repository, checkout.base, result.tree, {})
    assert isinstance(found, Clear)
    assert tuple(sorted(change.path.decode() for change in found.ready.changes)) == EVERYWHERE

    nest.lib.write("lib.c", dirty(2, "saved later"))
    nest.core.write("core.c", dirty(2, "saved later"))
    before = states(nest)
    found = look_ahead(repository, checkout.base, result.tree, {})
    assert isinstance(found, Open)
    assert [conflict.path for conflict in found.conflicts] == [b"libs/one/lib.c", b"libs/one/deep/core.c"]
    for conflict in found.conflicts:  # what a reader opens is there
        for entry in (conflict.base, conflict.ours, conflict.theirs):
            assert entry is not None
            nest.outer.git("cat-file", "blob", entry.object)
    first = {RepoPath(b"libs/one/lib.c"): Content(b"decided\n")}
    still_open = fix_decision(repository, checkout.base, found.clashed, first)
    assert not isinstance(still_open, Decision)
    assert [conflict.path for conflict in still_open] == [b"libs/one/deep/core.c"]
    decision = fix_decision(
        repository, checkout.base, found.clashed, {**first, RepoPath(b"libs/one/deep/core.c"): "union"}
    )
    assert isinstance(decision, Decision)
    assert states(nest) == before
    landing = land(repository, child="c", checkout="/c", base=decision.base, result=decision.result)
    assert isinstance(landing, Landed), landing
    assert tuple(sorted(landing.paths)) == EVERYWHERE
    assert nest.lib.read("lib.c") == b"decided\n"
    assert b"saved later\nthe child's\n" in nest.core.read("core.c")


def test_a_rebase_in_a_submodule_holds_the_landing(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    (nest.core.repository.git_dir / "rebase-merge").mkdir()
    landing = land_it(nest, checkout)
    assert isinstance(landing, Held), landing
    assert landing.reason == "a rebase is in progress in libs/one/deep; finish or abort it first"


def test_a_submodule_that_is_not_populated_any_more_holds_the_landing(
    nest: Nest, checkouts: MakeCheckout
) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    for place in (nest.core, nest.lib):
        place.git("stash", "-q", "--include-untracked")
    nest.outer.git("submodule", "--quiet", "deinit", "--force", "libs/one")
    before = states(Nest(nest.outer, nest.outer, nest.outer))
    landing = land_it(nest, checkout)
    assert isinstance(landing, Held), landing
    assert "libs/one is a submodule" in landing.reason
    assert "git submodule update --init" in landing.reason
    assert states(Nest(nest.outer, nest.outer, nest.outer)) == before
    nest.outer.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive"
    )
    assert isinstance(land_it(nest, checkout), Landed)


def test_a_commit_and_a_switch_in_the_submodule_meanwhile(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    nest.lib.git("checkout", "-q", "-b", "topic")
    nest.lib.commit("the person's work")
    head = nest.lib.ask("rev-parse", "HEAD")
    assert isinstance(land_it(nest, checkout), Landed)
    assert (nest.lib.ask("rev-parse", "HEAD"), nest.lib.ask("branch", "--show-current")) == (head, "topic")
    assert nest.lib.read("lib.c") == dirty(2, "the child's").encode()


def test_what_the_parent_has_already_is_nothing_to_land(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    assert isinstance(land_it(nest, checkout), Landed)
    assert land_it(nest, checkout) == NothingToLand()
    assert len(read_records(nest.outer.repository)) == 1


def test_children_of_one_submodule_land_one_after_the_other(nest: Nest, checkouts: MakeCheckout) -> None:
    one, other = checkouts(nest.outer, "one"), checkouts(nest.outer, "other")
    Place(Path(one.path)).write("libs/one/lib.c", dirty(2, "one"))
    Place(Path(other.path)).write("libs/one/lib.c", dirty(10, "other"))
    assert isinstance(land_it(nest, one), Landed)
    assert isinstance(land_it(nest, other), Landed)
    assert nest.lib.read("lib.c") == edited(10, "other", of=dirty(2, "one")).encode()


def test_only_a_submodule_two_levels_down_is_changed(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    Place(Path(checkout.path)).write("libs/one/deep/core.c", dirty(2, "the child's"))
    landing = land_it(nest, checkout)
    assert isinstance(landing, Landed), landing
    assert landing.paths == ("libs/one/deep/core.c",)
    assert isinstance(undo_landing(nest.outer.repository), Undone)
    assert nest.core.read("core.c") == edited(19, "the person's").encode()


def test_line_endings_and_filters_are_those_of_the_submodule(nest: Nest, checkouts: MakeCheckout) -> None:
    nest.core.write(".gitattributes", "*.crlf text eol=crlf\n*.up filter=up\n")
    nest.core.git("config", "filter.up.smudge", "tr a-z A-Z")
    nest.core.git("config", "filter.up.clean", "tr A-Z a-z")
    checkout = checkouts(nest.outer)
    child = Place(Path(checkout.path))
    child.write("libs/one/deep/a.crlf", "one\ntwo\n")
    child.write("libs/one/deep/a.up", "LOUD\n")
    child.write("a.crlf", "one\n")
    assert isinstance(land_it(nest, checkout), Landed)
    assert nest.core.read("a.crlf") == b"one\r\ntwo\r\n"
    assert nest.core.read("a.up") == b"LOUD\n"
    assert nest.outer.read("a.crlf") == b"one\n"


def test_own_state_of_covey_in_a_submodule_does_not_land(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    inner = divide(nest.outer.repository, checkout.base, checkout.base)
    assert [part.path for part in inner] == [b""]
    child = Place(Path(checkout.path))
    child.write("libs/one/.covey/sessions/x", "covey's\n")
    child.write("libs/one/.covey/check.toml", "the project's\n")
    landing = land_it(nest, checkout)
    assert isinstance(landing, Landed), landing
    assert landing.paths == ("libs/one/.covey/check.toml",)


def test_what_changed_is_shown_file_by_file(nest: Nest, checkouts: MakeCheckout) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    repository = nest.outer.repository
    result = take_result(repository, checkout)
    changes = changed_within(repository, checkout.base, result.tree)
    assert tuple(change.path.decode() for change in changes) == EVERYWHERE
    versions = [
        (change.before and change.before.object, change.after and change.after.object) for change in changes
    ]
    assert [len(edits) for edits in find_edits(repository, versions)] == [1, 1, 1, 1, 1]
    diff = unified_diff(repository, checkout.base, result.tree).decode()
    assert "--- a/libs/one/deep/core.c\n+++ b/libs/one/deep/core.c\n" in diff
    assert "Subproject" not in diff
    nest.outer.git("apply", "--check", feed=diff.encode())


def test_siblings_overlap_in_a_submodule_only_where_they_do(nest: Nest, checkouts: MakeCheckout) -> None:
    def at_work(name: str, path: str, text: str) -> AtWork:
        checkout = checkouts(nest.outer, name)
        Place(Path(checkout.path)).write(path, text)
        result = take_result(nest.outer.repository, checkout)
        return AtWork(checkout.base, result.tree, result.changes)

    one = at_work("one", "libs/one/deep/core.c", dirty(2, "one"))
    same = at_work("same", "libs/one/deep/core.c", dirty(2, "same"))
    far = at_work("far", "libs/one/deep/core.c", dirty(12, "far"))
    beside = at_work("beside", "libs/one/lib.c", dirty(2, "beside"))
    assert find_overlap(nest.outer.repository, one, same) == (b"libs/one/deep/core.c",)
    assert find_overlap(nest.outer.repository, one, far) == ()
    assert find_overlap(nest.outer.repository, one, beside) == ()


@pytest.mark.parametrize("act", ["land", "undo"])
def test_killed_at_any_change_it_is_made_whole_or_undone_in_all_of_them(
    nest: Nest, checkouts: MakeCheckout, tmp_path: Path, act: str
) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    result = take_result(nest.outer.repository, checkout)
    start = exact_state(nest.outer.root)

    def land_telling(tell: Callable[[str], None]) -> object:
        return land(
            nest.outer.repository,
            child="c",
            checkout="/c",
            base=checkout.base,
            result=result.tree,
            tell=tell,
        )

    def undo_telling(tell: Callable[[str], None]) -> object:
        return undo_landing(nest.outer.repository, tell=tell)

    if act == "undo":
        land_telling(lambda _: None)
        start = exact_state(nest.outer.root)
    doing = land_telling if act == "land" else undo_telling
    frozen = frozen_at_each_change(nest.outer, tmp_path / "copies", doing)
    end = exact_state(nest.outer.root)
    assert start != end
    seen: set[bool] = set()
    # An undo is itself a landing, so every second step of it is enough.
    for copy in frozen if act == "land" else frozen[::2]:
        thaw(nest.outer, copy)
        recovered = recover_landings(nest.outer.repository)
        state = exact_state(nest.outer.root)
        assert state in (start, end)
        seen.add(state == end)
        assert all(found.completed == (state == end) for found in recovered)
        assert [name for name in own_files(nest.outer) if not name.startswith("checkouts/")] == []
        if state == end and act == "land":
            assert isinstance(undo_landing(nest.outer.repository), Undone)
    assert seen == {True, False}
    shutil.rmtree(tmp_path / "copies", ignore_errors=True)


def test_a_submodule_that_is_gone_when_a_landing_is_completed(
    nest: Nest, checkouts: MakeCheckout, tmp_path: Path
) -> None:
    checkout = checkouts(nest.outer)
    edit_everywhere(checkout)
    frozen = frozen_at_each_change(
        nest.outer, tmp_path / "copies", lambda tell: land_it(nest, checkout, tell=tell)
    )
    thaw(nest.outer, frozen[-4])
    shutil.rmtree(nest.core.repository.git_dir)
    (recovered,) = recover_landings(nest.outer.repository)
    assert recovered.completed
    assert nest.core.read("core.c") == dirty(2, "the child's").encode()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Place]:
    """A repository and its submodule `sub`, whose working trees are made anew for each example."""
    outer = Place(tmp_path_factory.mktemp("outer"))
    outer.git("init", "-q", "--template=")
    outer.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./\n')
    inner = Place(outer.root / "sub")
    inner.root.mkdir()
    inner.git("init", "-q", "--template=")
    return outer, inner


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(outside=three_trees(), within=three_trees())
def test_a_landing_is_the_merge_of_git_in_each_repository_or_nothing(
    workplace: tuple[Place, Place],
    outside: tuple[Model, Model, Model],
    within: tuple[Model, Model, Model],
) -> None:
    outer, inner = workplace

    def state() -> dict[str, tuple[int, bytes]]:
        whole = exact_state(outer.root)
        return {path: found for path, found in whole.items() if not path.startswith("sub/.git")}

    repository = outer.repository
    put(inner, within[0])
    commits = [
        write_commit(inner.repository, store(inner.repository, model), None, "x", seconds=0)
        for model in within
    ]
    base, theirs = (
        edit_tree(
            repository,
            store(repository, outside[side]),
            [(RepoPath(b"sub"), Entry(SUBMODULE, commits[side]))],
        )
        for side in (0, 2)
    )
    for old in outer.root.iterdir():
        if old.name not in (".git", ".gitmodules", "sub"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for path, (mode, lines) in outside[1].items():
        outer.write(path, "".join(lines), executable=mode == EXECUTABLE)
    put(inner, within[1])
    before = state()
    own = divide(repository, base, theirs)[0]
    by_git = [
        merge_by_git(repository, own.base, take_snapshot(repository, submodules=False).tree, own.theirs),
        *(
            merge_by_git(inner.repository, part.base, take_snapshot(part.repository).tree, part.theirs)
            for part in divide(repository, base, theirs)[1:]
        ),
    ]

    landing = land(repository, child="c", checkout="/c", base=base, result=theirs)

    if all(merge.is_clean for merge in by_git):
        assert isinstance(landing, Landed | NothingToLand), landing
        if len(by_git) == 2:
            assert files_of(inner.root) == files_in(inner, by_git[1].tree)
        merged = files_in(outer, edit_tree(repository, by_git[0].tree, [(RepoPath(b"sub"), None)]))
        found = {path: file for path, file in files_of(outer.root).items() if not path.startswith("sub/")}
        assert found == merged
    else:
        assert isinstance(landing, Conflicted), landing
        assert state() == before
    if isinstance(landing, Landed):
        assert isinstance(undo_landing(repository, landing.landing), Undone)
        assert state() == before
    assert own_files(outer) == []
