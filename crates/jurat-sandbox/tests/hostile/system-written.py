# without: -
import os
for path in ("/usr/bin/left", "/etc/passwd", "/left", "/proc/sys/kernel/hostname", "/bin/left", "/dev/left", "/root/left", "/run/left"):
    try:
        open(path, "w")
        print("breached", path)
    except OSError:
        pass
