# without: disk
# limit: disk=20000000
# ends: disk_space
for n in range(1_000_000 if ISOLATED else 60):
    with open(f"file-{n}", "wb") as file:
        file.write(b"x" * 1_000_000)
print("breached")
