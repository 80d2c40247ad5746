"""Pure. The table of keys: what the window binds, the help shows and the docs print."""

from pathlib import Path

from orchestrator.window.app import Window
from orchestrator.window.keys import KEYS, page


def test_the_page_in_the_docs_is_current() -> None:
    printed = Path(__file__).parents[3] / "docs" / "keys.md"
    assert printed.read_text() == page(), "`make keys` writes it anew"


def test_every_action_of_the_table_is_one_that_the_window_has() -> None:
    for key in KEYS:
        if key.action:
            assert hasattr(Window, f"action_{key.action.partition('(')[0]}"), key.action
