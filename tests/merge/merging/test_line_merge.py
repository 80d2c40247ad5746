"""Pure. Regions of a line merge tile the file, and git's own merge of lines agrees on what is contested."""

import difflib
import itertools
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from merge.merging.line_merge import (
    Contested,
    Edit,
    Hunk,
    Lines,
    Settled,
    Span,
    join_settled,
    merge_lines,
    parse_edits,
    split_lines,
)

words = st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n"])
texts = st.lists(words, max_size=12).map(tuple)


def edits(base: Lines, side: Lines) -> list[Edit]:
    matcher = difflib.SequenceMatcher(None, base, side, autojunk=False)
    return [
        Edit(Span(start, end), Span(side_start, side_end))
        for tag, start, end, side_start, side_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def merged(
    base: Lines, ours: Lines, theirs: Lines
) -> tuple[tuple[Settled | Contested, ...], tuple[Hunk, ...]]:
    return merge_lines(base, ours, theirs, edits(base, ours), edits(base, theirs))


def numbered(*numbers: int) -> Lines:
    return tuple(b"%d\n" % number for number in numbers)


def test_edits_apart_are_settled() -> None:
    regions, hunks = merged(numbered(1, 2, 3, 4, 5), numbered(1, 20, 3, 4, 5), numbered(1, 2, 3, 4, 50))
    assert regions == (Settled(numbered(1, 20, 3, 4, 50)),)
    assert hunks == ()


def test_edits_that_touch_are_contested() -> None:
    regions, hunks = merged(numbered(1, 2, 3, 4), numbered(1, 20, 3, 4), numbered(1, 2, 30, 4))
    assert regions == (
        Settled(numbered(1)),
        Contested(numbered(2, 3), numbered(20, 3), numbered(2, 30)),
        Settled(numbered(4)),
    )
    assert hunks == (Hunk(Span(1, 3), Span(1, 3), Span(1, 3)),)


def test_a_hunk_tells_where_it_is_in_each_version() -> None:
    _, hunks = merged(numbered(1, 2, 3, 4), numbered(0, 1, 2, 33, 4), numbered(1, 2, 300, 301, 4))
    assert hunks == (Hunk(Span(2, 3), Span(3, 4), Span(2, 4)),)


def test_two_insertions_at_one_place_are_contested() -> None:
    regions, _ = merged(numbered(1, 2), numbered(1, 5, 2), numbered(1, 6, 2))
    assert regions == (
        Settled(numbered(1)),
        Contested((), numbered(5), numbered(6)),
        Settled(numbered(2)),
    )


def test_the_same_change_on_both_sides_is_settled() -> None:
    assert merged(numbered(1, 2), numbered(1, 3), numbered(1, 3)) == ((Settled(numbered(1, 3)),), ())


def side_of(regions: tuple[Settled | Contested, ...], name: str) -> Lines:
    lines: list[bytes] = []
    for region in regions:
        if isinstance(region, Settled):
            lines += region.lines
        else:
            lines += {"ours": region.ours, "theirs": region.theirs}[name] or ()
    return tuple(lines)


@given(base=texts, other=texts)
def test_what_one_side_did_alone_is_settled(base: Lines, other: Lines) -> None:
    for regions, hunks in (merged(base, other, base), merged(base, base, other), merged(base, other, other)):
        assert regions == join_settled([Settled(other)])
        assert hunks == ()


@given(base=texts, ours=texts, theirs=texts)
def test_hunks_cut_out_just_the_contested_lines(base: Lines, ours: Lines, theirs: Lines) -> None:
    regions, hunks = merged(base, ours, theirs)
    contested = [region for region in regions if isinstance(region, Contested)]
    assert [
        (
            base[h.base.start : h.base.end],
            ours[h.ours.start : h.ours.end],
            theirs[h.theirs.start : h.theirs.end],
        )
        for h in hunks
    ] == [(region.base, region.ours, region.theirs) for region in contested]
    for earlier, later in itertools.pairwise(hunks):
        assert earlier.base.end <= later.base.start
        assert earlier.ours.end <= later.ours.start


@given(base=texts, ours=texts, theirs=texts)
def test_swapping_the_sides_swaps_the_answer(base: Lines, ours: Lines, theirs: Lines) -> None:
    regions, _ = merged(base, ours, theirs)
    mirrored, _ = merged(base, theirs, ours)
    assert side_of(regions, "ours") == side_of(mirrored, "theirs")
    assert side_of(regions, "theirs") == side_of(mirrored, "ours")


def test_lines_end_at_line_feeds_alone() -> None:
    assert split_lines(b"a\rb\r\n\n\x0c\x85\nend") == (b"a\rb\r\n", b"\n", b"\x0c\x85\n", b"end")
    assert split_lines(b"") == ()


@given(content=st.binary(max_size=40))
def test_lines_joined_are_the_file(content: bytes) -> None:
    assert b"".join(split_lines(content)) == content


def test_a_diff_of_git_is_read(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"".join(numbered(1, 2, 3, 4, 5, 6)))
    new.write_bytes(b"".join(numbered(0, 1, 2, 30, 31, 5)))
    diff = subprocess.run(
        ["git", "diff", "--no-index", "-U0", str(old), str(new)], capture_output=True, check=False
    ).stdout
    assert parse_edits(diff) == (
        Edit(Span(0, 0), Span(0, 1)),
        Edit(Span(2, 4), Span(3, 5)),
        Edit(Span(5, 6), Span(6, 6)),
    )
