# without: seccomp
import os
os.memfd_create("hidden")
print("breached")
