# without: -
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
n_opened = 0
try:
    while n_opened < 6_000:
        os.openpty()
        n_opened += 1
except OSError:
    pass
print(n_opened)
