"""Real git. Whatever a person writes while a landing runs, at the worst moment, is never lost."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from merge.files import renaming
from merge.landings.candidates import ATTEMPTS
from merge.landings.landing import AnyLanding, Held, Landed, NothingToLand, land
from merge.landings.recovery import recover_landings
from tests.merge.landing_places import (
    CHECKOUT,
    Wanted,
    exact_state,
    head_tree,
    own_files,
    result_of,
    script,
    untouched_state,
)
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.places import Place

LINES = [f"line {number}\n" for number in range(1, 21)]


def text(number: int, line: str) -> bytes:
    return "".join([*LINES[: number - 1], line + "\n", *LINES[number:]]).encode()


def land_while(
    place: Place, files: Mapping[str, Wanted], change: str, act: Callable[[], None], *, times: int = 1
) -> AnyLanding:
    """Land, and `act` right before the first `times` changes of that name are made to the disk."""
    base = head_tree(place)
    left = times

    def tell(heard: str) -> None:
        nonlocal left
        if heard == change and left > 0:
            left -= 1
            act()

    return land(
        place.repository,
        child="c1",
        checkout=CHECKOUT,
        base=base,
        result=result_of(place, base, files),
        tell=tell,
    )


@pytest.fixture(params=["swaps", "no swaps"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With names that can be swapped, and as on a system where they can't."""
    if request.param == "no swaps":
        monkeypatch.setattr(renaming, "_renameat2", lambda: None)
    return str(request.param)


def save_in_place(file: Path, data: bytes) -> None:
    """As `echo >> file` does: the same file, written to."""
    with file.open("r+b") as opened:
        opened.write(data)
        opened.truncate()


def save_by_rename(file: Path, data: bytes) -> None:
    """As most editors do: another file in its place."""
    new = file.with_name(file.name + "~")
    new.write_bytes(data)
    new.replace(file)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
@pytest.mark.parametrize("moment", ["write new files", "write journal", "take file away", "swap files"])
def test_a_file_saved_while_it_lands_is_merged_anew(
    place: Place, save: Callable[[Path, bytes], None], moment: str
) -> None:
    files = {"src/app.py": text(15, "the child's"), "README.md": None, "new.txt": b"new\n"}

    landing = land_while(
        place, files, moment, lambda: save(place.root / "src/app.py", text(2, "saved just now"))
    )

    assert isinstance(landing, Landed)
    saved = text(2, "saved just now").replace(b"line 15\n", b"the child's\n")
    assert place.read("src/app.py") == saved
    assert place.read("new.txt") == b"new\n"
    assert not (place.root / "README.md").exists()
    assert own_files(place) == []


def test_a_file_saved_at_the_very_last_moment_is_put_back_at_once(place: Place) -> None:
    changes: list[str] = []
    base = head_tree(place)

    def tell(change: str) -> None:
        if change == "swap files" and "swap files" not in changes:
            save_by_rename(place.root / "README.md", b"# Saved\n")
        changes.append(change)

    result = result_of(place, base, {"README.md": b"# The child's\n", "src/app.py": text(15, "the child's")})
    land(place.repository, child="c", checkout="/c", base=base, result=result, tell=tell)

    first = changes.index("swap files")
    assert changes[first : first + 2] == ["swap files", "swap files back"]
    assert place.read("README.md") == b"# Saved\n"


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("moment", ["write new files", "take file away", "put new file"])
def test_a_file_saved_where_the_child_deletes_it_is_not_deleted(place: Place, moment: str) -> None:
    files = {"README.md": None, "src/app.py": text(15, "the child's"), "new.txt": b"new\n"}

    landing = land_while(place, files, moment, lambda: save_by_rename(place.root / "README.md", b"# Saved\n"))

    assert place.read("README.md") == b"# Saved\n"
    if moment == "put new file":
        assert isinstance(landing, Landed)  # It was gone already: what the person made is a file of its own.
    else:
        assert not isinstance(landing, Landed)
        assert place.read("src/app.py") == "".join(LINES).encode()
        assert not (place.root / "new.txt").exists()


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("moment", ["write new files", "make folder", "put new file"])
def test_a_file_made_where_the_child_adds_one_is_not_overwritten(place: Place, moment: str) -> None:
    files = {"new/file.txt": b"the child's\n", "src/app.py": text(15, "the child's")}
    before = exact_state(place.root)

    landing = land_while(place, files, moment, lambda: _ignore(place.write("new/file.txt", "mine\n")))

    assert not isinstance(landing, Landed)
    assert place.read("new/file.txt") == b"mine\n"
    after = exact_state(place.root)
    assert {path: seen for path, seen in after.items() if not path.startswith("new")} == before


def _ignore(_: object) -> None:
    pass


@pytest.mark.usefixtures("either_way")
def test_a_program_that_goes_on_writing_to_the_old_file_is_heard(place: Place) -> None:
    """It holds the file open, so that what it writes goes to the file that was just swapped out."""
    (place.root / "z.txt").write_bytes(text(1, "one"))
    place.commit()
    files = {"src/app.py": text(15, "the child's"), "z.txt": text(1, "uno")}
    with (place.root / "src/app.py").open("r+b") as opened:
        swapped = 0

        def write_after_the_swap() -> None:
            nonlocal swapped
            swapped += 1
            if swapped == 2:
                opened.write(text(2, "written late"))
                opened.flush()

        landing = land_while(place, files, "swap files", write_after_the_swap, times=2)

    assert isinstance(landing, Landed)
    assert place.read("src/app.py") == text(2, "written late").replace(b"line 15\n", b"the child's\n")


def test_what_is_written_to_the_old_file_after_everything_is_kept_and_told(place: Place) -> None:
    with (place.root / "src/app.py").open("r+b") as opened:

        def write() -> None:
            opened.write(text(2, "written last"))
            opened.flush()

        landing = land_while(place, {"src/app.py": text(15, "the child's")}, "record landing", write)

    assert isinstance(landing, Landed)
    [note] = landing.notes
    kept = Path(note.removesuffix(" was written to by another program at the last moment and kept"))
    assert kept.read_bytes() == text(2, "written last")
    assert place.read("src/app.py") == text(15, "the child's")


@pytest.mark.usefixtures("either_way")
def test_a_file_that_changes_every_time_holds_the_landing(place: Place) -> None:
    saves = iter(range(100))

    def save() -> None:
        save_by_rename(place.root / "src/app.py", text(2, f"save {next(saves)}"))

    landing = land_while(place, {"src/app.py": text(15, "the child's")}, "swap files", save, times=100)

    assert landing == Held(CHECKOUT, "src/app.py kept changing while it was merged")
    assert place.read("src/app.py") == text(2, f"save {ATTEMPTS - 1}")
    assert own_files(place) == []


@pytest.mark.usefixtures("either_way")
def test_a_folder_swapped_for_a_link_while_it_lands_leads_nowhere(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_bytes(text(1, "line 1"))

    def swap() -> None:
        (place.root / "src").rename(place.root / "moved")
        (place.root / "src").symlink_to(outside)

    landing = land_while(place, {"src/app.py": text(15, "the child's")}, "swap files", swap)

    assert not isinstance(landing, Landed) or (place.root / "moved/app.py").read_bytes() == text(
        15, "the child's"
    )
    assert (outside / "app.py").read_bytes() == text(1, "line 1")
    assert os.listdir(outside) == ["app.py"]


def test_a_disk_that_refuses_midway_leaves_the_tree_as_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, untouched = exact_state(place.root), untouched_state(place)

    def refuse() -> None:
        def fail(*_: object) -> bool:
            raise OSError(28, os.strerror(28), "new.txt")

        monkeypatch.setattr("merge.files.working_files.move_name", fail)

    landing = land_while(
        place,
        {"src/app.py": text(15, "the child's"), "z.txt": b"z\n", "zz/c.txt": b"c\n"},
        "swap files",
        refuse,
    )

    monkeypatch.undo()
    assert landing == Held(CHECKOUT, "new.txt: No space left on device")
    assert exact_state(place.root) == before
    assert untouched_state(place) == untouched
    assert own_files(place) == []


def test_a_disk_that_refuses_to_clear_away_does_not_undo_what_has_landed(place: Place) -> None:
    def refuse() -> None:
        raise OSError(5, os.strerror(5))

    landing = land_while(place, {"src/app.py": text(15, "the child's")}, "remove journal", refuse)

    assert landing == Landed("1", ("src/app.py",))
    assert own_files(place) != []
    [recovered] = recover_landings(place.repository)
    assert recovered.completed
    assert place.read("src/app.py") == text(15, "the child's")
    assert own_files(place) == []


def test_a_landing_that_cannot_be_recorded_does_not_happen(place: Place) -> None:
    before = exact_state(place.root)
    place.git("update-ref", "refs/covey/landings/1/more", "HEAD")  # a folder where the ref would have to be

    landing = land_while(place, {"src/app.py": text(15, "the child's"), "new": b"new\n"}, "", lambda: None)

    assert isinstance(landing, Held)
    assert "refs/covey/landings/1" in landing.reason
    assert exact_state(place.root) == before
    assert own_files(place) == []


def test_a_mode_that_the_disk_has_already_leaves_nothing_to_do(place: Place) -> None:
    place.git("config", "core.fileMode", "false")
    (place.root / "README.md").chmod(0o755)
    assert land_while(place, {"README.md": script(b"# A project\n")}, "", lambda: None) == NothingToLand()
    assert own_files(place) == []
