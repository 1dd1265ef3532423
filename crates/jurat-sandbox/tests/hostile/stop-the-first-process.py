# without: -
import os, signal
for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTSTP, signal.SIGTERM, signal.SIGSEGV):
    try:
        os.kill(1, number)
    except PermissionError:
        pass
print("still here")
