# without: -
import os, time
until = time.monotonic() + 2
os.makedirs("a/b/c")
while time.monotonic() < until:
    os.rename("a", "z")
    os.symlink("/", "a")
    os.unlink("a")
    os.rename("z", "a")
print("done")
