# without: disk
# limit: files=2000
# ends: files
for n in range(10_000_000 if ISOLATED else 4000):
    open(f"file-{n}", "w")
print("breached")
