"""Pure."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worker.tools import pages
from worker.tools.lines import split_lines, tag_lines
from worker.tools.pages import MOST_LINES, PAGE_BYTES, read_page

_TEXT = st.lists(st.sampled_from([b"a", b"", b"bc", b"\r", b"\r\n", b"\n", b"\n"]), max_size=60).map(b"".join)


@given(_TEXT, st.integers(min_value=1, max_value=30), st.one_of(st.none(), st.integers(1, 9)))
@example(b"a", 2, None)
@example(b"a\r", 1, None)
@example(b"a\nb", 3, None)
def test_a_page_holds_the_lines_that_the_text_has(body: bytes, first: int, limit: int | None) -> None:
    lines = split_lines(body)
    page = read_page(io.BytesIO(body), first, limit)
    wanted = tag_lines(lines[first - 1 :][:limit], first)
    assert page.lines == wanted
    assert page.total == len(lines)
    assert page.ends == (first - 1 + len(wanted) >= len(lines))
    if page.ends and wanted:
        assert page.final_newline == body.endswith(b"\n")


@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=200))
def test_pages_one_after_the_other_are_the_whole_text(lengths: list[int]) -> None:
    lines = [b"x" * length for length in lengths]
    stream = io.BytesIO(b"".join(line + b"\n" for line in lines))
    shown: list[str] = []
    first, ends = 1, False
    while not ends:
        stream.seek(0)
        page = read_page(stream, first, None)
        assert sum(len(line) + 1 for line in page.lines) <= PAGE_BYTES
        shown += page.lines
        first, ends = page.last + 1, page.ends
    assert shown == tag_lines(lines)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("length", [64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 700_000])
def test_a_line_longer_than_the_buffer_has_the_tag_of_the_whole_line(length: int, end: bytes) -> None:
    line = b"ab\r" * (length // 3 + 1)
    body = b"before\n" + line[:length] + b"c" + end
    page = read_page(io.BytesIO(body), 1, None)
    assert [text[:9] for text in page.lines] == [text[:9] for text in tag_lines(split_lines(body))]
    assert "[cut: the line has" in page.lines[1]


def test_an_explicit_limit_is_at_most_a_thousand_lines() -> None:
    page = read_page(io.BytesIO(b"x\n" * 3_000), 1, 2_500)
    assert len(page.lines) == MOST_LINES
    assert not page.ends


def test_what_follows_a_page_of_a_large_file_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_COUNT_BYTES", 100_000)
    page = read_page(io.BytesIO(b"x\n" * 400_000), 1, 5)
    assert (page.last, page.ends, page.total) == (5, False, None)
