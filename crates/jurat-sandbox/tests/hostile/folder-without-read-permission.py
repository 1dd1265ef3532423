# without: disk
# limit: disk=20000000
# ends: disk_space
import os, time
os.mkdir("closed")
inside = os.open("closed", os.O_RDONLY)
for n in range(500 if ISOLATED else 8):
    os.chmod("closed", 0o700)
    file = os.open(f"f{n}", os.O_CREAT | os.O_WRONLY, dir_fd=inside)
    os.chmod("closed", 0)
    os.write(file, bytes(10_000_000))
    os.close(file)
    time.sleep(0.1)
os.chmod("closed", 0o700)
print("breached")
