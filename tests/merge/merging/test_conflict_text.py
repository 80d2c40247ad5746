"""Real git, and laws. A conflict rendered for an editor reads back to the same value; edited, to what was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge.merging.conflict import Conflict
from merge.merging.conflict_text import (
    MarkersBroken,
    marker_length,
    open_conflict,
    read_conflict,
    render_conflict,
    resolved_content,
)
from merge.merging.line_merge import Contested, Hunk, Lines, Regions, Settled, Span, join_settled
from merge.merging.present import StoredTree
from merge.merging.three_way import Clashed, merge_trees
from tests.merge.landing_places import Wanted, head_tree, link, result_of
from tests.merge.places import Place

# Lines that look like markers, or nearly, with either line ending.
line = st.one_of(
    st.sampled_from(
        [b"<<<<<<< here", b"=======", b">>>>>>>", b"||||||| x", b"<<<<<<<<<<<<", b"", b"\r", b" (absent)"]
    ),
    st.binary(max_size=6).map(lambda data: data.replace(b"\n", b"")),
).flatmap(lambda text: st.sampled_from([text + b"\n", text + b"\r\n"]))
lines = st.lists(line, max_size=3).map(tuple)
version = st.one_of(st.none(), lines)
last_line = st.binary(min_size=1, max_size=4).map(lambda data: data.replace(b"\n", b"x"))


@st.composite
def files(draw: st.DrawFn) -> Regions:
    """Regions of a file; only at its very end a line may lack its newline."""
    regions: list[Settled | Contested] = []
    for is_settled in draw(st.lists(st.booleans(), max_size=5)):
        if is_settled:
            regions.append(Settled(draw(lines)))
        else:
            regions.append(Contested(draw(version), draw(version), draw(version)))

    def end(text: Lines | None) -> Lines | None:
        return (*text, draw(last_line)) if text is not None and draw(st.booleans()) else text

    match regions[-1] if regions else None:
        case Settled(text):
            regions[-1] = Settled(end(text) or ())
        case Contested(base, ours, theirs):
            regions[-1] = Contested(end(base), end(ours), end(theirs))
        case None:
            pass
    return join_settled(regions)


@given(regions=files())
def test_unedited_text_reads_back_to_the_same_value(regions: Regions) -> None:
    assert read_conflict(render_conflict(regions), marker_length(regions)) == regions


@given(regions=files(), kept=st.sampled_from(["ours", "theirs", "base"]))
def test_keeping_one_side_everywhere_reads_as_that_side(regions: Regions, kept: str) -> None:
    """As a person does who deletes the markers and the other sides."""
    length = marker_length(regions)
    text, name = b"", "settled"
    for row in render_conflict(regions).splitlines(keepends=True):
        marker = {b"<": "ours", b"|": "base", b"=": "theirs", b">": "settled"}.get(row[:1])
        if marker is not None and row[: length + 1].rstrip() == row[:1] * length:
            name = marker
        elif name in ("settled", kept):
            text += row
    edited = read_conflict(text, length)
    assert resolved_content(edited) is not None


REGIONS: Regions = (
    Settled((b"one\n",)),
    Contested((b"two\n",), (b"zwei\n",), (b"deux\n",)),
    Settled((b"three\n",)),
)


def test_it_reads_like_what_git_writes() -> None:
    assert render_conflict(REGIONS).decode().splitlines() == [
        "one",
        "<<<<<<< here",
        "zwei",
        "||||||| before",
        "two",
        "======= the child",
        "deux",
        ">>>>>>>",
        "three",
    ]


def test_markers_are_longer_than_what_looks_like_one() -> None:
    regions: Regions = (Contested((), (b"<<<<<<<<< nine\n",), (b"x\n",)),)
    assert render_conflict(regions).startswith(b"<<<<<<<<<< here\n")


def test_an_absent_version_is_told_apart_from_an_empty_one() -> None:
    absent: Regions = (Contested((b"x\n",), None, ()),)
    assert render_conflict(absent, there="c1").decode() == (
        "<<<<<<< here (absent)\n||||||| before\nx\n======= c1\n>>>>>>>\n"
    )


def test_a_last_line_without_newline_is_told() -> None:
    regions: Regions = (Contested((b"x",), (b"y\n",), (b"z",)),)
    assert render_conflict(regions).decode() == (
        "<<<<<<< here\ny\n||||||| before (no newline at the end)\nx\n"
        "======= the child (no newline at the end)\nz\n>>>>>>>\n"
    )


def test_an_edited_text_without_markers_is_resolved() -> None:
    edited = read_conflict(b"one\nboth: zwei, deux\nthree\n", marker_length(REGIONS))
    assert resolved_content(edited) == b"one\nboth: zwei, deux\nthree\n"


def test_a_side_edited_between_its_markers_is_still_contested() -> None:
    edited = read_conflict(render_conflict(REGIONS).replace(b"zwei", b"zwo"), marker_length(REGIONS))
    assert edited[1] == Contested((b"two\n",), (b"zwo\n",), (b"deux\n",))
    assert resolved_content(edited) is None


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("<<<<<<< here\nx\n", "The text ends where the marker of 'base' is due."),
        ("x\n>>>>>>>\n", "Line 2 has the marker of 'end' where 'ours' is due."),
        ("<<<<<<< a\n=======\n>>>>>>>\n", "Line 2 has the marker of 'theirs' where 'base' is due."),
        ("<<<<<<< a\n||||||| b\n<<<<<<< c\n", "Line 3 has the marker of 'ours' where 'theirs' is due."),
    ],
)
def test_markers_out_of_order_are_named(broken: str, told: str) -> None:
    with pytest.raises(MarkersBroken) as caught:
        read_conflict(broken.encode(), 7)
    assert str(caught.value) == told


def conflict_between(place: Place, base: Wanted, ours: Wanted, theirs: Wanted) -> Conflict:
    """The conflict at one path of which these are the versions."""
    first = result_of(place, head_tree(place), {"t": base})
    sides = [result_of(place, first, {"t": side}) for side in (ours, theirs)]
    merge = merge_trees(place.repository, first, StoredTree(place.repository, sides[0]), sides[1])
    assert isinstance(merge, Clashed)
    [conflict] = merge.conflicts
    return conflict


LONG = [b"%d\n" % number for number in range(20)]


def text(**changes: bytes) -> bytes:
    return b"".join(changes.get(f"l{number}", line) for number, line in enumerate(LONG))


def test_a_conflict_of_git_opens_with_its_hunks(place: Place) -> None:
    conflict = conflict_between(
        place, text(), text(l2=b"mine\n", l9=b"ours\n"), text(l9=b"theirs\n", l15=b"yours\nyours\n")
    )
    opened = open_conflict(place.repository, conflict)
    assert opened is not None
    assert opened.hunks == (Hunk(Span(9, 10), Span(9, 10), Span(9, 10)),)
    assert opened.regions == (
        Settled((*LONG[:2], b"mine\n", *LONG[3:9])),
        Contested((b"9\n",), (b"ours\n",), (b"theirs\n",)),
        Settled((*LONG[10:15], b"yours\n", b"yours\n", *LONG[16:])),
    )


def test_a_deletion_opens_as_all_of_the_file(place: Place) -> None:
    opened = open_conflict(place.repository, conflict_between(place, b"a\n", None, b"b\n"))
    assert opened is not None
    assert opened.regions == (Contested((b"a\n",), None, (b"b\n",)),)
    assert opened.hunks == (Hunk(Span(0, 1), Span(0, 0), Span(0, 1)),)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [(b"\0a", b"\0b", b"\0c"), (link(b"a"), link(b"b"), link(b"c")), (b"a\n" * 9, b"b\n" * 9, link(b"c"))],
    ids=["binary", "symlinks", "file and symlink"],
)
def test_what_is_no_text_does_not_open(place: Place, base: Wanted, ours: Wanted, theirs: Wanted) -> None:
    assert open_conflict(place.repository, conflict_between(place, base, ours, theirs)) is None


def test_a_file_that_must_not_be_merged_by_line_does_not_open(place: Place) -> None:
    place.write(".gitattributes", "t -merge\n")
    place.commit()
    conflict = conflict_between(place, text(), text(l2=b"mine\n"), text(l15=b"yours\n"))
    assert open_conflict(place.repository, conflict) is None
