# without: -
import os
for fd in os.listdir("/proc/self/fd"):
    # The listing itself has one.
    if int(fd) > 3:
        print("breached", fd, os.readlink(f"/proc/self/fd/{fd}"))
