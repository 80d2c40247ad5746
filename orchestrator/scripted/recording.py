"""What clients sent, kept in memory and, when asked, in a folder, so that a test can compare it byte by byte.

Secrets are taken out first: no recording holds a key.
"""

from pathlib import Path

import msgspec
import trio

from orchestrator.scripted.connection import Request

_SECRETS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "cookie")


class Recording:
    """The requests so far, in the order they came. With `keep` false only the folder has them."""

    def __init__(self, folder: Path | None, *, keep: bool) -> None:
        self.requests: list[Request] = []
        self.count = 0
        self._folder = folder
        self._keep = keep
        self._changed = trio.Event()

    async def prepare(self) -> None:
        """Make the folder.

        Raises:
            OSError: when that cannot be.
        """
        if self._folder is not None:
            await trio.Path(self._folder).mkdir(parents=True, exist_ok=True)

    async def add(self, request: Request) -> None:
        """Keep `request`, as `00001.json` and `00001.headers` in the folder."""
        request = msgspec.structs.replace(
            request, headers=tuple(field for field in request.headers if field[0] not in _SECRETS)
        )
        self.count += 1
        number = self.count
        if self._keep:
            self.requests.append(request)
        if self._folder is not None:
            lines = [
                f"{request.method} {request.path}",
                *(f"{name}: {value}" for name, value in request.headers),
            ]
            await trio.Path(self._folder / f"{number:05}.headers").write_text("\n".join(lines) + "\n")
            await trio.Path(self._folder / f"{number:05}.json").write_bytes(request.body)
        self._changed.set()
        self._changed = trio.Event()

    async def wait_for(self, count: int) -> None:
        """Wait until `count` requests have come."""
        while self.count < count:
            await self._changed.wait()
