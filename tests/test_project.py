"""Real processes. The project itself: its set-up, its lock, what it ships, and the rules its files keep."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("orchestrator", "worker", "merge")

KINDS = (
    "Pure",
    "Contract",
    "Real processes",
    "Real git",
    "Real HTTP",
    "Real files",
    "Real terminal",
    "End to end",
)

BEHIND_ONE_DOOR = (
    "git",
    "pygit2",
    "psutil",
    "httpx",
    "httpx_sse",
    "h11",
    "rich",
    "prompt_toolkit",
    "textual",
)


def _modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_bytes())


def _imported(tree: ast.Module) -> set[str]:
    """The top-level names of what a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


# The lock


def test_the_lock_holds_every_dependency_at_a_version_that_fits() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    locked = dict(
        re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    )
    for text in wanted:
        requirement = Requirement(text)
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in requirements.lock; run `make lock`"
        assert requirement.specifier.contains(version, prereleases=True), (
            f"{text} against {version}; run `make lock`"
        )


def test_the_lock_says_what_and_not_where_from() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert [line for line in lines if "://" in line or line.startswith("-")] == []
    assert all(
        "--hash=sha256:" in lines[index + 1]
        for index, line in enumerate(lines)
        if re.match(r"[a-z].*==", line)
    )


# Set-up


@pytest.fixture
def bare_machine(tmp_path: Path) -> Path:
    """A folder with the files that the set-up reads, and a `bin` folder with make and no Python."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "sh", "rm", "touch"):
        path = shutil.which(name)
        assert path is not None, f"the set-up needs {name}"
        (programs / name).symlink_to(path)
    return tmp_path


def _make(machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(machine / "bin"), "HOME": str(machine)}
    command = [machine / "bin" / "make", *arguments]
    return subprocess.run(command, cwd=machine, env=environment, capture_output=True, text=True, check=False)


def test_without_a_python_the_set_up_says_what_to_install(bare_machine: Path) -> None:
    run = _make(bare_machine, "test")
    assert run.returncode != 0
    assert "covey needs Python 3.11 or newer" in run.stderr
    assert "make test PYTHON=/path/to/python3" in run.stderr
    assert not (bare_machine / ".venv").exists()


def test_an_old_python_is_passed_over(bare_machine: Path) -> None:
    old = bare_machine / "bin" / "python3"
    old.write_text("#!/bin/sh\necho\n")  # what Python 3.8 answers when it is asked where it is
    old.chmod(0o755)
    assert "covey needs Python 3.11 or newer" in _make(bare_machine, "demo").stderr


def test_a_python_without_venv_is_named_with_the_remedy(bare_machine: Path) -> None:
    bare = bare_machine / "bin" / "python3"
    bare.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\necho "$0"\n')
    bare.chmod(0o755)
    run = _make(bare_machine, "demo")
    assert run.returncode != 0
    assert f"{bare} cannot make a virtual environment" in run.stderr
    assert "apt-get install python3-venv" in run.stderr
    assert not (bare_machine / ".venv").exists()


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    assert script.read_text().rstrip().endswith("make test </dev/null")


# What is shipped


def test_the_wheel_holds_the_rooms_and_the_repository_of_the_demo(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"{room}/__init__.py" for room in ROOMS} <= names
    fixture = ROOT / "fixtures" / "repos" / "python_package"
    stored = {str(path.relative_to(fixture)) for path in fixture.rglob("*") if path.is_file()}
    stored = {path for path in stored if "__pycache__" not in path}
    assert {f"orchestrator/demo_repos/python_package/{path}" for path in stored} <= names
    assert {name.partition("/")[0] for name in names} <= {*ROOMS, "covey-0.1.0.dist-info"}


# The rules that files keep


def test_each_big_dependency_is_imported_in_one_place() -> None:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path, tree in _modules(*ROOMS):
        for name in _imported(tree) & set(BEHIND_ONE_DOOR):
            # textual takes what it draws as rich's values.
            if (name, path.rpartition("/")[0]) != ("rich", "orchestrator/window"):
                places[name].add(path.rpartition("/")[0])
    assert {name: folders for name, folders in places.items() if len(folders) > 1} == {}


def test_every_module_begins_with_a_sentence() -> None:
    dumb = [path for path, tree in _modules(*ROOMS) if tree.body and not ast.get_docstring(tree)]
    assert dumb == []


def test_every_test_file_tells_its_kind_first() -> None:
    tests = [(path, tree) for path, tree in _modules("tests") if path.rpartition("/")[2].startswith("test_")]
    assert [path for path, tree in tests if not (ast.get_docstring(tree) or "").startswith(KINDS)] == []


def test_tests_use_real_things_and_wait_for_events() -> None:
    for path, tree in _modules("tests"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) != "time.sleep", f"{path}:{node.lineno} sleeps; wait for an event"
        assert not {"mock", "unittest"} & _imported(tree), (
            f"{path} imports unittest or a mock; use the real thing"
        )


def test_only_a_window_pays_for_the_window() -> None:
    """Help, pipes and terminal mode import no toolkit that they do not use."""
    script = (
        "import sys, orchestrator.cli, orchestrator.session_verbs, orchestrator.terminal.run;"
        " print(*[name for name in ('textual', 'rich', 'prompt_toolkit') if name in sys.modules]);"
        " import orchestrator.terminal.seat; print(*[name for name in ('textual',) if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n\n"


def test_every_test_that_the_list_of_known_reports_names_is_there() -> None:
    listed = (ROOT / "docs/known-reports.md").read_text()
    files = set(re.findall(r"`([\w/]+\.py)`", listed))
    assert files
    assert [file for file in sorted(files) if not (ROOT / "tests" / file).is_file()] == []
