"""Pure. A reply while it comes: what may be printed for good, and what is still changing."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.terminal.streamed import Streamed, add, broken_off, finish, split_blocks

REPLY = """\
# Plan

I look at the parser.
It is small.

- first

- second
  goes on

```python
def f():

    return 1
```

Done."""


def blocks_of(*pieces: str) -> list[str]:
    """What is printed, in order, of a reply that comes in these pieces."""
    streamed = Streamed()
    printed: list[str] = []
    for piece in pieces:
        streamed, whole = add(streamed, piece)
        printed.append(whole)
    printed.append(finish(streamed, "".join(pieces)))
    return [block for block in printed if block]


def test_each_block_is_printed_once_it_is_whole() -> None:
    assert blocks_of(*REPLY) == [
        "# Plan\n\n",
        "I look at the parser.\nIt is small.\n\n",
        "- first\n\n- second\n  goes on\n\n",
        "```python\ndef f():\n\n    return 1\n```\n\nDone.",
    ]


def test_a_blank_line_in_a_fence_ends_nothing() -> None:
    assert split_blocks("~~~~\na\n\nb\n~~~\n\nc\n") == ("", "~~~~\na\n\nb\n~~~\n\nc\n")
    assert split_blocks("```\na\n\nb\n```\n\nc\n") == ("```\na\n\nb\n```\n\n", "c\n")


def test_inline_code_of_three_ticks_opens_no_fence() -> None:
    assert split_blocks("```a``` is code\n\nnext\n") == ("```a``` is code\n\n", "next\n")


def test_a_line_that_still_grows_decides_nothing() -> None:
    assert split_blocks("one\n\ntwo") == ("", "one\n\ntwo")
    assert split_blocks("one\n\ntwo\n") == ("one\n\n", "two\n")


def test_a_list_goes_on_after_a_blank_line() -> None:
    assert split_blocks("1. a\n\n2. b\n\n   more\n\ntext\n") == ("1. a\n\n2. b\n\n   more\n\n", "text\n")


def test_the_end_of_a_reply_that_was_never_heard_is_still_printed() -> None:
    streamed, _ = add(Streamed(), "one\n\ntwo\n")
    assert finish(streamed, "one\n\ntwo\nthree") == "two\nthree"
    assert finish(Streamed(), "never heard") == "never heard"


def test_a_reply_with_a_hole_is_printed_whole() -> None:
    streamed = Streamed(printed="one\n\n", pending="fo")
    assert finish(streamed, "one and a half\n\nfour") == "one and a half\n\nfour"


def test_what_hangs_when_a_reply_breaks_off_is_not_lost() -> None:
    assert broken_off(Streamed("one\n\n", "tw")) == "tw"


_markdown = st.lists(
    st.sampled_from(["a", "- b", "1. c", "```", "~~~", "", "  d", "# e", "````", "| f |", "\u2028", "\r"]),
    max_size=14,
).map("\n".join)


@given(_markdown | st.text())
def test_splitting_loses_nothing(text: str) -> None:
    whole, rest = split_blocks(text)
    assert whole + rest == text


@given(_markdown, st.lists(st.integers(1, 5), max_size=40))
def test_however_a_reply_is_cut_all_of_it_is_printed_once_and_in_order(text: str, sizes: list[int]) -> None:
    pieces: list[str] = []
    at = 0
    for size in sizes:
        pieces.append(text[at : at + size])
        at += size
    pieces.append(text[at:])
    assert "".join(blocks_of(*pieces)) == text


@given(_markdown, _markdown)
def test_what_is_printed_does_not_depend_on_what_follows(text: str, more: str) -> None:
    whole, _ = split_blocks(text)
    assert split_blocks(text + more)[0].startswith(whole)
