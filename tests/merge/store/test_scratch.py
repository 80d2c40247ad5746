"""Real processes. A folder of work goes with the work, or with the next sweep when its process was killed."""

import os
import signal
from pathlib import Path

from merge.landings.recovery import recover_landings
from merge.snapshots.snapshot import take_snapshot
from merge.store.scratch import open_scratch, sweep_scratch
from tests.merge.places import Place


def left_in(common_dir: Path) -> list[str]:
    return os.listdir(common_dir / "covey/scratch")


def killed_in_scratch(common_dir: Path) -> None:
    process = os.fork()
    if process == 0:
        with open_scratch(common_dir) as folder:
            (folder / "index").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)


def test_a_folder_is_removed_at_the_end_whatever_happened(tmp_path: Path) -> None:
    for fault in (None, KeyboardInterrupt()):
        try:
            with open_scratch(tmp_path) as folder:
                (folder / "below").mkdir()
                if fault is not None:
                    raise fault
        except KeyboardInterrupt:
            pass
        assert left_in(tmp_path) == []


def test_a_sweep_takes_what_a_killed_process_left_and_nothing_that_is_in_use(tmp_path: Path) -> None:
    killed_in_scratch(tmp_path)
    with open_scratch(tmp_path) as folder:
        (folder / "index").write_text("mine")
        assert len(left_in(tmp_path)) == 2
        sweep_scratch(tmp_path)
        assert left_in(tmp_path) == [folder.name]
        assert (folder / "index").read_text() == "mine"


def test_a_repository_where_nobody_worked_yet_has_nothing_to_sweep(tmp_path: Path) -> None:
    sweep_scratch(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_next_start_sweeps_and_a_snapshot_leaves_nothing(place: Place) -> None:
    common_dir = place.repository.common_dir
    killed_in_scratch(common_dir)
    recover_landings(place.repository)
    assert left_in(common_dir) == []
    place.write("new.txt", "new\n")
    take_snapshot(place.repository)
    assert left_in(common_dir) == []
