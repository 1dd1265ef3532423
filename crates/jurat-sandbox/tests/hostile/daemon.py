# without: processes ending
# proof: left
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execvp("sleep", ["sleep", LINGER])
    os._exit(0)
os.wait()
# Until it is the other program, which it is known by.
while not any(LINGER in open(f"/proc/{it}/cmdline", errors="ignore").read().split("\0")[1:2] for it in os.listdir("/proc") if it.isdigit() and os.path.exists(f"/proc/{it}/cmdline")):
    pass
print("daemon is there")
