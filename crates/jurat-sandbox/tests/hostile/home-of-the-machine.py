# without: files
import os
# The folder beside ours belongs to another user.
if os.path.isdir(FOLDER) and "secret.txt" in os.listdir(FOLDER):
    print("breached")
