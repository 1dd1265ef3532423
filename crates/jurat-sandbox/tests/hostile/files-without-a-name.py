# without: disk
# limit: disk=20000000
# ends: disk_space
import os, time
held = []
for n in range(500 if ISOLATED else 8):
    held.append(open("scratch", "wb", buffering=0))
    os.unlink("scratch")
    held[-1].write(bytes(10_000_000))
    time.sleep(0.05)
print("breached")
