# without: -
import os
os.kill(-1, 0)
for pid in range(1, 300):
    try:
        if pid != os.getpid():
            os.kill(pid, 9)
    except OSError:
        pass
print("still there")
