"""Ways to change a file outside, as scripts: each tries its own, and where nothing holds it back each succeeds.

`$V` is the victim's folder: `file.txt`, `sub/inner.txt`, and `repo`, a repository. `$PID` is a process of the victim's
that works in `$V` and holds `$V/file.txt` open as its descriptor 9. The scripts run in a checkout.
"""

SHELL = {
    "by its full path": "echo out > $V/file.txt",
    "by its path from here": 'echo out > "$(realpath --relative-to=. $V)/file.txt"',
    "appending": "echo out >> $V/file.txt",
    "truncating": "truncate -s 0 $V/file.txt",
    "a new file": "echo out > $V/new.txt",
    "a new folder": "mkdir $V/new",
    "a named pipe": "mkfifo $V/pipe",
    "a link in there": "ln -s /etc/passwd $V/link",
    "deleting": "rm $V/file.txt",
    "deleting all": "rm -rf $V/sub",
    "moving it in here": "mv $V/file.txt moved.txt",
    "moving ours over it": "echo out > ours.txt; mv -f ours.txt $V/file.txt",
    "renaming a folder": "mv $V/sub $V/bus",
    "copying over it": "cp --remove-destination README.md $V/file.txt",
    "dd": "dd if=/dev/zero of=$V/file.txt count=1 conv=notrunc",
    "tar": "echo out > file.txt; tar -cf a.tar file.txt; tar -C $V -xf a.tar",
    "sed in place": "sed -i s/safe/out/ $V/file.txt",
    "going there": "cd $V && echo out > file.txt",
    "a link to the file": "ln -s $V/file.txt link; echo out > link",
    "a link to the folder": "ln -s $V folder; echo out > folder/file.txt",
    "a link above": "ln -s $(dirname $V) above; echo out > above/$(basename $V)/file.txt",
    "a hard link": "ln $V/file.txt hard; echo out > hard",
    "a daemon": "(setsid bash -c 'echo out > $V/file.txt' &); sleep 0.3",
    "git -C": "git -C $V/repo commit --allow-empty --message=out",
    "GIT_DIR": "GIT_DIR=$V/repo/.git git update-ref refs/heads/out HEAD",
    "a work tree": "git --git-dir=$V/repo/.git --work-tree=$V/repo checkout -f HEAD~1 -- .",
    "git push": "git push $V/repo HEAD:refs/heads/pushed",
    "git config": "git config -f $V/file.txt out.of here",
    "git worktree": "git -C $V/repo worktree add --detach $PWD/tree",
    "git stash": "git -C $V/repo stash --include-untracked",
    "the root of this process": "echo out > /proc/self/root$V/file.txt",
    "the root of another": "echo out > /proc/$PID/root$V/file.txt",
    "the folder of another": "echo out > /proc/$PID/cwd/file.txt",
    "what another holds open": "echo out > /proc/$PID/fd/9",
    "a user namespace": "unshare -Ur bash -c 'echo out > $V/file.txt'",
    "mounts of its own": "unshare -Urm bash -c 'mount -o remount,rw,bind / ; echo out > $V/file.txt'",
    "entering another's namespaces": "nsenter --target $PID --mount bash -c 'echo out > $V/file.txt'",
    "mounting it writable again": "mount -o remount,rw,bind /; echo out > $V/file.txt",
    "mounting it here": "mkdir here; mount --bind $V here; echo out > here/file.txt; umount here",
}

METADATA = {
    "the mode": "chmod 600 $V/file.txt",
    "the mode of all": "chmod -R a-w $V/sub",
    "the times": "touch --date=2001-01-01 $V/file.txt",
    "an attribute": "$PYTHON -c \"import os; os.setxattr('$V/file.txt', 'user.out', b'1')\"",
}
"""What Landlock knows no right for: held back only where a child has mounts of its own."""

METADATA_AS_ROOT = {"the owner": "chown 1:1 $V/file.txt"}

AS_ROOT = {
    "another root": "chroot /proc/$PID/root /bin/sh -c 'echo out > $V/file.txt'",
    "by its number": """exec $PYTHON - <<'EOF'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]
handle, mount = Handle(128), ctypes.c_int()
path = os.path.join(os.environ["V"], "file.txt").encode()
libc.name_to_handle_at(-100, path, ctypes.byref(handle), ctypes.byref(mount), 0)
descriptor = libc.open_by_handle_at(os.open("/", os.O_RDONLY), ctypes.byref(handle), os.O_RDWR)
os.write(descriptor, b"out")
EOF""",
}

PYTHON = {
    "openat": """
import os
folder = os.open(os.environ["V"], os.O_RDONLY | os.O_DIRECTORY)
os.write(os.open("file.txt", os.O_WRONLY, dir_fd=folder), b"out")
""",
    "exchanging two files": """
import ctypes, os
open("ours.txt", "w").write("out")
theirs = os.path.join(os.environ["V"], "file.txt").encode()
ctypes.CDLL(None).renameat2(-100, b"ours.txt", -100, theirs, 2)
""",
    "a file without a name": """
import ctypes, os
nameless = b"/proc/self/fd/%d" % os.open(".", os.O_TMPFILE | os.O_RDWR)
ctypes.CDLL(None).linkat(-100, nameless, -100, os.path.join(os.environ["V"], "new.txt").encode(), 0x400)
""",
    "a program in memory": """
import os
descriptor = os.memfd_create("program", 0)
os.write(descriptor, b"#!/bin/sh\\necho out > $V/file.txt\\n")
os.execv(f"/proc/self/fd/{descriptor}", ["program"])
""",
    "a descriptor of another's": """
import ctypes, os
got = ctypes.CDLL(None).syscall(438, os.pidfd_open(int(os.environ["PID"])), 9, 0)  # pidfd_getfd
os.write(got, b"out")
""",
    "a second descriptor": """
import os
reader = os.open(os.path.join(os.environ["V"], "file.txt"), os.O_RDONLY)
os.write(os.open(f"/proc/self/fd/{reader}", os.O_WRONLY), b"out")
""",
    "io_uring": """
import ctypes, mmap, os, struct
libc = ctypes.CDLL(None, use_errno=True)
parameters = bytearray(120)
buffer = (ctypes.c_char * 120).from_buffer(parameters)
ring = libc.syscall(425, 4, buffer)
assert ring >= 0, os.strerror(ctypes.get_errno())
sq, cq = struct.unpack_from("10I", parameters, 40), struct.unpack_from("10I", parameters, 80)
rings = mmap.mmap(ring, max(sq[6] + 4 * 4, cq[5] + 4 * 16), offset=0)
entries = mmap.mmap(ring, 4 * 64, offset=0x10000000)
path = ctypes.create_string_buffer(os.path.join(os.environ["V"], "file.txt").encode())
text = ctypes.create_string_buffer(b"out")

def submit(number, opcode, fd, address, length, flags=0):
    struct.pack_into("BBHiQQIIQ", entries, 64 * number, opcode, 0, 0, fd, 0, address, length, flags, number)
    struct.pack_into("I", rings, sq[6] + 4 * number, number)
    struct.pack_into("I", rings, sq[1], number + 1)
    assert libc.syscall(426, ring, 1, 1, 1, None, 0) == 1
    return struct.unpack_from("i", rings, cq[5] + 16 * number + 8)[0]

opened = submit(0, 18, -100, ctypes.addressof(path), 0, os.O_WRONLY)
assert opened >= 0, os.strerror(-opened)
assert submit(1, 23, opened, ctypes.addressof(text), 3) == 3
""",
}
