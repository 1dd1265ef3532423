# without: -
# limit: time=2
# ends: time
import os, signal
if os.fork() == 0:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
print("breached")
