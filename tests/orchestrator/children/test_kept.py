"""Real processes. The hint that removes a kept checkout, given to a real shell."""

import subprocess
from pathlib import Path

import pytest

from orchestrator.children.kept import removal_hint
from worker.path_text import quote_path


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "with blank",
        "it's",
        'quo"te',
        "$HOME",
        "new\nline",
        "esc\x1b[2J",
        "caf\udce9",
        "日本 語",
        "-rf",
        "back\\slash",
    ],
)
def test_the_removal_hint_names_exactly_the_checkout_to_a_shell(name: str, tmp_path: Path) -> None:
    checkout = str(tmp_path / name)
    for kept in (tmp_path / "new", tmp_path / "with", tmp_path / "line"):
        kept.mkdir()
    (tmp_path / name).mkdir()
    hint = removal_hint(quote_path(checkout))
    assert hint.isprintable()
    subprocess.run(["bash", "-c", hint], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["line", "new", "with"]
