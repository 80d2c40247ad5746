"""Pure."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.images import Picture, picture_in

# Three pixels wide and two high, each as its format lays it out; of some only the beginning.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGNgYGD4D8ZQCgAh+AP9mh9eGAAAAABJRU5ErkJggg=="
)
GIF = base64.b64decode("R0lGODlhAwACAIAAAAAAAP///yH5BAAAAAAALAAAAAADAAIAAAIChF8AOw==")
WEBP_LOSSLESS = base64.b64decode("UklGRhwAAABXRUJQVlA4TBAAAAAvAkAAAAdQlP/R/xERAA==")
WEBP_LOSSY = b"RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0\x30\x01\0\x9d\x01\x2a\x03\x00\x02\x00\x02\x00\x34\x25"
WEBP_EXTENDED = b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x02\0\0\x01\0\0"
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    + b"\xff\xff\xc0\x00\x11\x08\x00\x02\x00\x03\x03"
)


@pytest.mark.parametrize(
    ("data", "media_type", "name"),
    [
        (PNG, "image/png", "PNG"),
        (GIF, "image/gif", "GIF"),
        (JPEG, "image/jpeg", "JPEG"),
        (WEBP_LOSSLESS, "image/webp", "WebP"),
        (WEBP_LOSSY, "image/webp", "WebP"),
        (WEBP_EXTENDED, "image/webp", "WebP"),
    ],
)
def test_a_picture_tells_its_format_and_its_size(data: bytes, media_type: str, name: str) -> None:
    picture = picture_in(data)
    assert picture is not None
    assert picture == Picture(media_type, 3, 2)
    assert picture.format == name


@given(st.sampled_from([PNG, GIF, JPEG, WEBP_LOSSY, WEBP_EXTENDED]), st.integers(12, 40), st.binary())
def test_a_broken_picture_is_a_picture_of_unknown_size_at_worst(whole: bytes, kept: int, rest: bytes) -> None:
    assert picture_in(whole[:kept] + rest) is not None


@given(st.binary())
def test_anything_may_be_asked(data: bytes) -> None:
    picture_in(data)


@pytest.mark.parametrize("data", [b"", b"GIF", b"<svg xmlns=", b"RIFF\0\0\0\0WAVEfmt "])
def test_other_files_are_no_pictures(data: bytes) -> None:
    assert picture_in(data) is None
