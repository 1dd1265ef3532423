# without: -
import os
for path in ("/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port", "/proc/kmsg"):
    try:
        if open(path, "rb").read(1):
            print("breached", path)
    except OSError:
        pass
if os.path.isdir("/sys") and os.listdir("/sys"):
    print("breached: /sys is there")
