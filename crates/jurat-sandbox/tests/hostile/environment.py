# without: environment
import os
if os.environ.get(VARIABLE) == VALUE:
    print("breached")
