# without: -
import os, shutil, subprocess
shutil.copy("/bin/sh", "shell")
os.chmod("shell", 0o6755)
said = subprocess.run(["./shell", "-p", "-c", "id -u"], capture_output=True, text=True).stdout.strip()
if said == "0":
    print("breached by mode")
try:
    os.setxattr("shell", "security.capability", b"\x01\x00\x00\x02\xff\xff\xff\xff" + bytes(12))
    print("breached by attribute")
except OSError:
    pass
