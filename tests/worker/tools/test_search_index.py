"""Real files and processes. A slow place is indexed by names, and what the index says is looked at on the disk."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.tools.test_search import lines, make
from worker.name_index import NameIndexes
from worker.tools.name_filter import NameFilter
from worker.tools.search_query import SearchArguments
from worker.workspace import Workspace

FILES: dict[str, str | bytes] = {
    "q3 report.pdf": "x",
    "Report of Q3.txt": "x",
    "deep/er/report q3.md": "x",
    "deep/node_modules/report q3.js": "x",
    "deep/.git/report q3": "x",
    "deep/ignored report q3.log": "x",
    "deep/.gitignore": "*.log\n",
    "odd\nreport\nq3": "x",
    "other.txt": "x",
}


def wait_made() -> None:
    """Wait until no index is being made."""
    for thread in threading.enumerate():
        if thread.name.startswith("index of "):
            thread.join()


@pytest.fixture
def names(tmp_path: Path) -> Iterator[NameIndexes]:
    names = NameIndexes(tmp_path / "cache" / "names", after_seconds=0, fresh_seconds=3600)
    yield names
    wait_made()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A place outside of the workspace."""
    place = tmp_path.resolve() / "disk"
    make(place, FILES)
    (place / "link to q3 report").symlink_to("other.txt")
    (place / "circle").symlink_to("circle")
    return place


@pytest.fixture
def workspace(tmp_path: Path, place: Path, names: NameIndexes) -> Workspace:
    root = tmp_path.resolve() / "work"
    make(root, {"q3 report.txt": "x"})
    return Workspace(root, tmp_path / "logs", names=names)


def asked(place: Path, **more: object) -> SearchArguments:
    return SearchArguments(name="Q3 report", path=str(place), **more)  # pyright: ignore[reportArgumentType]


async def found(workspace: Workspace, arguments: SearchArguments) -> tuple[list[str], list[str]]:
    """The files of an answer, sorted, and its notes."""
    told = await lines(workspace, arguments)
    return sorted(line for line in told if not line.startswith("[")), [
        line for line in told if line[0] == "["
    ]


async def test_a_second_search_is_answered_from_the_index_and_says_so(
    workspace: Workspace, place: Path, names: NameIndexes
) -> None:
    walked, notes = await found(workspace, asked(place))
    assert not any("index" in note for note in notes)
    wait_made()
    answered, (note,) = await found(workspace, asked(place))
    assert note.startswith(f"[From an index of {place}, 0 s old:")
    assert "made anew" not in note
    # The one difference: an index knows no ignore files.
    assert set(answered) - set(walked) == {f"{place}/deep/ignored report q3.log"}
    assert set(walked) <= set(answered)
    assert len(answered) == 6


async def test_build_folders_are_in_the_answer_when_they_are_asked_for_and_histories_never(
    workspace: Workspace, place: Path, names: NameIndexes
) -> None:
    names.make(str(place))
    wait_made()
    answered, _ = await found(workspace, asked(place, no_ignore=True))
    assert f"{place}/deep/node_modules/report q3.js" in answered
    assert not any("/.git/" in path for path in answered)


async def test_every_hit_is_looked_at_on_the_disk(
    workspace: Workspace, place: Path, names: NameIndexes
) -> None:
    names.make(str(place))
    wait_made()
    (place / "q3 report.pdf").unlink()
    (place / "Report of Q3.txt").unlink()
    (place / "Report of Q3.txt").mkdir()
    make(place, {"new q3 report": "x"})
    answered, _ = await found(workspace, asked(place))
    assert not {f"{place}/q3 report.pdf", f"{place}/Report of Q3.txt", f"{place}/new q3 report"} & set(
        answered
    )


async def test_an_old_index_answers_and_is_made_anew_for_the_next(
    workspace: Workspace, place: Path, names: NameIndexes
) -> None:
    names.make(str(place))
    wait_made()
    names.fresh_seconds = -1
    make(place, {"new q3 report": "x"})
    old, (note,) = await found(workspace, asked(place))
    assert f"{place}/new q3 report" not in old
    assert "It is being made anew now." in note
    wait_made()
    new, _ = await found(workspace, asked(place))
    assert f"{place}/new q3 report" in new


async def test_an_index_answers_for_what_is_below_its_folder(
    workspace: Workspace, place: Path, names: NameIndexes
) -> None:
    names.make(str(place))
    wait_made()
    below, (note,) = await found(workspace, asked(place / "deep"))
    assert below == [f"{place}/deep/er/report q3.md", f"{place}/deep/ignored report q3.log"]
    assert f"index of {place}," in note
    assert (await found(workspace, asked(place / "deep", depth=1)))[0] == [
        f"{place}/deep/ignored report q3.log"
    ]
    globbed, _ = await found(workspace, SearchArguments(glob="*.md", path=[str(place), str(place / "deep")]))
    assert globbed == [f"{place}/deep/er/report q3.md"]


@pytest.mark.parametrize(
    "arguments",
    [
        SearchArguments(name="q3"),
        SearchArguments(name="q3", pattern="x", path=".."),
        SearchArguments(newer="90000d", path=".."),
        SearchArguments(name="q3", path=[".", "../disk"]),
        SearchArguments(name="q3", path="../disk/other.txt"),
    ],
)
async def test_what_no_index_is_for_is_walked(
    workspace: Workspace, place: Path, names: NameIndexes, arguments: SearchArguments
) -> None:
    names.make(str(place))
    names.make(str(workspace.root))
    wait_made()
    _, notes = await found(workspace, arguments)
    assert not any("From an index" in note for note in notes)


async def test_a_search_that_was_fast_has_nothing_indexed(
    workspace: Workspace, place: Path, names: NameIndexes, tmp_path: Path
) -> None:
    names.after_seconds = 3600
    await found(workspace, asked(place))
    wait_made()
    assert not (tmp_path / "cache").exists()


async def test_an_index_that_is_broken_or_of_another_folder_is_none(
    workspace: Workspace, place: Path, names: NameIndexes, tmp_path: Path
) -> None:
    names.after_seconds = 3600
    names.make(str(place))
    wait_made()
    (index,) = (tmp_path / "cache" / "names").glob("*.names")
    index.write_bytes(b"broken")
    walked, notes = await found(workspace, asked(place))
    assert len(walked) == 5
    assert not any("From an index" in note for note in notes)


async def test_a_cache_that_cant_be_written_costs_the_index_alone(place: Path, workspace: Workspace) -> None:
    names = NameIndexes(place / "other.txt" / "names", after_seconds=0, fresh_seconds=1)
    walked, _ = await found(replace(workspace, names=names), asked(place))
    wait_made()
    assert len(walked) == 5
    assert names.find(str(place)) is None


@given(st.lists(st.text(st.characters(codec="ascii"), min_size=1, max_size=6), min_size=1, max_size=3))
def test_a_widened_glob_is_an_expression_that_finds_what_it_names(words: list[str]) -> None:
    """Of every file whose name holds the words, the index's expression finds the name."""
    import re

    from worker.tools.search_index import expression

    names = NameFilter(words, ())
    name = "".join(words).replace("/", "-").replace("\0", "0")
    if names.fits(name):
        assert re.search(expression(names.type_globs()), f"/{name}")


def test_names_that_are_no_text_are_indexed(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/disk"
    os.mkdir(folder)  # noqa: PTH102
    with open(folder + b"/caf\xe9", "wb"):  # noqa: PTH123
        pass
    names = NameIndexes(tmp_path / "names", after_seconds=0, fresh_seconds=1)
    names.make(str(tmp_path / "disk"))
    wait_made()
    index = names.find(str(tmp_path / "disk"))
    assert index is not None
    assert index.path.read_bytes().partition(b"\n")[2] == folder + b"/caf\xe9\0"
