# without: count
# limit: processes=320
import os, time
hold, release = os.pipe()
n = 0
try:
    # Bounded, so that it is harmless where it succeeds.
    while n < 400:
        if os.fork() == 0:
            os.close(release)
            os.read(hold, 1)
            os._exit(0)
        n += 1
    print("breached", n)
except OSError as error:
    print("refused after", n, error)
