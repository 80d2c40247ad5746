"""What every test gets: a hermetic environment, repositories by name, and a look at what it left behind."""

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.fixtures_on_disk import commit_fixture
from tests.hermetic import hermetic_environment
from tests.leaks import checkouts_left, leaks_since, look
from tests.outliving import ended_with_this_process
from tests.unprivileged import may_do_everything, run_unprivileged

# A test run is the same each time; `make soak` looks further. A deadline would assert a timing.
hypothesis.settings.register_profile(
    "test", deadline=None, max_examples=50, derandomize=True, database=None, print_blob=True
)
hypothesis.settings.register_profile("soak", deadline=None, max_examples=2_000, print_blob=True)
hypothesis.settings.load_profile("test")

RepositoryOf = Callable[[str], Path]
"""Makes a committed repository of the named fixture; a second one of a name gets a number after it."""


@pytest.fixture(scope="session")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds everything this run writes."""
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="session", autouse=True)
def hermetic_run(temporary: Path) -> Iterator[None]:
    """Nothing of the person's settings, keys or locale reaches a test."""
    theirs = dict(os.environ)
    home = temporary / "home"
    home.mkdir()
    (temporary / "tmp").mkdir()
    mask = os.umask(0o022)
    os.environ.clear()
    os.environ.update(hermetic_environment(home))
    time.tzset()
    tempfile.tempdir = None  # it is looked up once, and was before
    with ended_with_this_process(home):
        yield
    os.environ.clear()
    os.environ.update(theirs)
    time.tzset()
    tempfile.tempdir = None
    os.umask(mask)


_homes = itertools.count(1)


@pytest.fixture(autouse=True)
def covey_home(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> Path:
    """A `$COVEY_HOME` of the test's own; the folder is made by whoever needs it."""
    home = temporary / "covey-homes" / str(next(_homes))
    monkeypatch.setenv("COVEY_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest, temporary: Path) -> Iterator[None]:
    """A test that leaves a process, an open file, a mount or a checkout behind fails."""
    # Asked for here, before the first look, the folder is removed only after the last one.
    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    before = look(temporary)
    yield
    found = leaks_since(before, temporary)
    if folder is not None and request.node.get_closest_marker("keeps_checkouts") is None:  # pyright: ignore[reportUnknownMemberType]
        found += checkouts_left(folder)
    if found:
        pytest.fail(
            "The test left something behind:\n" + "\n".join(f"  {line}" for line in found), pytrace=False
        )


@pytest.fixture
def repository_of(tmp_path: Path) -> RepositoryOf:
    """Makes a committed git repository of a fixture, by name, in the test's folder."""
    made = itertools.count(1)

    def make(name: str) -> Path:
        number = next(made)
        return commit_fixture(name, tmp_path / (name if number == 1 else f"{name}_{number}"))

    return make


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is marked `unprivileged` is run by root in a process to which the system can say no."""
    if pyfuncitem.get_closest_marker("unprivileged") is None or not may_do_everything():  # pyright: ignore[reportUnknownMemberType]
        return None
    said = run_unprivileged(pyfuncitem.nodeid, pyfuncitem.config.rootpath)
    if said is not None:
        pytest.fail(said, pytrace=False)
    return True
