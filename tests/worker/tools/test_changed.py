"""Real files."""

from pathlib import Path

import pytest

from worker.tools.changed import refuse_if_changed
from worker.tools.lines import tag_lines
from worker.tools.refusals import ToolRefused
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "f").write_bytes(b"1\n2\n3\n")
    workspace = Workspace(tmp_path, tmp_path)
    workspace.seen.note(str(tmp_path / "f"), (tmp_path / "f").stat(), b"1\n2\n3\n")
    return workspace


def refusal(workspace: Workspace, body: bytes | None) -> str | None:
    path = workspace.root / "f"
    try:
        refuse_if_changed(workspace, path, "f", path.stat(), body)
    except ToolRefused as refused:
        return str(refused)
    return None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"1\ntwo\n3\n", ["What changed reads now:", *tag_lines([b"two"], 2)]),
        (b"1\n2\nnew\n3\n", ["What changed reads now:", *tag_lines([b"new"], 3)]),
        (b"1\n3\n", ["Lines are gone between these:", *tag_lines([b"1", b"3"])]),
        (b"", ["It is empty now."]),
    ],
)
def test_what_changed_is_told_once(workspace: Workspace, body: bytes, told: list[str]) -> None:
    text = refusal(workspace, body)
    assert text is not None
    assert text.startswith("f was changed by someone else since you last saw it, so nothing was written.")
    assert "\n".join(told) in text
    assert refusal(workspace, body) is None


def test_what_is_as_it_was_seen_is_not_refused(workspace: Workspace) -> None:
    assert refusal(workspace, b"1\n2\n3\n") is None


def test_of_a_long_change_only_some_is_told(workspace: Workspace) -> None:
    long_lines = refusal(workspace, b"x" * 5_000 + b"\n" + b"y" * 7_000 + b"\n")
    assert long_lines is not None
    assert len(long_lines) < 10_000
