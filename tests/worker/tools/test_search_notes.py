"""Pure."""

from worker.tools.name_filter import NameFilter
from worker.tools.search_notes import paging_note, skipped_note, time_note, unread_notes
from worker.tools.survey import Survey


def show(path: str) -> str:
    return path.removeprefix("/place/")


SURVEY = Survey(
    skipped_folders=["/place/target", "/place/node_modules"],
    skipped_files=["/place/b.log", "/place/a.py"],
    unreadable_folders=["/place/closed"],
)


def test_what_was_skipped_is_named() -> None:
    assert skipped_note(SURVEY, NameFilter(), show) == [
        "[Skipped: folders node_modules/, target/; gitignored files a.py, b.log."
        " With no_ignore: true they are searched too.]"
    ]
    assert skipped_note(Survey(), NameFilter(), show) == []
    assert skipped_note(Survey(complete=False), NameFilter(), show) == []


def test_a_skipped_file_that_would_not_have_been_found_is_not_named() -> None:
    (note,) = skipped_note(SURVEY, NameFilter(globs=["*.py"]), show)
    assert "gitignored files a.py." in note
    only_files = Survey(skipped_files=["/place/b.log"])
    assert skipped_note(only_files, NameFilter(globs=["*.py"]), show) == []


def test_of_many_only_some_are_named() -> None:
    many = Survey(skipped_files=[f"/place/{number:04}" for number in range(1_500)], complete=False)
    (note,) = skipped_note(many, NameFilter(), show)
    assert "0010, 0011 and 1,488 more, and perhaps more. With no_ignore" in note


def test_the_topmost_come_first_and_many_of_one_name_together() -> None:
    folders = [
        "/place/b/c/out",
        "/place/out",
        *(f"/place/{name}/__pycache__" for name in "abc"),
        "/place/a/z",
    ]
    (note,) = skipped_note(Survey(skipped_folders=folders), NameFilter(), show)
    assert note.startswith("[Skipped: folders 3 named __pycache__/, out/, a/z/, b/c/out/.")


def test_what_could_not_be_read_is_told_once() -> None:
    trouble = (
        "rg: /place/closed: Permission denied (os error 13)\nrg: /place/f: Permission denied (os error 13)\n"
    )
    assert unread_notes(SURVEY, trouble, ["x does not exist."], show) == [
        "[Could not be read: folders closed/.]",
        "[Could not be read: /place/f: Permission denied (os error 13).]",
        "[Not searched: x does not exist.]",
    ]
    many = "".join(f"rg: /place/{number}: broken\n" for number in range(20))
    assert unread_notes(Survey(), many, ["x"] * 8, show) == [
        f"[Could not be read: {'; '.join(f'/place/{number}: broken' for number in range(5))}; and 15 more.]",
        *["[Not searched: x]"] * 5,
        "[Not searched: 3 more paths.]",
    ]


def test_a_cut_result_says_how_to_go_on() -> None:
    (note,) = paging_note(100, 50, 2_000, "Hits")
    assert note.startswith(
        "[Hits 101-150 of 2,000, newest first; cut at 50 KB. Go on with offset 150, or narrow it"
    )
    assert paging_note(100, 50, 150, "Hits") == []


def test_a_stopped_search_says_that_it_is_not_all() -> None:
    assert time_note(30.0).startswith("[Stopped after 30 s: this is only what was found until then.")
    assert time_note(0.5).startswith("[Stopped after 0.5 s")
