# without: processes
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if open(f"/proc/{pid}/cmdline").read().split("\0")[1:2] == [MARKER]:
            print("breached", pid)
    except OSError:
        pass
