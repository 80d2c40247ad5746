"""Real files. Where caches are, in repositories of one package and of many."""

import json
from pathlib import Path

import pytest

from merge.snapshots.finding_caches import find_caches


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of packages, some of which keep modules of their own."""
    for folder in ("packages/a", "packages/b", "packages/none", "apps/web/inner", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("", "packages/a", "packages/b", "apps/web", "apps/web/inner", "tools", "node_modules/dep"):
        (tmp_path / folder / "node_modules").mkdir(parents=True, exist_ok=True)
    return tmp_path


def test_names_are_taken_as_they_are(packages: Path) -> None:
    assert find_caches(packages, ("target", "node_modules", "a/b", "target")) == (
        "target",
        "node_modules",
        "a/b",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "package.json",
            json.dumps({"name": "x", "workspaces": ["packages/*", "./apps/**/", "!packages/b"]}),
        ),
        ("package.json", json.dumps({"workspaces": {"packages": ["packages/*", "apps/**", "!packages/b"]}})),
        (
            "pnpm-workspace.yaml",
            "packages:\n  - packages/*\n  - 'apps/**'\n  - '!packages/b'\ncatalog: {a: 1}\n",
        ),
    ],
)
def test_packages_of_a_workspace_keep_their_own_modules(packages: Path, name: str, content: str) -> None:
    (packages / name).write_text(content)
    assert find_caches(packages, ("node_modules",)) == (
        "node_modules",
        "packages/a/node_modules",
        "apps/web/node_modules",
        "apps/web/inner/node_modules",
    )
    assert find_caches(packages, ("target",)) == ("target",)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"workspaces": 3}',
        '{"workspaces": [1]}',
        '{"workspaces": ["../*", "/etc", "", "a//b", "."]}',
    ],
)
def test_what_cant_be_read_as_packages_names_none(packages: Path, content: str) -> None:
    (packages / "package.json").write_text(content)
    (packages / "pnpm-workspace.yaml").write_text(content)
    assert find_caches(packages, ("node_modules",)) == ("node_modules",)


def test_a_star_stands_for_any_folder_but_no_link_and_nothing_installed(packages: Path) -> None:
    (packages / "packages/linked").symlink_to(packages / "packages/a", target_is_directory=True)
    assert find_caches(packages, ("packages/*/node_modules",)) == (
        "packages/a/node_modules",
        "packages/b/node_modules",
    )
    assert find_caches(packages, ("**/node_modules",)) == (
        "node_modules",
        "apps/web/node_modules",
        "apps/web/inner/node_modules",
        "packages/a/node_modules",
        "packages/b/node_modules",
        "tools/node_modules",
    )
    assert find_caches(packages, ("nothing/*",)) == ()
