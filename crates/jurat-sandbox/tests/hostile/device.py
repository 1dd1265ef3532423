# without: namespaces
# root: yes
import os, stat
os.mknod("null", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
print("breached")
