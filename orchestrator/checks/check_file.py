"""`.covey/check.toml`: which checks a project has.

    [check.tests]
    command = "python -m pytest -q"
    seconds = 300

Read once, when a session begins: a check that the session's own work rewrites does not judge that work.
"""

from pathlib import Path
from typing import Annotated

import msgspec

from orchestrator.config.reading import read_table

FILE = Path(".covey") / "check.toml"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command for the shell, run at the root of the workspace, and how long it may take."""

    command: Annotated[str, msgspec.Meta(min_length=1)]
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 600.0


class CheckFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file: the checks by name, run in the order in which they stand."""

    check: dict[str, Check] = {}


def read_checks(root: Path) -> dict[str, Check]:
    """The checks of the workspace at `root`; none where there is no file.

    Raises:
        UserError: when the file can't be read, or says what it can't.
    """
    return read_table(root / FILE, CheckFile).check
