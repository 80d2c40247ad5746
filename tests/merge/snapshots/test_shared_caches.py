"""Real git. What is a cache, and how it gets into a checkout."""

from pathlib import Path

import pytest

from merge.snapshots.shared_caches import claim_caches, exclude_patterns, link_caches, unignored_caches
from merge.snapshots.snapshot import take_snapshot
from merge.store.trees import ObjectId
from tests.merge.places import Place


def test_a_name_alone_makes_no_cache_of_a_folder(place: Place) -> None:
    place.write("target/main.rs", "somebody's work\n")
    place.write("build/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
    place.write("node_modules/x/index.js", "x\n")
    names = ("target", "build", "node_modules", "none")
    assert unignored_caches(place.root, names) == ("build", "node_modules")
    (place.root / "README.md").rename(place.root / "dist")
    assert unignored_caches(place.root, ("dist",)) == ()


def test_what_the_base_holds_is_no_cache(place: Place) -> None:
    base = ObjectId(place.ask("rev-parse", "HEAD^{tree}"))
    assert claim_caches(place.repository, base, ("target", "src", "README.md", "target")) == ("target",)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/../b", "a//b", "a/", "/abs", ".git", "a/.git/x", ".covey", "nul\0"]
)
def test_only_a_folder_in_the_repository_can_be_shared(place: Place, name: str) -> None:
    base = ObjectId(place.ask("rev-parse", "HEAD^{tree}"))
    with pytest.raises(ValueError, match="can't be shared"):
        claim_caches(place.repository, base, (name,))


def test_existing_folders_are_linked_but_no_repository(place: Place, tmp_path: Path) -> None:
    place.write("target/out", "out\n")
    place.write("file", "no folder\n")
    Place(place.write("vendor/x", "x\n").parent).git("init", "-q")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    link_caches(place.root, checkout, ("target", "file", "vendor", "none"))
    assert [entry.name for entry in checkout.iterdir()] == ["target"]
    assert (checkout / "target").readlink() == place.root / "target"


def test_modules_of_a_package_are_linked_too_and_are_no_edit(place: Place, tmp_path: Path) -> None:
    place.write("package.json", '{"workspaces": ["packages/*"]}')
    place.write("packages/a/index.js", "1\n")
    place.write(".gitignore", "")
    place.commit()
    place.write("packages/a/node_modules/dep/index.js", "2\n")
    (place.root / "packages/a").chmod(0o750)
    base = ObjectId(place.ask("rev-parse", "HEAD^{tree}"))
    caches = claim_caches(place.repository, base, ("node_modules",))
    assert caches == ("node_modules", "packages/a/node_modules")
    assert take_snapshot(place.repository).tree == base
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    link_caches(place.root, checkout, caches)
    modules = checkout / "packages/a/node_modules"
    assert modules.readlink() == place.root / "packages/a/node_modules"
    assert modules.parent.stat().st_mode & 0o777 == 0o750


def test_patterns_match_links_folders_and_odd_names(place: Place, tmp_path: Path) -> None:
    names = ("plain", "with space ", "st*r", "quest?on", "[x]", "back\\slash", "#hash", "!bang")
    place.write(".git/info/exclude", "".join(f"{line}\n" for line in exclude_patterns(names)))
    place.write(".gitignore", "")
    for number, name in enumerate(names):
        if number % 2:
            place.write(f"{name}/inside", "x\n")
        else:
            (place.root / name).symlink_to(tmp_path)
    place.write("sub/plain/x", "not at the root\n")
    listed = place.ask("-c", "core.quotePath=false", "ls-files", "-o", "--exclude-standard")
    assert listed == "sub/plain/x"
