"""Real files. A child sees its own packages through `node_modules`, and the parent's installed ones."""

import shutil
import subprocess
from pathlib import Path

import pytest

from merge.snapshots.linked_modules import leads_into, link_modules
from merge.snapshots.shared_caches import link_caches


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two packages, of which one needs the other, and an installed one; as npm lays them out."""
    root = tmp_path / "repo"
    for file, text in {
        "packages/a/index.js": 'module.exports = "the parent\'s";\n',
        "packages/b/index.js": 'console.log(require("a"), require("@scope/a"), require("dep"));\n',
        "node_modules/dep/index.js": 'module.exports = "installed";\n',
        "node_modules/@scope/other/index.js": "",
    }.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    (root / "node_modules/a").symlink_to("../packages/a")
    (root / "node_modules/@scope/a").symlink_to("../../packages/a")
    return root


def checkout_of(root: Path, *caches: str) -> Path:
    checkout = root.with_name("checkout")
    shutil.copytree(root / "packages", checkout / "packages")
    (checkout / "packages/a/index.js").write_text('module.exports = "the child\'s";\n')
    link_caches(root, checkout, caches)
    return checkout


def test_packages_are_the_childs_and_installed_ones_the_parents(workspace: Path) -> None:
    modules = checkout_of(workspace, "node_modules") / "node_modules"
    assert "child's" in (modules / "a/index.js").read_text()
    assert "child's" in (modules / "@scope/a/index.js").read_text()
    assert (modules / "dep").readlink() == workspace / "node_modules/dep"
    assert (modules / "@scope/other").readlink() == workspace / "node_modules/@scope/other"
    assert sorted(path.name for path in modules.iterdir()) == ["@scope", "a", "dep"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_finds_them_so(workspace: Path) -> None:
    checkout = checkout_of(workspace, "node_modules")
    done = subprocess.run(
        ["node", "packages/b/index.js"], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert done.stdout == "the child's the child's installed\n"


def test_without_such_links_the_folder_is_one_link(workspace: Path) -> None:
    (workspace / "node_modules/a").unlink()
    (workspace / "node_modules/@scope/a").unlink()
    (workspace / "node_modules/.pnpm/dep").mkdir(parents=True)
    (workspace / "node_modules/of-store").symlink_to(".pnpm/dep")
    (workspace / "node_modules/outside").symlink_to("/nowhere")
    assert not leads_into(workspace, workspace / "node_modules")
    modules = checkout_of(workspace, "node_modules") / "node_modules"
    assert modules.readlink() == workspace / "node_modules"


def test_links_stay_as_they_are(workspace: Path, tmp_path: Path) -> None:
    link_modules(workspace / "node_modules", tmp_path / "modules")
    assert (tmp_path / "modules/a").readlink() == Path("../packages/a")
