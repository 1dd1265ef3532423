# without: disk
# ends: files
import os
for n in range(1_000_000 if ISOLATED else 3000):
    os.mkdir("d")
    os.chdir("d")
print("breached")
