# without: ipc
import os
if os.uname().nodename == HOST:
    print("breached")
