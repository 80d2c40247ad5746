"""Contract. What folders take on the disk: each file once, and no link followed."""

import os
from pathlib import Path

from orchestrator.doctor.disk_use import Use, free_bytes, use_of


def test_a_file_counts_once_and_a_link_for_itself(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    (folder / "below").mkdir(parents=True)
    elsewhere.write_bytes(b"x" * 5_000_000)
    (folder / "a").write_bytes(b"x" * 100_000)
    os.link(folder / "a", folder / "below" / "b")
    (folder / "link").symlink_to(elsewhere)
    (use,) = use_of([folder, tmp_path / "nowhere"])
    assert use.path == str(folder)
    assert 100_000 <= use.size_bytes < 200_000
    assert use_of([]) == list[Use]()
    assert free_bytes(tmp_path) > 0
