"""The repository that the demo plays on: a copy of a small package, committed, with a person's work half done in it."""

import shutil
from pathlib import Path

from merge.store.git import GitPlace, run_git

_SAMPLE = "python_package"
_STAND_IN = "dot-"

_AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada Sample",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Sample",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def samples_folder() -> Path:
    """Where the sample repositories are: in the installed package, else in the source tree it runs from."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "demo_repos"
    return installed if installed.is_dir() else package.parent / "fixtures" / "repos"


def make_sample(destination: Path) -> None:
    """Make the sample repository at `destination`, committed once, then changed in every way git knows.

    In the stored sample a name that begins with `dot-` stands for one that begins with a dot, so that the sample's own
    ignore rules do not act on the place it is stored in.
    """
    leftovers = shutil.ignore_patterns("__pycache__")
    shutil.copytree(samples_folder() / _SAMPLE, destination, ignore=leftovers)
    for stand_in in sorted(destination.rglob(f"{_STAND_IN}*"), reverse=True):
        stand_in.rename(stand_in.with_name("." + stand_in.name.removeprefix(_STAND_IN)))
    place = GitPlace(destination)
    run_git(place, "init", "--quiet", "--initial-branch=main")
    run_git(place, "add", "--all")
    run_git(place, "commit", "--quiet", "--message", "tally as it was found", environment=_AUTHOR)
    _leave_work_half_done(destination)


def _leave_work_half_done(folder: Path) -> None:
    """A staged change, one that is not, a new file and a deleted one: what children must find and nobody may lose."""
    changes = folder / "CHANGELOG.md"
    changes.write_text(changes.read_text() + "\n- (draft) The spring release.\n")
    run_git(GitPlace(folder), "add", "CHANGELOG.md")
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("Turns a time sheet", "Turns a month's time sheet", 1))
    (folder / "NOTES.txt").write_text("Ask sales about the payment term.\n")
    (folder / "docs" / "formats.md").unlink()
