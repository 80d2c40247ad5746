"""Pure. The live part of the screen: what is said, the children, what the parent does, what the person types."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.fitting import width_of_line
from orchestrator.drawing.look import Look
from orchestrator.roster import ChildRow, Picture
from orchestrator.terminal.frame import Typing, frame
from orchestrator.view.dialog import Dialog
from tests.orchestrator.drawing.looks import ASCII, FULL, texts
from worker.model import Usage
from worker.protocol import Answered, ChildId
from worker.tools.ask import Question

CHILD = ChildRow(
    ChildId("fix-tabs-ab12"),
    "implement",
    "Fix the tabs",
    False,
    True,
    last_action="edit src/a.py",
    began_at=100.0,
)
ENDED = msgspec.structs.replace(CHILD, id=ChildId("old-cd34"), ending=Answered("ok"), ended_at=103.0)
ALONE = Picture(request="go", began_at=100.0, last_action="run_command: pytest", usage=Usage(3_000, 200))
WITH_CHILDREN = msgspec.structs.replace(ALONE, children={CHILD.id: CHILD, ENDED.id: ENDED})


def drawn(
    picture: Picture,
    pending: str = "",
    typing: Typing | None = None,
    look: Look = FULL,
    columns: int = 80,
    rows: int = 24,
) -> list[str]:
    lines = frame(picture, pending, typing or Typing(), look, now=112.0, columns=columns, rows=rows)
    return texts(lines)


def test_a_parent_alone_is_one_line() -> None:
    assert drawn(ALONE) == ["run_command: pytest · 0:12 · 3.2k tokens · Esc stops"]


def test_where_nothing_reads_keys_another_key_stops() -> None:
    assert drawn(ALONE, typing=Typing(stop_key="Ctrl-C"))[0].endswith(" · Ctrl-C stops")


def test_children_stand_above_what_the_turn_does() -> None:
    assert drawn(WITH_CHILDREN) == [
        "● running   fix-tabs-ab12  implement  edit src/a.py  0  0:12",
        "✓ finished  old-cd34       implement  ok             0  0:03",
        "1 of 2 children at work · 0:12 · 3.2k tokens · Esc stops",
    ]


def test_a_dismissed_child_is_out_of_view_and_still_counted() -> None:
    dismissed = msgspec.structs.replace(CHILD, dismissed=True)
    picture = msgspec.structs.replace(ALONE, children={CHILD.id: dismissed})
    assert drawn(picture) == ["1 child at work · 0:12 · 3.2k tokens · Esc stops"]


def test_the_end_of_the_reply_stands_at_the_top() -> None:
    assert drawn(ALONE, "one\ntwo " + "x" * 30, columns=20)[:3] == ["one", "two " + "x" * 15, "x" * 15]


def test_of_a_long_reply_only_the_end_is_shown() -> None:
    shown = drawn(ALONE, "\n".join(map(str, range(1_000))), rows=24)
    assert shown[:-1] == [str(number) for number in range(992, 1_000)]


def test_what_is_typed_stands_at_the_bottom() -> None:
    typing = Typing(draft="and the\ntests", queued=("also the docs",))
    assert drawn(ALONE, typing=typing)[1:] == ["queued: also the docs", "› and the", "› tests_"]


def test_while_the_turn_is_being_stopped_it_says_so() -> None:
    assert drawn(ALONE, typing=Typing(stopping=True)) == [
        "stopping all of it; Esc again kills at once · 0:12 · 3.2k tokens"
    ]


def test_forty_columns_keep_the_action_and_the_time() -> None:
    assert drawn(ALONE, columns=40) == ["run_command: pytest · 0:12"]
    assert drawn(ALONE, columns=24) == ["run_command: py… · 0:12"]


def test_a_plain_terminal_gets_ascii() -> None:
    shown = drawn(WITH_CHILDREN, "said", Typing(draft="x"), look=ASCII)
    assert all(line.isascii() for line in shown), shown


_texts = st.text(max_size=80)


@given(
    st.sampled_from([ALONE, WITH_CHILDREN]),
    st.integers(0, 60),
    _texts,
    st.builds(
        Typing,
        draft=_texts,
        queued=st.lists(_texts, max_size=9).map(tuple),
        stopping=st.booleans(),
        dialog=st.none() | st.builds(Dialog, st.just("a1"), st.tuples(st.builds(Question, _texts))),
    ),
    st.integers(1, 130),
    st.integers(2, 50),
)
def test_it_always_fits_the_terminal(
    picture: Picture, more_children: int, pending: str, typing: Typing, columns: int, rows: int
) -> None:
    many = {
        ChildId(f"c{number}"): msgspec.structs.replace(CHILD, id=ChildId(f"c{number}"), title=pending)
        for number in range(more_children)
    }
    picture = msgspec.structs.replace(picture, children={**picture.children, **many})
    lines = frame(picture, pending, typing, FULL, now=112.0, columns=columns, rows=rows)
    assert len(lines) < rows
    assert all(width_of_line(line) < max(2, columns) for line in lines)
