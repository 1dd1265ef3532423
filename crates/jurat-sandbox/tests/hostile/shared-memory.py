# without: ipc
# What is left in the memory that programs of the machine share is there for the next of them.
import os
machine = os.readlink("/proc/self/ns/ipc")
if machine == IPC:
    print("breached")
