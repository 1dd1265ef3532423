# without: output
# limit: output=1048576
# ends: output
import os
chunk = b"x" * 1_000_000
# Ten gigabytes where a limit should stop it, less where none does.
for _ in range(10_000 if ISOLATED else 50):
    os.write(1, chunk)
os.write(1, b"breached")
