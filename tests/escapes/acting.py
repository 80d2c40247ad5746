"""Ways to get at another process of the same user: each has a victim of its own, whose id is `$PID`.

The victim keeps a text at `$ADDRESS`, waits, and tells the text when it is asked. Where nothing holds them back, each
ends it, stops it or changes it.
"""

SHELL = {
    "SIGKILL": "kill -KILL $PID",
    "SIGSTOP": "kill -STOP $PID",
    "a signal to its group": "kill -KILL -- -$PID",
    "the way it is killed when memory is short": "echo 500 > /proc/$PID/oom_score_adj",
}

PYTHON = {
    "a signal by descriptor": """
import os, signal
signal.pidfd_send_signal(os.pidfd_open(int(os.environ["PID"])), signal.SIGKILL)
""",
    "a signal to one thread": """
import ctypes, os
pid = int(os.environ["PID"])
ctypes.CDLL(None).tgkill(pid, pid, 9)
""",
    "a signal by a file": """
import fcntl, os, signal
reader, writer = os.pipe()
fcntl.fcntl(reader, fcntl.F_SETOWN, int(os.environ["PID"]))
fcntl.fcntl(reader, 10, signal.SIGKILL)  # F_SETSIG
fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
os.write(writer, b"x")
""",
    "its memory, as a file": """
import os
memory = os.open(f"/proc/{os.environ['PID']}/mem", os.O_RDWR)
os.pwrite(memory, b"out!", int(os.environ["ADDRESS"]))
""",
    "its memory, by a call": """
import ctypes, os
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
text = ctypes.create_string_buffer(b"out!")
ours, theirs = Piece(ctypes.addressof(text), 4), Piece(int(os.environ["ADDRESS"]), 4)
libc = ctypes.CDLL(None)
libc.process_vm_writev(int(os.environ["PID"]), ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
""",
    "ptrace": """
import ctypes, os
libc = ctypes.CDLL(None)
pid = int(os.environ["PID"])
if libc.ptrace(16, pid, None, None) == 0:
    os.waitpid(pid, 0)
    libc.ptrace(5, ctypes.c_long(pid), ctypes.c_void_p(int(os.environ["ADDRESS"])), ctypes.c_void_p(0x2174756F))
    libc.ptrace(17, pid, None, None)
""",
    "its limits": """
import os, resource
resource.prlimit(int(os.environ["PID"]), resource.RLIMIT_CORE, (0, 0))
""",
}
