# without: output
# limit: output=1048576
# ends: output
import os
chunk = b"x" * 1_000_000
for _ in range(10_000 if ISOLATED else 50):
    os.write(2, chunk)
os.write(1, b"breached")
