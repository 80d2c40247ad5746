"""Real files, laid out as cargo lays them out. Only a workspace's own crates are built anew in a copy."""

from pathlib import Path

import pytest

from merge.snapshots.cargo_target import fingerprints_left_behind, profiles_of


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A workspace with two crates, one with a build script, and crates of a registry and of a folder beside it."""
    target = tmp_path / "repo/target"
    profile = target / "debug"
    (profile / "deps").mkdir(parents=True)
    (target / "CACHEDIR.TAG").touch()
    made_of = {
        "app-1": "src/main.rs",
        "inner_one-2": "inner/src/lib.rs",
        "generated-6": f"{target}/debug/build/generated-7/out/lib.rs",
        "serde-3": "/home/x/.cargo/registry/src/index/serde-1/src/lib.rs",
        "beside-4": f"{tmp_path}/beside/src/lib.rs",
    }
    for name, path in made_of.items():
        (profile / f"deps/{name}.d").write_text(f"{profile}/deps/{name}.d: {path}\n\n{path}:\n")
    for name in ("app-1", "app-8", "inner-one-2", "serde-3", "serde-9", "beside-4", "generated-6"):
        (profile / ".fingerprint" / name).mkdir(parents=True)
    return profile


def test_own_crates_and_their_build_scripts_are_left_behind(profile: Path) -> None:
    assert fingerprints_left_behind(profile / ".fingerprint") == {
        "app-1",
        "app-8",
        "inner-one-2",
        "generated-6",
    }


def test_any_other_folder_is_copied_whole(profile: Path) -> None:
    assert fingerprints_left_behind(profile / "deps") == set()


def test_profiles_of_every_machine_are_found(profile: Path) -> None:
    other = profile.with_name("wasm32-unknown-unknown") / "release"
    (other / ".fingerprint").mkdir(parents=True)
    (profile.with_name("linked")).symlink_to(profile)
    assert list(profiles_of(profile.parent)) == [profile, other]
    assert list(profiles_of(profile.parent.parent / "elsewhere")) == []
