"""Pure. Contested places and the side that each takes."""

from merge.merging.conflict import Conflict
from merge.merging.conflict_text import ConflictText
from merge.merging.line_merge import Contested, Hunk, Settled, Span
from merge.merging.resolving import Content
from merge.store.trees import RepoPath
from orchestrator.review.detail import FileConflict
from orchestrator.review.sides import FileChoice, open_choice

HUNK = Hunk(Span(0, 1), Span(0, 1), Span(0, 1))
FIRST = Contested((b"old\n",), (b"mine\n",), (b"theirs\n",))
LAST = Contested((b"end\n",), (b"my end",), (b"their end\n",))
MIDDLE = Settled((b"same\n",))


def file_of(*regions: Contested | Settled) -> FileChoice:
    hunks = (HUNK,) * sum(isinstance(region, Contested) for region in regions)
    conflict = Conflict(RepoPath(b"a.py"), "content", None, None, None)
    found = FileConflict(conflict, "a.py: both changed it", "text", (), (), (), hunks)
    return open_choice(found, ConflictText(regions, hunks))


def test_nothing_is_decided_until_every_place_is() -> None:
    file = file_of(FIRST, MIDDLE, LAST)
    assert not file.is_decided
    assert file.take(0, "here").choice() is None
    assert file.take(0, "here").take(1, "child").choice() == Content(b"mine\nsame\ntheir end\n")
    assert file.take(0, "here").take(1, "child").take(0, None).choice() is None


def test_a_place_can_take_both_or_what_was_there_before() -> None:
    assert file_of(FIRST, MIDDLE).take(0, "both").choice() == Content(b"mine\ntheirs\nsame\n")
    assert file_of(FIRST, MIDDLE).take(0, "before").choice() == Content(b"old\nsame\n")
    assert file_of(MIDDLE, LAST).take(0, "both").choice() == Content(b"same\nmy end\ntheir end\n")
    assert file_of(FIRST, MIDDLE, LAST).take_all("child").choice() == Content(b"theirs\nsame\ntheir end\n")


def test_where_a_side_has_no_such_file_the_whole_of_one_is_taken() -> None:
    gone = file_of(Contested((b"old\n",), None, (b"theirs\n",)))
    assert gone.possible(0) == ("here", "child")
    assert gone.take(0, "both").choice() is None
    assert gone.take(0, "here").choice() == "ours"
    assert gone.take(0, "child").choice() == "theirs"


def test_what_has_no_lines_has_one_place() -> None:
    picture = open_choice(file_of(FIRST).conflict, None)
    assert len(picture.sides) == 1
    assert picture.take(0, "child").choice() == "theirs"


def test_an_edit_counts_for_the_whole_file_until_a_side_is_chosen() -> None:
    edited = FileChoice(file_of(FIRST).conflict, file_of(FIRST).text, (None,), Content(b"my own\n"))
    assert edited.is_decided
    assert edited.choice() == Content(b"my own\n")
    assert edited.take(0, "here").choice() == Content(b"mine\n")
