# without: files
import os
for depth in range(40):
    for at in ("", "/proc/1/root", "/proc/self/root", "/proc/self/cwd"):
        path = at + "/" + "../" * depth + SECRET
        try:
            if open(path).read() == "canary":
                print("breached", path)
                raise SystemExit
        except OSError:
            pass
