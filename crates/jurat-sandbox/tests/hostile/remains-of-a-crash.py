# without: -
import glob, os, resource, signal
try:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    print("breached: the limit was lifted")
except (ValueError, OSError):
    pass
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGQUIT)
os.wait()
if glob.glob("core*"):
    print("breached")
