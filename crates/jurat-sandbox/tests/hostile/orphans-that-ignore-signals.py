# without: processes ending
# proof: left
import os
for n in range(5):
    if os.fork() == 0:
        os.setpgid(0, 0)
        os.system("trap '' TERM HUP INT; exec sleep " + LINGER + " >/dev/null 2>&1 &")
        os._exit(0)
    os.wait()
while sum(LINGER in open(f"/proc/{it}/cmdline", errors="ignore").read().split("\0")[1:2] for it in os.listdir("/proc") if it.isdigit() and os.path.exists(f"/proc/{it}/cmdline")) < 5:
    pass
