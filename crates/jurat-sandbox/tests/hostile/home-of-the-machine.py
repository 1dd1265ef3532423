# without: files
import os
# The folder beside ours belongs to somebody else.
if os.path.isdir(FOLDER) and "secret.txt" in os.listdir(FOLDER):
    print("breached")
