# without: memory
# limit: memory=104857600
# ends: memory
import os, time
hold, release = os.pipe()
ready, tell = os.pipe()
for _ in range(12):
    if os.fork() == 0:
        os.close(release)
        held = bytearray(os.urandom(1)) * 25_000_000
        os.write(tell, b"x")
        os.read(hold, 1)
        os._exit(0)
for _ in range(12):
    os.read(ready, 1)
if ISOLATED:
    os.read(hold, 1)
print("breached")
