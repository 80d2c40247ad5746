"""Two ways to rename that plain `rename(2)` lacks: swap two names, and never replace what stands there.

Both are one step for every reader of the disk: nobody ever sees a name missing or a file half written. Where
the system or the filesystem can't, the answer says so and nothing has happened. Knows nothing of what is
renamed.
"""

import ctypes
import errno
import functools
import os
from collections.abc import Callable

# renameat2(2): flags of <linux/fs.h>. Python's os module has no door to them.
_NO_REPLACE = 1
_EXCHANGE = 2

_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def swap_names(folder: int, name: bytes, other_folder: int, other_name: bytes) -> bool:
    """Exchange what two names stand for, in one step; False when this cannot be done here.

    Folders are open descriptors.

    Raises:
        OSError: as rename(2) does, e.g. when one of the two names is not there.
    """
    return _rename(folder, name, other_folder, other_name, _EXCHANGE)


def move_name(folder: int, name: bytes, other_folder: int, other_name: bytes) -> None:
    """Rename, in one step, to a name that must not stand for anything yet.

    Raises:
        FileExistsError: when something stands there; nothing has happened then.
        OSError: as rename(2) does.
    """
    if _rename(folder, name, other_folder, other_name, _NO_REPLACE):
        return
    try:
        os.link(name, other_name, src_dir_fd=folder, dst_dir_fd=other_folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in {*_CANNOT, errno.EPERM}:
            raise
        # A filesystem without hard links: there is no better way than to look, and rename at once.
        if _stands(other_folder, other_name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), other_name) from None
        os.rename(name, other_name, src_dir_fd=folder, dst_dir_fd=other_folder)
    else:
        os.unlink(name, dir_fd=folder)


def _stands(folder: int, name: bytes) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _rename(folder: int, name: bytes, other_folder: int, other_name: bytes, flags: int) -> bool:
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    if renameat2(folder, name, other_folder, other_name, flags) == 0:
        return True
    fault = ctypes.get_errno()
    if fault in _CANNOT:
        return False
    raise OSError(fault, os.strerror(fault), os.fsdecode(other_name))


@functools.cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """The C library's function, or None where it has none (before glibc 2.28; other systems)."""
    library = ctypes.CDLL(None, use_errno=True)
    try:
        function = library.renameat2
    except AttributeError:
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    return function
