# without: -
import os
for path in ("/usr/bin/env", "/etc/passwd", "/proc/self/exe"):
    try:
        os.link(path, "alias")
        print("breached", path)
    except OSError:
        pass
