# without: disk
# limit: disk=20000000
# ends: disk_space
import os, time
with open("named", "wb") as named:
    named.write(bytes(12_000_000))
held = open("scratch", "wb", buffering=0)
os.unlink("scratch")
held.write(bytes(12_000_000))
time.sleep(60 if ISOLATED else 0.5)
print("breached")
