"""Real git. The edits between versions of many files, asked in one go, whatever the person has configured."""

from merge.merging.line_diff import find_edits, unified_diff
from merge.merging.line_merge import Edit, Span
from merge.store.objects import write_blob
from merge.store.trees import ObjectId
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import Place


def blob(place: Place, data: bytes) -> ObjectId:
    return write_blob(place.repository, data)


def test_each_file_gets_its_own_edits_in_order(place: Place) -> None:
    pairs = [(blob(place, b"a\nb\nc\n"), blob(place, b"a\nB\nc\n")) for _ in range(12)]
    pairs[3] = (blob(place, b"same\n"), blob(place, b"same\n"))
    pairs[11] = (blob(place, b"a\n"), blob(place, b"a\nb\n"))
    edits = find_edits(place.repository, pairs)
    assert edits[0] == (Edit(Span(1, 2), Span(1, 2)),)
    assert edits[3] == ()
    assert edits[11] == (Edit(Span(1, 1), Span(1, 2)),)
    assert len(edits) == 12


def test_a_file_that_comes_or_goes_is_one_edit(place: Place) -> None:
    new = blob(place, b"x\ny\n")
    assert find_edits(place.repository, [(None, new), (new, None), (None, None)]) == [
        (Edit(Span(0, 0), Span(0, 2)),),
        (Edit(Span(0, 2), Span(0, 0)),),
        (),
    ]


def test_lines_that_look_like_a_diff_are_lines(place: Place) -> None:
    before, after = b"diff --git a/1 b/1\n-- x\n", b"diff --git a/0 b/0\n@@ -1 +1 @@\n-- x\n"
    edits = find_edits(place.repository, [(blob(place, before), blob(place, after))])
    assert edits == [(Edit(Span(0, 1), Span(0, 2)),)]


def test_the_persons_settings_do_not_change_the_answer(place: Place) -> None:
    for key, value in {
        "diff.noprefix": "true",
        "diff.interHunkContext": "9",
        "diff.external": "false",
        "diff.context": "9",
        "color.ui": "always",
        "diff.mnemonicPrefix": "true",
    }.items():
        place.git("config", key, value)
    place.write(".git/info/attributes", "* -diff\n")
    pair = blob(place, b"1\n2\n3\n4\n"), blob(place, b"one\n2\n3\nfour\n")
    assert find_edits(place.repository, [pair]) == [
        (Edit(Span(0, 1), Span(0, 1)), Edit(Span(3, 4), Span(3, 4)))
    ]


def test_the_unified_diff_is_one_that_git_applies(place: Place) -> None:
    base = head_tree(place)
    result = result_of(place, base, {"src/app.py": b"line 1\nnew\n", "README.md": None, "more/x.txt": b"x"})
    place.git("config", "diff.noprefix", "true")
    place.git("apply", feed=unified_diff(place.repository, base, result))
    assert place.read("src/app.py") == b"line 1\nnew\n"
    assert place.read("more/x.txt") == b"x"
    assert not (place.root / "README.md").exists()
