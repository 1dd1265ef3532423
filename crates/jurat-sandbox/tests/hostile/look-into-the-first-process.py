# without: -
import os
def attempt(what, how):
    try:
        how()
        print("breached", what)
    except OSError:
        pass
for name in ("environ", "mem", "maps", "stack", "syscall"):
    attempt(name, lambda: open(f"/proc/1/{name}", "rb").read(1))
for name in ("root", "cwd"):
    attempt(name, lambda: os.listdir(f"/proc/1/{name}"))
attempt("exe", lambda: os.readlink("/proc/1/exe"))
# How many it has open may be known, but not what.
for number in range(64):
    attempt(f"fd {number}", lambda: os.readlink(f"/proc/1/fd/{number}"))
    attempt(f"fd {number}", lambda: os.open(f"/proc/1/fd/{number}", os.O_RDWR))
