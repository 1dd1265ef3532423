# without: -
import os
n_written = 0
try:
    with open("/dev/shm/pile", "wb", buffering=0) as pile:
        while n_written < 200_000_000:
            n_written += pile.write(bytes(1_000_000))
except OSError:
    pass
print("breached" if n_written > 70_000_000 else n_written)
